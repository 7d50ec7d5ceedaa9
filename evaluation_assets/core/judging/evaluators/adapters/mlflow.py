"""Scorers of MLflow that need no trace, and judges made of instructions.

MLflow knows models only by their address: the judge's model is a gateway endpoint on this machine.
"""

import inspect
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ.setdefault("MLFLOW_MODEL_CATALOG_URI", "")  # by default, context windows are looked up at GitHub

import mlflow.genai.judges as judges
import mlflow.genai.scorers as scorers
from mlflow.entities import Feedback
from mlflow.exceptions import MlflowException
from pydantic import ValidationError

from evaluation_assets.core.judging.evaluators.asked_model import ChatModel
from evaluation_assets.core.judging.evaluators.case import Case
from evaluation_assets.core.judging.evaluators.local_gateway import local_gateway
from evaluation_assets.core.judging.evaluators.metrics import Metric
from evaluation_assets.core.judging.evaluators.packages import InvalidEvaluator
from evaluation_assets.core.judging.evaluators.reasons import MISSING, NoScore
from evaluation_assets.core.judging.own.checks import Score
from evaluation_assets.core.system.daemon_threads import in_thread
from evaluation_assets.core.text.meant import did_you_mean

_SCORERS: Mapping[str, tuple[str, ...]] = {
    "Completeness": ("output",),
    "Correctness": ("output", "expected"),
    "Equivalence": ("output", "expected"),
    "Fluency": ("output",),
    "Guidelines": ("output",),
    "RelevanceToQuery": ("output",),
    "Safety": ("output",),
    "Summarization": ("output",),
    "PIIDetection": ("output",),
    "RegexMatch": ("output",),
    "ResponseLength": ("output",),
}
_RETRIEVAL: Mapping[str, tuple[str, ...]] = {
    "RetrievalGroundedness": ("output", "context"),
    "RetrievalRelevance": ("context",),
    "RetrievalSufficiency": ("context", "expected"),
}
"""Scorers that read a trace; their judges are called with the results of tools instead."""

_OWN = "make_judge"
_OF_THE_JUDGE = frozenset(("model", "inference_params", "base_url", "extra_headers", "model_api"))
_RATINGS = {"yes": 1.0, "no": 0.0}


def metric(name: str, arguments: Mapping[str, Any]) -> Metric:
    """The scorer of this name.

    Raises:
        InvalidEvaluator: there is none, or it does not take the arguments.
    """
    known = (*_SCORERS, *_RETRIEVAL, _OWN)
    if name not in known:
        listed = did_you_mean(name, known, f"choose one of: {', '.join(known)}")
        raise InvalidEvaluator(f"mlflow has no scorer {name} that judges can use; {listed}")
    if own := sorted(_OF_THE_JUDGE & arguments.keys()):
        raise InvalidEvaluator(f"mlflow:{name}: {own[0]} is a setting of the judge, not an argument of the scorer")
    try:
        _calls(name, arguments, "gateway:/any")
    except (TypeError, ValueError, ValidationError, MlflowException) as problem:
        raise InvalidEvaluator(f"mlflow:{name}: {problem}") from problem
    needs = ("output",) if name == _OWN else {**_SCORERS, **_RETRIEVAL}[name]
    if name == _OWN and "expectations" in str(arguments.get("instructions")):
        needs = ("output", "expected")

    async def score(case: Case, model: ChatModel) -> Score:
        if lacking := [need for need in needs if not getattr(case, need)]:
            return Score(None, MISSING[lacking[0]])
        gateway = local_gateway()
        os.environ["MLFLOW_GATEWAY_URI"] = gateway.url
        with gateway.route(model) as route:
            call = _calls(name, arguments, f"gateway:/{route}")
            return _score(await in_thread(partial(call, case)))

    return Metric(score)


def _calls(name: str, arguments: Mapping[str, Any], model: str) -> Callable[[Case], Feedback]:
    """A function that scores a case with a model."""
    if name in _RETRIEVAL:
        if arguments:
            raise TypeError(f"it takes no argument {min(arguments)}")
        return partial(_retrieval, name, model)
    if name == _OWN:
        given: dict[str, Any] = {"name": "judge", **arguments, "model": model}
        made: Any = judges.make_judge(**given)
    else:
        kind: Any = getattr(scorers, name)
        if strangers := sorted(arguments.keys() - kind.model_fields.keys()):
            raise TypeError(f"it takes no argument {strangers[0]}")
        made = kind(**arguments, **({"model": model} if "model" in kind.model_fields else {}))

    def scored(case: Case) -> Feedback:
        texts: dict[str, Any] = {"inputs": {"request": case.input}, "outputs": case.output}
        if case.expected is not None:
            texts["expectations"] = {"expected_response": case.expected}
        takes = inspect.signature(made.__call__).parameters
        return made(**{key: value for key, value in texts.items() if key in takes})

    return scored


def _retrieval(name: str, model: str, case: Case) -> Feedback:
    context = [{"content": text} for text in case.context]
    if name == "RetrievalGroundedness":
        return judges.is_grounded(request=case.input, response=case.output or "", context=context, model=model)
    if name == "RetrievalRelevance":
        return judges.is_context_relevant(request=case.input, context=context, model=model)
    return judges.is_context_sufficient(
        request=case.input, context=context, expected_facts=[], expected_response=case.expected, model=model
    )


def _score(feedback: Feedback) -> Score:
    """A rating or a number.

    Raises:
        NoScore: it is neither, or the scorer reports an error.
    """
    if feedback.error is not None:
        raise NoScore(str(feedback.error))
    value = getattr(feedback.value, "value", feedback.value)
    if isinstance(value, str) and value.lower() in _RATINGS:
        return Score(_RATINGS[value.lower()], feedback.rationale)
    if isinstance(value, bool | int | float):
        return Score(float(value), feedback.rationale)
    raise NoScore(f"no score: the rating is {str(value)[:200]!r} ({(feedback.rationale or '')[:500]})")

"""Metrics of autoevals: classifiers with a prompt, metrics of retrieval, and comparisons that need no model."""

import inspect
import json
import re
from collections.abc import Mapping
from typing import Any

import autoevals
from autoevals.llm import LLMClassifier, OpenAILLMClassifier, SpecFileClassifier
from autoevals.oai import LLMClient
from autoevals.partial import ScorerWithPartial
from autoevals.ragas import OpenAILLMScorer
from autoevals.score import Score as AutoevalsScore
from autoevals.score import Scorer

from evaluation_assets.core.judging.evaluators.asked_model import ChatModel, Said
from evaluation_assets.core.judging.evaluators.case import Case
from evaluation_assets.core.judging.evaluators.metrics import Metric
from evaluation_assets.core.judging.evaluators.packages import InvalidEvaluator
from evaluation_assets.core.judging.evaluators.reasons import MISSING, told
from evaluation_assets.core.judging.own.checks import Score
from evaluation_assets.core.text.meant import did_you_mean

_BASES = (Scorer, ScorerWithPartial, OpenAILLMScorer, OpenAILLMClassifier, SpecFileClassifier)
_OF_THE_JUDGE = frozenset(
    "client model api_key base_url engine is_async temperature max_tokens reasoning_effort reasoning_enabled "
    "reasoning_budget use_responses_api".split()
)
_VARIABLE = re.compile(r"\{\{\{?[#^&]?\s*([A-Za-z_]+)")
_GIVEN = frozenset(("input", "output", "expected", "instructions", "context", "__choices"))

_EMBEDDINGS = ("AnswerRelevancy", "AnswerSimilarity", "ContextEntityRecall", "EmbeddingSimilarity")
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "AnswerCorrectness": ("expected",),
    "ContextPrecision": ("expected", "context"),
    "ContextRecall": ("expected", "context"),
    "ContextRelevancy": ("context",),
    "ExactMatch": ("expected",),
    "Faithfulness": ("context",),
    "JSONDiff": ("expected",),
    "Levenshtein": ("expected",),
    "LevenshteinScorer": ("expected",),
    "ListContains": ("expected",),
    "NumericDiff": ("expected",),
}
"""What metrics without a template need. Some of them score a missing text instead of refusing it."""


def metric(name: str, arguments: Mapping[str, Any]) -> Metric:
    """The metric of this name.

    Raises:
        InvalidEvaluator: there is none, or it does not take the arguments.
    """
    scorer = _scorer_class(name)
    if own := sorted(_OF_THE_JUDGE & arguments.keys()):
        raise InvalidEvaluator(f"autoevals:{name}: {own[0]} is a setting of the judge, not an argument of the metric")
    if name == "AnswerCorrectness" and arguments.get("answer_similarity_weight") != 0:
        raise InvalidEvaluator(
            "autoevals:AnswerCorrectness needs embeddings, which judges do not offer; set answer_similarity_weight: 0"
        )
    takes = inspect.signature(scorer).parameters
    takes_all = any(each.kind is each.VAR_KEYWORD for each in takes.values())
    made_with = {key: value for key, value in arguments.items() if takes_all or key in takes}
    called_with = {key: value for key, value in arguments.items() if key not in made_with}
    try:
        trial = scorer(**made_with)
    except (TypeError, ValueError, AttributeError) as problem:
        raise InvalidEvaluator(f"autoevals:{name}: {problem}") from problem
    needs = _needs(name, trial, called_with)

    async def score(case: Case, model: ChatModel) -> Score:
        texts = {
            "output": case.output,
            "expected": case.expected,
            "input": case.input,
            "instructions": case.input,
            "context": list(case.context) or None,
        }
        if lacking := [need for need in needs if texts[need] is None]:
            return Score(None, MISSING[lacking[0]])
        given: dict[str, Any] = {key: value for key, value in texts.items() if value is not None}
        if name in ("ListContains", "NumericDiff"):
            given |= {key: json.loads(given[key]) for key in ("output", "expected")}
        if "client" in takes or takes_all:
            asking = scorer(**made_with, client=_Client(model))
        else:
            asking = trial
        if "expected" not in inspect.signature(asking._run_eval_sync).parameters and not takes_all:
            given.pop("expected", None)  # the second argument of ValidJSON is a schema
        return _score(await asking.eval_async(**given, **called_with))

    return Metric(score)


def _scorer_class(name: str) -> type[Any]:
    known = {
        key: value
        for key, value in vars(autoevals).items()
        if inspect.isclass(value) and issubclass(value, Scorer) and value not in _BASES
    }
    if name not in known:
        more = did_you_mean(name, known, f"it has: {', '.join(sorted(known))}")
        raise InvalidEvaluator(f"autoevals has no metric {name}; {more}")
    if name in _EMBEDDINGS or name == "Moderation":
        what = "embeddings" if name in _EMBEDDINGS else "a moderation endpoint"
        raise InvalidEvaluator(f"autoevals:{name} needs {what}, which judges do not offer")
    return known[name]


def _needs(name: str, scorer: Any, called_with: Mapping[str, Any]) -> tuple[str, ...]:
    """What a case must have.

    Raises:
        InvalidEvaluator: a template has places for arguments that are missing, which would stay empty.
    """
    if not isinstance(scorer, LLMClassifier):
        if called_with:
            raise InvalidEvaluator(f"autoevals:{name} takes no argument {min(called_with)}")
        return ("output", *_NEEDS.get(name, ()))
    used = set(_VARIABLE.findall("".join(message["content"] for message in scorer.messages)))
    if missing := sorted(used - _GIVEN - scorer.render_args.keys() - called_with.keys()):
        raise InvalidEvaluator(f"autoevals:{name} needs arguments: {', '.join(missing)}")
    if strangers := sorted(called_with.keys() - used):
        raise InvalidEvaluator(f"autoevals:{name} takes no argument {strangers[0]}")
    return ("output", *(each for each in ("expected", "context") if each in used))


def _score(result: AutoevalsScore) -> Score:
    about = dict(result.metadata or {})
    reason = about.pop("rationale", None)
    return Score(result.score, told(reason, about))


class _NoRateLimit(Exception):
    """Our client waits for rate limits itself."""


class _Client(LLMClient):
    """The judge's model as autoevals calls it. Without the set-up of the base class nothing is wrapped for tracing."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.complete = self._complete
        self.embed = self._embed
        self.moderation = self._moderate
        self.RateLimitError = _NoRateLimit

    async def _complete(self, **asked: Any) -> dict[str, Any]:
        """A completion. A call of a tool that must be made is asked for by its schema, which all endpoints know."""
        messages = [Said(message["role"], message["content"]) for message in asked["messages"]]
        tools = asked.get("tools")
        if not tools:
            text = await self._model.ask(messages)
            return {"choices": [{"message": {"role": "assistant", "content": text}}]}
        function = tools[0]["function"]
        arguments = await self._model.ask(messages, function["parameters"])
        call = {"id": "call", "type": "function", "function": {"name": function["name"], "arguments": arguments}}
        return {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call]}}]}

    async def _embed(self, **asked: Any) -> None:
        self._model.refuse("embeddings")

    async def _moderate(self, **asked: Any) -> None:
        self._model.refuse("a moderation endpoint")

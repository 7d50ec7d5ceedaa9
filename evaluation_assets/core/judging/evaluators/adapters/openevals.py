"""Metrics of openevals: its prompts, own prompts, and comparisons with the reference answer."""

# pyright: reportMissingImports=false
# It is installed with an extra, which the environment of the tests lacks.

import string
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from types import SimpleNamespace
from typing import Any

import openevals.prompts as prompts
from langsmith import tracing_context
from openevals.exact import exact_match_async
from openevals.llm import create_async_llm_as_judge
from openevals.prompts import conversation, trajectory
from openevals.string.levenshtein import levenshtein_distance_async
from openevals.trajectory.llm import create_async_trajectory_llm_as_judge

from evaluation_assets.core.judging.evaluators.asked_model import ChatModel, Said
from evaluation_assets.core.judging.evaluators.case import Case
from evaluation_assets.core.judging.evaluators.metrics import Metric
from evaluation_assets.core.judging.evaluators.packages import InvalidEvaluator
from evaluation_assets.core.judging.evaluators.reasons import MISSING
from evaluation_assets.core.judging.own.checks import Score
from evaluation_assets.core.text.meant import did_you_mean

OPTIONS = frozenset(("continuous", "choices", "use_reasoning", "few_shot_examples", "system"))
_OWN = {"llm_as_judge": create_async_llm_as_judge, "trajectory_llm_as_judge": create_async_trajectory_llm_as_judge}
_PLAIN = {"exact_match": exact_match_async, "levenshtein_distance": levenshtein_distance_async}
_CATEGORIES = ("language_detection", "support_intent")
_LOWER_IS_BETTER = frozenset(
    "code_injection fairness laziness perceived_error pii_leakage prompt_injection toxicity".split()
)
"""Metrics that are true where something is wrong."""

_CONTENT = {"inputs": "input", "outputs": "output", "reference_outputs": "expected", "context": "context"}
_OPTIONAL = {"hallucination": "reference_outputs"}


def metric(name: str, arguments: Mapping[str, Any]) -> Metric:
    """The metric of this name.

    Raises:
        InvalidEvaluator: there is none, or it does not take the arguments.
    """
    if name in _PLAIN:
        if arguments:
            raise InvalidEvaluator(f"openevals:{name} takes no argument {min(arguments)}")
        return Metric(_comparison(_PLAIN[name]))
    if name in _OWN:
        if not isinstance(prompt := arguments.get("prompt"), str):
            raise InvalidEvaluator(f"openevals:{name} needs arguments: prompt")
        rest = {key: value for key, value in arguments.items() if key != "prompt"}
        return Metric(asking_judge("openevals:" + name, _OWN[name], prompt, rest))
    known = _shipped()
    if name not in known:
        every = sorted((*known, *_OWN, *_PLAIN))
        listed = did_you_mean(name, every, f"it has: {', '.join(every)}")
        raise InvalidEvaluator(f"openevals has no metric {name}; {listed}")
    prompt, create = known[name], create_async_llm_as_judge
    if prompt in vars(trajectory).values():
        create = create_async_trajectory_llm_as_judge
    judge = asking_judge(
        f"openevals:{name}",
        create,
        prompt,
        arguments,
        is_conversation=prompt in vars(conversation).values(),
        optional=_OPTIONAL.get(name),
    )
    return Metric(judge, lower_is_better=name in _LOWER_IS_BETTER)


def asking_judge(
    name: str,
    create: Callable[..., Any],
    prompt: str,
    arguments: Mapping[str, Any],
    *,
    is_conversation: bool = False,
    optional: str | None = None,
) -> Callable[[Case, ChatModel], Coroutine[Any, Any, Score]]:
    """The score of a judge with a prompt, which `create` makes; `optional` may be missing in a case.

    Judges of trajectories and conversations are given the messages of a run as their outputs.

    Raises:
        InvalidEvaluator: the prompt has places for arguments that are missing, or there are others.
    """
    fields = {field for _, field, _, _ in string.Formatter().parse(prompt) if field}
    options = {key: value for key, value in arguments.items() if key in OPTIONS}
    values = {key: value for key, value in arguments.items() if key not in OPTIONS}
    if missing := sorted(fields - _CONTENT.keys() - values.keys()):
        raise InvalidEvaluator(f"{name} needs arguments: {', '.join(missing)}")
    if strangers := sorted(values.keys() - fields):
        raise InvalidEvaluator(f"{name} takes no argument {strangers[0]}")
    sees_trajectory = create is not create_async_llm_as_judge
    if sees_trajectory and "reference_outputs" in fields:
        raise InvalidEvaluator(f"{name} compares with a reference trajectory, which runs do not have")
    sees_messages = is_conversation or sees_trajectory

    async def score(case: Case, model: ChatModel) -> Score:
        texts: dict[str, Any] = {
            "inputs": case.input,
            "outputs": list(case.messages) if sees_messages else case.output,
            "reference_outputs": case.expected,
            "context": "\n\n".join(case.context) or None,
        }
        if optional is not None:
            texts[optional] = texts[optional] or ""
        if lacking := [each for each in _CONTENT if each in fields and texts[each] is None]:
            return Score(None, MISSING[_CONTENT[lacking[0]]])
        given = {key: value for key, value in texts.items() if key in fields | {"outputs"}}
        judge = create(prompt=prompt, judge=_Client(model), model=model.name, **options)
        return await _scored(judge(**given, **values))

    return score


def _shipped() -> dict[str, str]:
    """The prompts of the package by the name of their metric, without those about images, sound, and categories."""
    by_name = {
        name.removesuffix("_PROMPT").replace("_PROMPT_", "_").lower(): value
        for name, value in vars(prompts).items()
        if name.isupper() and isinstance(value, str) and "{attachments}" not in value
    }
    return {name: prompt for name, prompt in by_name.items() if name not in _CATEGORIES}


def _comparison(compare: Callable[..., Any]) -> Callable[[Case, ChatModel], Coroutine[Any, Any, Score]]:
    async def score(case: Case, model: ChatModel) -> Score:
        if case.output is None or case.expected is None:
            return Score(None, MISSING["output" if case.output is None else "expected"])
        return await _scored(compare(outputs=case.output, reference_outputs=case.expected))

    return score


async def _scored(judging: Awaitable[Any]) -> Score:
    """The score of a result. Tracing is off: it would send the texts to LangSmith."""
    with tracing_context(enabled=False):
        result = await judging
    return Score(result["score"], result.get("comment"))


class _Client:
    """The judge's model as an OpenAI client."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._create))

    async def _create(self, **asked: Any) -> Any:
        messages = [Said(message["role"], message["content"]) for message in asked["messages"]]
        text = await self._model.ask(messages, asked["response_format"]["json_schema"]["schema"])
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=text))])

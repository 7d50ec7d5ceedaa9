"""Scorers of Inspect AI: graded by the judge's model, or compared with the target."""

# pyright: reportMissingImports=false
# It is installed with an extra, which the environment of the tests lacks.

import inspect
import math
from collections.abc import Mapping
from typing import Any

from inspect_ai import scorer as shipped
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    ModelAPI,
    ModelName,
    ModelOutput,
    get_model,
    modelapi,
)
from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, PARTIAL, Target
from inspect_ai.scorer import Score as InspectScore
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from evaluation_assets.core.judging.evaluators.asked_model import ChatModel, Said
from evaluation_assets.core.judging.evaluators.case import Case
from evaluation_assets.core.judging.evaluators.metrics import Metric
from evaluation_assets.core.judging.evaluators.packages import InvalidEvaluator
from evaluation_assets.core.judging.evaluators.reasons import MISSING, NoScore
from evaluation_assets.core.judging.own.checks import Score
from evaluation_assets.core.text.meant import did_you_mean
from evaluation_assets.core.traces.trajectories.model import JsonObject, json_object

_PROVIDER = "evaluation_assets"
_GRADED = ("model_graded_fact", "model_graded_qa")
_COMPARED = ("answer", "exact", "f1", "includes", "match", "pattern")
_OF_THE_JUDGE = frozenset(("model", "model_role", "reducer"))
_GRADES = {CORRECT: 1.0, PARTIAL: 0.5, INCORRECT: 0.0, NOANSWER: 0.0}


def metric(name: str, arguments: Mapping[str, Any]) -> Metric:
    """The scorer of this name. The argument `target` is what answers are compared with, if not the reference answer.

    Raises:
        InvalidEvaluator: there is none, or it does not take the arguments.
    """
    if name not in (known := (*_GRADED, *_COMPARED)):
        listed = did_you_mean(name, known, f"choose one of: {', '.join(known)}")
        raise InvalidEvaluator(f"inspect has no scorer {name} that judges can use; {listed}")
    if own := sorted(_OF_THE_JUDGE & arguments.keys()):
        raise InvalidEvaluator(f"inspect:{name}: {own[0]} is a setting of the judge, not an argument of the scorer")
    target = arguments.get("target")
    given = {key: value for key, value in arguments.items() if key != "target"}
    create: Any = getattr(shipped, name)
    try:
        inspect.signature(create).bind(**given)
        create(**given)
    except (TypeError, ValueError) as problem:
        raise InvalidEvaluator(f"inspect:{name}: {problem}") from problem

    async def score(case: Case, model: ChatModel) -> Score:
        expected = case.expected if target is None else str(target)
        if case.output is None or expected is None:
            return Score(None, MISSING["output" if case.output is None else "expected"])
        grader = {}
        if name in _GRADED:
            grader["model"] = get_model(f"{_PROVIDER}/{model.name}", memoize=False, asked=model)
        scoring = create(**given, **grader)
        return _score(await scoring(_state(case, case.output, expected), Target(expected)))

    return Metric(score)


def _score(result: InspectScore) -> Score:
    """A grade or a number from 0 to 1.

    Raises:
        NoScore: it is neither; of other values Inspect makes 0.
    """
    value = result.value
    if isinstance(value, str) and value in _GRADES:
        return Score(_GRADES[value], result.explanation)
    if isinstance(value, int | float) and not math.isnan(value):
        return Score(float(value), result.explanation)
    raise NoScore(f"no score ({result.reason or type(value).__name__}): {(result.explanation or '')[:500]}")


def _state(case: Case, output: str, expected: str) -> TaskState:
    return TaskState(
        model=ModelName("agent/agent"),
        sample_id="case",
        epoch=1,
        input=case.input,
        messages=[made for message in case.messages if (made := _message(message)) is not None],
        target=Target(expected),
        output=ModelOutput.from_content("agent", output),
    )


def _message(message: JsonObject) -> ChatMessage | None:
    role, content = message["role"], message.get("content") or ""
    if role == "user":
        return ChatMessageUser(content=content)
    if role == "tool":
        return ChatMessageTool(content=content, tool_call_id=message["tool_call_id"])
    if role == "assistant":
        return ChatMessageAssistant(content=content, tool_calls=[*map(_call, message.get("tool_calls", ()))] or None)
    return None


def _call(made: JsonObject) -> ToolCall:
    raw = made["function"]["arguments"]
    return ToolCall(id=made["id"], function=made["function"]["name"], arguments=json_object(raw) or {"raw": raw})


@modelapi(name=_PROVIDER)
class _Api(ModelAPI):
    """The judge's model as Inspect calls it. Settings of generation are those of the judge."""

    def __init__(self, model_name: str, *, asked: ChatModel, **usual: Any) -> None:
        super().__init__(model_name)
        self._asked = asked

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        text = await self._asked.ask([Said(message.role, message.text) for message in input])
        return ModelOutput.from_content(self.model_name, text)

    def should_retry(self, ex: BaseException) -> bool:
        return False

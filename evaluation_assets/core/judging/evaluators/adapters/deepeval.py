"""Metrics of DeepEval on a single turn, and on conversations. Those that need a trace of DeepEval are left out."""

# pyright: reportMissingImports=false
# It is installed with an extra, which the environment of the tests lacks.

import inspect
import os
import warnings
from collections.abc import Mapping
from typing import Any

_QUIET = {
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
    "DEEPEVAL_EVAL_MODE": "llm",
    "CONFIDENT_TRACE_FLUSH": "0",
    "CONFIDENT_TRACE_INTERNAL": "0",
}
"""Read while the package is imported: no telemetry, no traces, no .env file, no other model than the judge's."""
os.environ.update(_QUIET)

import deepeval.metrics as shipped  # noqa: E402
from deepeval.metrics.g_eval.utils import Rubric  # noqa: E402
from deepeval.models import DeepEvalBaseLLM  # noqa: E402
from deepeval.telemetry import NoopBackend, set_backend  # noqa: E402
from deepeval.test_case import (  # noqa: E402
    ConversationalTestCase,
    LLMTestCase,
    MultiTurnParams,
    SingleTurnParams,
    ToolCall,
    Turn,
)
from pydantic import BaseModel, ValidationError  # noqa: E402

from evaluation_assets.core.judging.evaluators.asked_model import ChatModel, NoModel, Said  # noqa: E402
from evaluation_assets.core.judging.evaluators.case import Case  # noqa: E402
from evaluation_assets.core.judging.evaluators.metrics import Metric  # noqa: E402
from evaluation_assets.core.judging.evaluators.packages import InvalidEvaluator  # noqa: E402
from evaluation_assets.core.judging.evaluators.reasons import MISSING, NoScore  # noqa: E402
from evaluation_assets.core.judging.own.checks import Score  # noqa: E402
from evaluation_assets.core.text.meant import did_you_mean  # noqa: E402
from evaluation_assets.core.traces.trajectories.model import json_object  # noqa: E402

set_backend(NoopBackend())  # also where the package was imported before

_SINGLE = (
    "AnswerRelevancy ArgumentCorrectness Bias ContextualPrecision ContextualRecall ContextualRelevancy ExactMatch "
    "Faithfulness GEval Hallucination Misuse NonAdvice PIILeakage PatternMatch PromptAlignment RoleViolation "
    "Summarization TaskCompletion Toxicity"
).split()
_CONVERSATIONS = (
    "ConversationCompleteness ConversationalGEval GoalAccuracy KnowledgeRetention RoleAdherence TopicAdherence "
    "TurnRelevancy"
).split()
_OF_THE_JUDGE = frozenset(
    "model async_mode eval_mode system_one_model evaluation_template verbose_mode top_logprobs flaky".split()
)
_CONTENT = {
    SingleTurnParams.INPUT: "input",
    SingleTurnParams.ACTUAL_OUTPUT: "output",
    SingleTurnParams.EXPECTED_OUTPUT: "expected",
    SingleTurnParams.CONTEXT: "context",
    SingleTurnParams.RETRIEVAL_CONTEXT: "context",
    SingleTurnParams.TOOLS_CALLED: "calls",
}


def metric(name: str, arguments: Mapping[str, Any]) -> Metric:
    """The metric of this name.

    Raises:
        InvalidEvaluator: there is none, or it does not take the arguments.
    """
    plain = name.removesuffix("Metric")
    if plain not in (*_SINGLE, *_CONVERSATIONS):
        known = (*_SINGLE, *_CONVERSATIONS)
        listed = did_you_mean(plain, known, f"choose one of: {', '.join(known)}")
        raise InvalidEvaluator(f"deepeval has no metric {name} that judges can use; {listed}")
    if own := sorted(_OF_THE_JUDGE & arguments.keys()):
        raise InvalidEvaluator(f"deepeval:{name}: {own[0]} is a setting of the judge, not an argument of the metric")
    kind: Any = getattr(shipped, f"{plain}Metric", None) or getattr(shipped, plain)
    role = arguments.get("chatbot_role")
    try:
        given = _converted(plain, {key: value for key, value in arguments.items() if key != "chatbot_role"})
        trial = _made(kind, given, NoModel())
    except (TypeError, ValueError, ValidationError) as problem:
        raise InvalidEvaluator(f"deepeval:{name}: {problem}") from problem
    if plain == "RoleAdherence" and role is None:
        raise InvalidEvaluator(f"deepeval:{name} needs arguments: chatbot_role")
    if plain in _CONVERSATIONS:
        needs = ()
    else:
        needs = tuple(_CONTENT[param] for param in given.get("evaluation_params") or trial._required_params)

    async def score(case: Case, model: ChatModel) -> Score:
        if lacking := [need for need in needs if not getattr(case, need)]:
            return Score(None, MISSING[lacking[0]])
        measuring = _made(kind, given, model)
        test_case = _conversation(case, role) if plain in _CONVERSATIONS else _single(case)
        await measuring.a_measure(test_case, _show_indicator=False)
        if measuring.score is None:
            raise NoScore(measuring.error or "the metric gave no score")
        return Score(float(measuring.score), measuring.reason)

    return Metric(score)


def _converted(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as the constructor takes them: YAML has no enumerations and no rubrics."""
    given = dict(arguments)
    if name == "GEval":
        params = given.get("evaluation_params", ["input", "actual_output"])
        given["evaluation_params"] = [SingleTurnParams(each) for each in params]
        if strangers := [each.value for each in given["evaluation_params"] if each not in _CONTENT]:
            raise ValueError(f"runs have no {strangers[0]}")
    elif name == "ConversationalGEval":
        params = given.get("evaluation_params", ["role", "content"])
        given["evaluation_params"] = [MultiTurnParams(each) for each in params]
    if "rubric" in given:
        given["rubric"] = [Rubric(**each) for each in given["rubric"]]
    return given


def _made(kind: Any, given: Mapping[str, Any], model: ChatModel) -> Any:
    """The metric, new for each case because it keeps its state."""
    takes = inspect.signature(kind).parameters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that scores of old versions had another direction
        return kind(**given, **({"model": _Model(model)} if "model" in takes else {}))


def _single(case: Case) -> LLMTestCase:
    return LLMTestCase(
        input=case.input,
        actual_output=case.output,
        expected_output=case.expected,
        context=list(case.context) or None,
        retrieval_context=list(case.context) or None,
        tools_called=[
            ToolCall(name=call.name, input_parameters=call.arguments, output=call.result) for call in case.calls
        ],
    )


def _conversation(case: Case, role: str | None) -> ConversationalTestCase:
    """The messages of a run; calls stand in the agent's next message."""
    turns: list[Turn] = []
    calls: list[ToolCall] = []
    for message in case.messages:
        for made in message.get("tool_calls", ()):
            arguments = made["function"]["arguments"]
            calls.append(
                ToolCall(name=made["function"]["name"], input_parameters=json_object(arguments) or {"raw": arguments})
            )
        if message["role"] == "tool" and calls:
            calls[-1].output = message["content"]
        if message["role"] in ("user", "assistant") and message.get("content"):
            by_agent = message["role"] == "assistant"
            turns.append(
                Turn(
                    role=message["role"], content=message["content"], tools_called=calls if by_agent and calls else None
                )
            )
            calls = [] if by_agent else calls
    return ConversationalTestCase(turns=turns, chatbot_role=role)


class _Model(DeepEvalBaseLLM):
    """The judge's model as DeepEval calls it."""

    def __init__(self, model: ChatModel) -> None:
        self._asked = model
        super().__init__(model.name)

    def load_model(self, *args: Any, **kwargs: Any) -> "_Model":
        return self

    def get_model_name(self, *args: Any, **kwargs: Any) -> str:
        return self._asked.name

    def generate(self, *args: Any, **kwargs: Any) -> str:
        self._asked.refuse("synchronous calls")

    async def a_generate(self, prompt: str, schema: type[BaseModel] | None = None) -> Any:
        messages = [Said("user", prompt)]
        if schema is None:
            return await self._asked.ask(messages)
        return schema.model_validate_json(await self._asked.ask(messages, schema.model_json_schema()))

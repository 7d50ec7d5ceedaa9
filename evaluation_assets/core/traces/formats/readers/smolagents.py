"""Memory of smolagents: the steps of a run, as `agent.memory.get_full_steps()` or a `RunResult` has them.

Code that an agent writes is a call of the Python interpreter. A step has one text for the results of all its calls.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.context import NOTHING_KNOWN, Context
from evaluation_assets.core.traces.formats.messages.chat import calls_of
from evaluation_assets.core.traces.formats.messages.contents import content_of
from evaluation_assets.core.traces.formats.messages.lists import MessageShape, first_text_of
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Event, Result, Said, as_text, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.usage import usage_of
from evaluation_assets.core.traces.trajectories.model import Usage

NAME = "smolagents"
DESCRIPTION = "smolagents memory: steps with tool_calls, code_action, observations and error"
DETECTION = "steps with step_number, observations, and model_output or tool_calls"

_INTERPRETER = "python_interpreter"
_ANSWER = "final_answer"
_CODE = re.compile(r"<code>.*?(?:</code>|\Z)|```(?:py|python)?\n.*?(?:```(?:<end_code>)?|\Z)", re.DOTALL)


def _is_step(data: Any) -> bool:
    return isinstance(data, dict) and (
        is_action(data)
        or data.keys() == {"task", "task_images"}
        or data.keys() == {"system_prompt"}
        or {"plan", "model_output_message"} <= data.keys()
    )


def is_action(data: Any) -> bool:
    """Whether an object is a step in which an agent acted."""
    return {"step_number", "observations"} <= data.keys() and ("model_output" in data or "tool_calls" in data)


def _events(steps: Sequence[Fields], _: Mapping[int, Usage]) -> Iterator[Event]:
    if steps:
        steps[0].stated.steps_in_sequence([step.whole("step_number") for step in steps])
    for step in steps:
        step.set_aside("model_input_messages", "observations_images", "task_images", "code_action")
        if "task" in step:
            yield Asked(text=as_text(step.value("task")))
            continue
        timing, answer = step.object("timing"), step.object("model_output_message")
        timing.set_aside("start_time", "end_time")
        took, used = timing.amount("duration"), usage_of(step.object("token_usage"))
        latency = None if took is None else took * 1000
        if "plan" in step:
            answer.rest()
            yield Said(message=as_text(step.value("plan")), latency_ms=latency, usage=used)
        elif "system_prompt" not in step:
            yield from _acted(step, answer, latency, used)


def _acted(step: Fields, answer: Fields, latency: float | None, used: Usage | None) -> Iterator[Event]:
    calls = tuple(calls_of(step)) or tuple(calls_of(answer))  # a step that failed has them in the answer alone
    code = step.text("code_action")
    if not calls and code is not None:
        calls = (Call(name=_INTERPRETER, arguments=code),)
    answer.rest()
    failure = step.object("error")
    error = failure.text("message")
    is_limit = failure.text("type") == "AgentMaxStepsError"
    output = content_of(_as_message(step))
    observed = step.text("observations")
    said = _CODE.sub("", output).strip().removeprefix("Thought:").strip()
    last = as_text(step.value("action_output")) if step.flag("is_final_answer") is True or is_limit else ""
    if not last and any(call.name == _ANSWER for call in calls) and error is None:
        last = observed or ""
    thought, message = (said, None) if calls else (None, said)
    if thought or message or calls:
        yield Said(thought=thought, message=message, calls=calls, latency_ms=latency, usage=used)
        latency, used = None, None
    yield from _results(calls, observed, None if is_limit else error)
    if last.strip():
        yield Said(message=last, latency_ms=latency, usage=used)


def _as_message(step: Fields) -> Fields:
    """The output of a model, a text or parts, as a message."""
    return Fields({"content": step.value("model_output")})


def _results(calls: Sequence[Call], observed: str | None, error: str | None) -> Iterator[Result]:
    """The results of a step. Lines are told apart if there is one for each call; else the last call has them all."""
    if error is not None:
        failed = next((call for call in calls if _is_named(call, error)), calls[-1] if calls else None)
        content = "\n".join(filter(None, (observed, error)))
        yield Result(content=content, call_id=None if failed is None else failed.id, error=one_line(error))
    elif observed is not None:
        lines = observed.split("\n")
        shared = lines if len(lines) == len(calls) else [observed]
        for call, text in zip(calls[-len(shared) :], shared, strict=False):
            yield Result(content=text, call_id=call.id)
        if not calls:
            yield Result(content=observed)


def _is_named(call: Call, error: str) -> bool:
    return f"'{call.name}' with arguments {call.arguments}" in error


def _system(_: Fields, steps: Sequence[Fields]) -> str | None:
    return first_text_of(steps, "system_prompt")


def _ended(record: Fields, _: Sequence[Event]) -> Context:
    """What a run gave back, also at the limit of steps, where a model answers once more."""
    output = record.value("output") if "state" in record else None
    return NOTHING_KNOWN if output is None else Context(final_answer=as_text(output))


_SHAPE = MessageShape(
    name=NAME,
    is_message=_is_step,
    is_typical=is_action,
    events=_events,
    system=_system,
    ended=_ended,
    messages_at=(("steps",), ("memory", "steps"), ("intermediate_steps",)),
    stopped_at=(("state",),),
    usage_at=(("token_usage",),),
)
detect, read = _SHAPE.detects, _SHAPE.read

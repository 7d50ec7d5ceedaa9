"""Predictions of DSPy's ReAct: a `trajectory` with numbered thoughts, tools, arguments and observations.

The inputs and outputs beside it have the names of a signature, which the record does not tell apart: the usual names of
a question are read as the task, those of an answer as the answer.
"""

import re
from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_STEP = re.compile(r"(?:thought|tool_name|tool_args|observation)_(\d{1,6})")
_TASKS = ("question", "task", "query", "instruction", "problem", "user_request", "request", "input")
_ANSWERS = ("answer", "response", "output", "process_result", "result")
_FAILED = "Execution error in "


def _holds(data: Any) -> bool:
    steps = object_in(at(data, "trajectory"))
    return any(key.startswith("tool_name_") and _STEP.fullmatch(key) is not None for key in steps)


def _conversations(data: JsonObject) -> Iterator[Chat]:
    asked = next((key for key in _TASKS if first_text(data, key) is not None), None)
    answered = next((key for key in _ANSWERS if data.get(key) not in (None, "")), None)
    messages = [] if asked is None else [plain_message("user", data[asked])]
    messages += _steps(object_in(data["trajectory"]))
    answer = None if answered is None else as_text(data[answered])
    reasoning = first_text(data, "reasoning")
    if answer is not None or reasoning is not None:
        messages.append(plain_message("assistant", answer, reasoning=reasoning))
    taken = ("trajectory", "reasoning", *filter(None, (asked, answered)))
    yield Chat({**without(data, *taken), "final_answer": answer, "messages": messages})


def _steps(steps: JsonObject) -> Iterator[JsonObject]:
    """The steps as messages. The first ones are missing where the context was too small for all of them."""
    numbers = sorted({int(match[1]) for key in steps if (match := _STEP.fullmatch(key)) is not None})
    for number in numbers:
        thought, name = steps.get(f"thought_{number}"), steps.get(f"tool_name_{number}")
        calls = []
        if isinstance(name, str):
            calls = [{"id": f"step-{number}", "name": name, "arguments": steps.get(f"tool_args_{number}")}]
        yield {**plain_message("assistant", None, reasoning=thought), "tool_calls": calls}
        if calls and (key := f"observation_{number}") in steps:
            shown = as_text(steps[key])
            failed = True if shown.startswith(_FAILED) else None
            yield plain_message("tool", shown, tool_call_id=f"step-{number}", is_error=failed)


DSPY_REACT = Envelope(
    name="dspy_react",
    description="Predictions of DSPy's ReAct",
    detection="a trajectory with tool_name_0, tool_args_0 and observation_0",
    holds=_holds,
    conversations=_conversations,
)

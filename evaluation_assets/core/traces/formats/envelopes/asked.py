"""What a record of a run states beside its steps: the task, also in the event with which it starts, and the answer."""

import re
from collections.abc import Sequence

from evaluation_assets.core.traces.formats.endings import is_verdict
from evaluation_assets.core.traces.formats.messages.typed_events import opened, others_in
from evaluation_assets.core.traces.formats.untyped import first_text
from evaluation_assets.core.traces.trajectories.model import JsonObject

_TASKS = (
    "task", "question", "query", "instruction", "goal", "user_input", "user_query", "user_message", "input", "prompt",
    "request", "objective", "task_description", "problem", "userQuery", "userInput", "userMessage", "intent", "issue",
    "inputs",
)  # fmt: skip
_OTHERS = re.compile(
    r"(?:user|customer|initial|original|input|task)_?"
    r"(?:prompt|query|question|request|message|task|instructions?|goal|input|objective|text)",
    re.IGNORECASE,
)
"""Other names of what was asked, in two words."""
_ANSWERS = (
    "final_answer", "final_response", "final_output", "final_result", "actual_output", "actualOutput", "answer",
    "response", "output", "prediction", "result", "finalAnswer", "finalOutput", "finalResponse", "model_answer",
    "agent_result", "final_result_response", "output_text", "reply", "final", "generated_answer",
)  # fmt: skip
_OTHER_ANSWERS = re.compile(
    r"(?:final|agent|assistant|model|bot|ai)_?(?:answer|response|output|message|reply|text)", re.IGNORECASE
)
_STARTS = re.compile("start|beg[iu]n|creat|init", re.IGNORECASE)


def asked_in(data: JsonObject) -> tuple[str, str] | None:
    """The field that has the task, and its text. Of other names than the usual ones, only one may be there."""
    found = ((name, first_text(data, name) or first_text(data.get(name), *_TASKS, "description")) for name in _TASKS)
    usual = next(((name, text) for name, text in found if text), None)
    others = [(name, text) for name in data if _OTHERS.fullmatch(name) and (text := first_text(data, name))]
    return others[0] if usual is None and len(others) == 1 else usual


def asked_at_start(events: Sequence[JsonObject]) -> tuple[str, str] | None:
    """The task that an event names with which a run starts."""
    starts = (event for kind, those in others_in(events).items() if _STARTS.search(kind) for event in those)
    return next((asked for event in starts if (asked := asked_in(opened(event))) is not None), None)


def answers_in(data: JsonObject) -> dict[str, str]:
    """The fields that may have the answer, the likeliest first. Of other names than the usual ones, only one is one."""
    usual = {key: text for key in _ANSWERS if (text := first_text(data, key)) and not is_verdict(text)}
    others = {key: text for key in data if _OTHER_ANSWERS.fullmatch(key) and (text := first_text(data, key))}
    return others if not usual and len(others) == 1 else usual

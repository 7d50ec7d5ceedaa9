"""The task that a record of a run states beside its steps, or in the event with which it starts."""

import re
from collections.abc import Sequence

from evaluation_assets.core.traces.formats.messages.typed_events import others_in
from evaluation_assets.core.traces.formats.untyped import first_text
from evaluation_assets.core.traces.trajectories.model import JsonObject

_TASKS = (
    "task", "question", "query", "instruction", "goal", "user_input", "user_query", "user_message", "input", "prompt",
    "request", "objective", "task_description", "problem", "userQuery", "userInput", "userMessage", "intent", "issue",
)  # fmt: skip
_OTHERS = re.compile(
    r"(?:user|customer|initial|original|input|task)_?"
    r"(?:prompt|query|question|request|message|task|instructions?|goal|input|objective|text)",
    re.IGNORECASE,
)
"""Other names of what was asked, in two words."""
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
    return next((asked for event in starts if (asked := asked_in(event)) is not None), None)

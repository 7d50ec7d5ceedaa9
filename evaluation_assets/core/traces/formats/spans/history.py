"""Tell what is new in the input of a model from what was said before.

Each model call receives the whole history. Of it, only what this trace did not show yet is new; and what a model was
given at its first call was said before the trace began: it is context, not work of this trace.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from evaluation_assets.core.traces.formats.spans.messages import Message
from evaluation_assets.core.traces.formats.transcript import Call, as_text
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.untyped import decoded

REPEATED = re.compile(r"\s*(?:Calling tools:\s*\[\{|Call id: \S+\s+(?:Observation|Error):)")
"""Start of a message in which smolagents repeats calls and their results to the model."""


@dataclass(slots=True)
class CallLog:
    """The calls of all traces of a drop: those made in one, and those that a model was given in its history."""

    made: set[str] = field(default_factory=set)
    earlier: set[str] = field(default_factory=set)

    def note_in(self, unmapped: UnmappedFields) -> None:
        """Note the calls of which only the history tells, at the end of the drop."""
        if missing := len(self.earlier - self.made):
            unmapped.note("earlier_call", "history", missing)


class History:
    """The messages and calls of a conversation so far. A message that is said twice counts twice."""

    def __init__(self, log: CallLog) -> None:
        self._log = log
        self._said: Counter[str] = Counter()
        self._ids: set[str] = set()
        self._named: set[str] = set()
        self._bare: set[str] = set()
        self._agents: set[str] = set()

    def note(self, messages: Iterable[Message], *, made: bool = True) -> None:
        """Note messages: of this trace, or, if not `made`, of its context."""
        for message in messages:
            self._said.update(_keys(message))
            for call in message.calls:
                self.note_call(call, made=made)

    def note_call(self, call: Call, *, made: bool = True) -> None:
        """Note a call: of this trace, or, if not `made`, of its context."""
        if call.id:
            self._ids.add(call.id)
        else:
            self._bare.add(call_key(call))
        self._named.add(call_key(call))
        (self._log.made if made else self._log.earlier).add(call.id or call_key(call))

    def is_known(self, call: Call) -> bool:
        """Whether a call was noted: by its ID, or by its tool and arguments if one of the two has no ID."""
        if call.id:
            return call.id in self._ids or call_key(call) in self._bare
        return call_key(call) in self._named

    def has_call(self, call_id: str | None) -> bool:
        """Whether a call with this ID was noted."""
        return call_id in self._ids

    def unknown(self, inputs: Sequence[Message]) -> list[tuple[int, Message]]:
        """The messages of an input that are not noted, with their places, each with its unknown calls only."""
        given: Counter[str] = Counter()
        unknown: list[tuple[int, Message]] = []
        for place, message in enumerate(inputs):
            keys = _keys(message)
            given.update(keys)
            is_said = all(given[key] <= self._said[key] for key in keys)
            calls = tuple(call for call in message.calls if not self.is_known(call))
            if calls or not is_said:
                unknown.append((place, _with(message, calls, is_said=is_said)))
        return unknown

    def begins(self, agent_id: str) -> bool:
        """Whether this is the first model call of an agent. The next one is not."""
        is_first = agent_id not in self._agents
        self._agents.add(agent_id)
        return is_first

    def begin_again(self) -> None:
        """Start another trace of the conversation: each agent has its first model call before it."""
        self._agents.clear()


def end_of_context(inputs: Sequence[Message]) -> int:
    """How many messages of a first input were said before: all up to the last one of an agent or a tool."""
    return next((place + 1 for place in reversed(range(len(inputs))) if inputs[place].role in ("assistant", "tool")), 0)


def with_prompts(inputs: Sequence[Message], said_by_user: Collection[str]) -> Sequence[Message]:
    """An input whose prompt may be stated as the user's, as in Langfuse: it precedes what the user said."""
    first = next((place for place, message in enumerate(inputs) if message.text.strip() in said_by_user), 0)
    if any(message.role not in ("user", "system", "developer") for message in inputs[:first]):
        return inputs
    return [*(replace(message, role="system") for message in inputs[:first]), *inputs[first:]]


def as_context(messages: Iterable[Message]) -> str:
    """What was said before, as text."""
    lines = [
        f"{message.role}: {text}"
        for message in messages
        for text in (message.text, *(f"{call.name} {as_text(call.arguments)}".strip() for call in message.calls))
        if text.strip()
    ]
    return "\n".join(lines)


def call_key(call: Call) -> str:
    """The tool and arguments of a call, however the arguments are written."""
    arguments = decoded(call.arguments)
    try:
        text = orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONEncodeError:
        text = as_text(arguments)
    return f"{call.name} {'' if arguments in (None, '', {}) else text}"


def same_arguments(given: Any, run: Any) -> bool:
    """Whether the arguments of a call are those of a run, which may be recorded as the only value."""
    arguments, recorded = decoded(given), decoded(run)
    if isinstance(arguments, dict) and not isinstance(recorded, dict):
        return len(arguments) == 1 and as_text(next(iter(arguments.values()))) == as_text(recorded)
    return arguments == recorded


def _keys(message: Message) -> list[str]:
    """What identifies a message; a message of calls only is identified by them."""
    text = message.text.strip() or (message.thought or "").strip()
    if message.role == "tool":
        return [f"tool {message.call_id or ''} {text}"]
    return [f"{message.role} {text}"] if text or not message.calls else []


def _with(message: Message, calls: tuple[Call, ...], *, is_said: bool) -> Message:
    if is_said:
        return Message(role=message.role, calls=calls, call_id=message.call_id)
    return replace(message, calls=calls)

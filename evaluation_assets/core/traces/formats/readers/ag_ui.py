"""Event streams of AG-UI, the protocol between agents and user interfaces: one event a line.

A stream has what an agent does in a run; what the user said stands in the input of `RUN_STARTED` or in a snapshot of
the messages. The runs of a thread in one file are one conversation. Tokens are not stated.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, UnusableRecord, any_record
from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.isolation import each_own_file, usable
from evaluation_assets.core.traces.formats.messages.contents import content_of
from evaluation_assets.core.traces.formats.messages.pieces import call_in
from evaluation_assets.core.traces.formats.messages.tool_definitions import tools_of
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Result, Said, as_text, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, ignore_rest
from evaluation_assets.core.traces.formats.untyped import first_text
from evaluation_assets.core.traces.trajectories.model import Agent, Trajectory

NAME = "ag_ui"
DESCRIPTION = "event streams of AG-UI, one event a line"
DETECTION = "events of type RUN_STARTED with a threadId, TEXT_MESSAGE_START with a messageId, or TOOL_CALL_START"

_SIGNS = {
    "RUN_STARTED": "threadId",
    "TEXT_MESSAGE_START": "messageId",
    "TEXT_MESSAGE_CHUNK": "messageId",
    "TOOL_CALL_START": "toolCallName",
    "TOOL_CALL_CHUNK": "toolCallName",
}
_TEXTS = ("TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK")
_THOUGHTS = (
    "THINKING_TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_CHUNK",
)  # fmt: skip
_CALLS = ("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_CHUNK")
_ENDS = ("_END", "_START")
"""Ends of the names of events that only frame others."""


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory per thread of a file."""
    return each_own_file(files, detect, NAME, partial(_threads_in, unmapped))


def _threads_in(unmapped: UnmappedFields, file: DropFile) -> Iterator[Trajectory | Rejection]:
    threads: dict[str, list[Record]] = {}
    thread = ""
    for record in read_records(file):
        if isinstance(record, Rejection):
            yield record
        elif first_text(record.data, "type") is None:
            yield record.rejected(UnusableRecord("wrong_type", "expected an event with a type"))
        else:
            thread = first_text(record.data, "threadId") or thread
            threads.setdefault(thread, []).append(record)
    for name, events in threads.items():
        yield usable(events[0], lambda _, name=name, own=events: _trajectory(name, own, unmapped), goes_on=True)


def is_event(data: Any) -> bool:
    """Whether a value is an event that only AG-UI has."""
    sign = _SIGNS.get(first_text(data, "type") or "")
    return sign is not None and first_text(data, sign) is not None


def _trajectory(thread: str, events: Sequence[Record], unmapped: UnmappedFields) -> Trajectory:
    stream = _Stream(unmapped)
    for event in events:
        with unmapped.reading(event.json_object(), "events[].") as fields:
            stream.add(fields)
    stream.run_ended()
    stream.session.id = thread or None
    return stream.session.trajectory(NAME, unmapped)


@dataclass(slots=True)
class _Made:
    """A call while its arguments arrive."""

    name: str
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Reply:
    """What an agent says and calls before the next result, in pieces."""

    thought: list[str] = field(default_factory=list)
    message: list[str] = field(default_factory=list)
    message_id: str | None = None
    calls: dict[str, _Made] = field(default_factory=dict)


class _Stream:
    """The conversation of a thread while its events are read."""

    def __init__(self, unmapped: UnmappedFields) -> None:
        self.session = CodingSession(Agent(id="agent"))
        self._unmapped = unmapped
        self._reply = _Reply()
        self._seen: set[str] = set()
        self._run_at = 0
        self._snapshot: list[Fields] = []

    def add(self, event: Fields) -> None:
        """Add an event."""
        kind = event.text("type") or "unknown"
        self.session.at_milliseconds(event.number("timestamp"))
        event.set_aside("threadId", "runId", "parentRunId", "rawEvent")
        if kind == "RUN_STARTED":
            self._started(event.object("input"))
        elif kind in _TEXTS:
            self._text(event)
        elif kind in _THOUGHTS:
            self._thought(event)
        elif kind in _CALLS:
            self._call(event)
        elif kind == "TOOL_CALL_RESULT":
            event.set_aside("role")
            self._notice(event.name("messageId"))
            self._result(event)
        elif kind == "MESSAGES_SNAPSHOT":
            self._snapshot = event.objects("messages")
            ignore_rest(*self._snapshot)
        elif kind == "RUN_ERROR":
            self._flush()
            self.session.error = one_line(event.text("message", "code")) or "error"
            event.rest()
        elif kind == "RUN_FINISHED":
            self.run_ended()
            event.rest()
        else:
            if not kind.endswith(_ENDS):
                self._unmapped.count(f"events[] ({kind})")
            event.rest()

    def run_ended(self) -> None:
        """End a run: what its snapshot has beside what was streamed is what the user said, or all of it."""
        self._flush()
        error = self.session.error
        unheard = not any(isinstance(event, Said) for event in self.session.events[self._run_at :])
        place = self._run_at
        for message in self._snapshot:
            role = message.text("role") or ""
            if self._is_known(message):
                continue
            if role == "user":
                self.session.events.insert(place, Asked(text=content_of(message)))
                place += 1
            elif unheard:
                self._message(role, message)
        self._snapshot = []
        self._run_at = len(self.session.events)
        self.session.error = error  # what a snapshot has was said before it

    def _started(self, given: Fields) -> None:
        self._flush()
        self.session.error = None
        self._run_at = len(self.session.events)
        tools = tools_of(given, "tools")
        if tools is not None:
            self.session.agent = replace(self.session.agent, tools=tools)
        for message in given.objects("messages"):
            if not self._is_known(message):
                self._message(message.text("role") or "", message)
            message.rest()
        given.rest()

    def _is_known(self, message: Fields) -> bool:
        """Whether a message was streamed or given before; from now on it is. Calls may have no message of their own."""
        calls: list[str | None] = []
        for call in message.objects("toolCalls", "tool_calls"):
            calls.append(call.name("id"))
            ignore_rest(call.object("function"), call)
        result = message.name("toolCallId", "tool_call_id")
        names = [f"result of {result}"] if result else [*filter(None, calls)] or [message.name("id") or ""]
        known = all(name in self._seen for name in names)
        self._notice(message.name("id"), *names)
        return known

    def _notice(self, *names: str | None) -> None:
        self._seen.update(filter(None, names))

    def _message(self, role: str, message: Fields) -> None:
        """Add a whole message."""
        if role == "user":
            self.session.asked(content_of(message))
        elif role == "assistant":
            calls = [
                replace(call_in(call.object("function"), "name", "arguments"), id=call.name("id"))
                for call in message.objects("toolCalls", "tool_calls")
            ]
            self.session.spoke(None, content_of(message), calls)
        elif role == "reasoning":
            self.session.said(Said(thought=content_of(message) or None))
        elif role == "tool":
            self._result(message)
        elif role in ("system", "developer") and self.session.agent.description is None:
            self.session.agent = replace(self.session.agent, description=content_of(message) or None)

    def _text(self, event: Fields) -> None:
        name, role, said = event.name("messageId"), event.text("role"), event.value("delta")
        event.set_aside("name")
        if name is not None and name != self._reply.message_id and (self._reply.message or self._reply.calls):
            self._flush()
        self._reply.message_id = name or self._reply.message_id
        self._notice(name)
        if role == "user":
            self.session.asked(as_text(said))
        elif isinstance(said, str) and said:
            self._reply.message.append(said)

    def _thought(self, event: Fields) -> None:
        said = event.value("delta")
        event.set_aside("messageId")
        if self._reply.message or self._reply.calls:
            self._flush()
        if isinstance(said, str):
            self._reply.thought.append(said)

    def _call(self, event: Fields) -> None:
        name, tool, piece = event.name("toolCallId"), event.text("toolCallName"), event.value("delta")
        if name is None:
            name = next(reversed(self._reply.calls), "")
        self._notice(name, event.name("parentMessageId"))
        if name not in self._reply.calls:
            self._reply.calls[name] = _Made(tool or "unnamed")
        if isinstance(piece, str):
            self._reply.calls[name].arguments.append(piece)

    def _result(self, event: Fields) -> None:
        self._flush()
        error = event.text("error")
        content = as_text(event.value("content")) or error or ""
        call_id = event.name("toolCallId", "tool_call_id")
        self._notice(f"result of {call_id}")
        self.session.answered(Result(content=content, call_id=call_id, error=one_line(error)))

    def _flush(self) -> None:
        reply, self._reply = self._reply, _Reply()
        calls = [Call(name=made.name, arguments="".join(made.arguments), id=name) for name, made in reply.calls.items()]
        self.session.spoke("".join(reply.thought).strip(), "".join(reply.message).strip(), calls)


detect = any_record(is_event)

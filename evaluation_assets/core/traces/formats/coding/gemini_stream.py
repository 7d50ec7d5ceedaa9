"""Events that Gemini CLI prints with `--output-format stream-json`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.transcript import Call, Result, as_text, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, ignore_rest
from evaluation_assets.core.traces.formats.usage import usage_named
from evaluation_assets.core.traces.trajectories.model import Agent


def is_init(record: Any) -> bool:
    """Whether a record is the first event of a stream."""
    return (
        isinstance(record, dict)
        and record.get("type") == "init"
        and {"session_id", "model", "timestamp"} <= record.keys()
    )


class Stream:
    """Reads the events of one session. Messages arrive in pieces."""

    def __init__(self, events: Sequence[Any], agent_id: str, unmapped: UnmappedFields) -> None:
        self.session = CodingSession(Agent(id=agent_id, name="Gemini CLI"))
        self._unmapped = unmapped
        self._text: list[str] = []
        self._calls: list[Call] = []
        self._is_ended = False
        first = next((place for place, event in enumerate(events) if is_init(event)), 0)
        is_asked = any(event.get("role") == "user" for event in events[first:])
        for place, event in enumerate(events):
            if place < first and is_asked:  # the prompt, as the program wrote it that started Gemini CLI
                unmapped.count("events[] (before init)")
                continue
            if self._is_ended and event.get("type") == "message":  # the prompt of the next run in the file
                unmapped.count("events[] (after the result)")
                continue
            with unmapped.reading(event) as fields:
                self._event(fields)
        self._flush()

    def _event(self, fields: Fields) -> None:
        kind = fields.text("type") or "unknown"
        self.session.at(fields.text("timestamp"))
        if kind == "init":
            self.session.id = fields.name("session_id")
            self.session.agent = replace(self.session.agent, model=fields.text("model"))
        elif kind == "message" and fields.text("role") == "user":
            self._flush()
            self.session.asked(as_text(fields.value("content")))
        elif kind == "message":
            if self._calls:
                self._flush()
            self._text.append(as_text(fields.value("content")))
            fields.set_aside("delta")
        elif kind == "tool_use":
            name, call_id = fields.text("tool_name") or "tool", fields.name("tool_id")
            self._calls.append(Call(name=name, id=call_id, arguments=fields.value("parameters")))
        elif kind == "tool_result":
            self._flush()
            self.session.answered(_result(fields))
        elif kind == "result":
            self._ended(fields)
        elif kind == "error":
            self._unmapped.count(f"events[] (error, {fields.text('severity')})")
            fields.rest()
        else:
            fields.ignore_unknown(kind)

    def _ended(self, fields: Fields) -> None:
        self._flush()
        self._is_ended = True
        if fields.text("status") == "error":
            self.session.error = one_line(fields.object("error").text("message")) or "error"
        stats = fields.object("stats")
        self.session.spent = usage_named(stats, "input_tokens", "output_tokens", ["cached"])
        self.session.calls_stated = stats.whole("tool_calls")
        ignore_rest(stats, fields)

    def _flush(self) -> None:
        self.session.spoke(None, "".join(self._text).strip(), self._calls)
        self._text, self._calls = [], []


def _result(fields: Fields) -> Result:
    """A result; a command that failed is a success of the shell tool, and its output has no exit code."""
    problem = fields.object("error")
    message = problem.text("message")
    problem.rest()
    failed = fields.text("status") == "error"
    output = as_text(fields.value("output"))
    error = (one_line(message) or one_line(output) or "error") if failed else None
    return Result(content=output or message or "", call_id=fields.name("tool_id"), error=error)

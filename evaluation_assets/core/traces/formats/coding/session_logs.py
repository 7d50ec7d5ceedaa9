"""Coding agents that write each session as one log of lines, with messages whose content is a list of typed parts."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, Sample, UnusableRecord
from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.coding.session_spool import Unit
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.images import image_text
from evaluation_assets.core.traces.formats.isolation import each_own_file, usable
from evaluation_assets.core.traces.formats.messages.chat import first_line
from evaluation_assets.core.traces.formats.messages.pieces import Piece, Thought, agent_events, user_events
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Result, Said, as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

_CALLS = ("tool_use", "tool_call", "toolCall")
_RESULTS = ("tool_result", "tool-result")
_REMINDER = re.compile(r"\s*<system-reminder>.*?(?:</system-reminder>|\Z)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLog:
    """What tells the lines of an agent, and how the lines of a file become a session; and exports of whole sessions.

    `records` are those of one of the files, without copies of another one's.
    """

    name: str
    is_line: Callable[[Any], bool]
    session: Callable[[Sequence[JsonObject], UnmappedFields], CodingSession]
    is_session: Callable[[Any], bool] = lambda _: False
    records: Callable[[Sequence[DropFile], DropFile, UnmappedFields], Iterator[Record | Rejection]] = (
        lambda _, file, __: read_records(file)
    )

    def detects(self, sample: Sample) -> bool:
        """Whether a sample has a line that only this agent writes."""
        return any(self.is_line(record) for record in sample.records)

    def read(self, files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
        """Yield one trajectory per file of lines, and per export."""

        def sessions_in(file: DropFile) -> Iterator[Unit | Rejection]:
            for unit in units_in(self.records(files, file, unmapped), why_no_object, is_whole=self.is_session):
                yield from [unit] if isinstance(unit, Rejection) else self._without_chat(unit)

        sessions = each_own_file(files, self.detects, self.name, sessions_in)
        return each_session(sessions, lambda unit: self._trajectory([line.data for line in unit], unmapped))

    def _without_chat(self, unit: Unit) -> Iterator[Unit | Rejection]:
        """A session without chat messages that other programs wrote among its lines, which are no such messages."""
        own = [record.data for record in unit if self.is_line(record.data)]
        if not own or any("role" in line and "message" not in line for line in own):
            yield unit
            return
        yield from units_in(unit, why_no_line)

    def _trajectory(self, lines: Sequence[JsonObject], unmapped: UnmappedFields) -> Trajectory:
        return self.session(lines, unmapped).trajectory(self.name, unmapped)


def units_in(
    records: Iterable[Record | Rejection],
    why_not: Callable[[Any], str | None] = lambda _: None,
    begins: Callable[[Unit, Any], bool] = lambda *_: False,
    is_whole: Callable[[Any], bool] = lambda _: False,
) -> Iterator[Unit | Rejection]:
    """The records of a file by session: those in a row, and each that `is_whole` alone.

    `why_not` says what was expected in place of a record, if it is not one of these. `begins` says whether a record
    begins another session than that of the records before it.
    """
    unit: Unit = []
    for record in records:
        if isinstance(record, Rejection):
            yield record
        elif is_whole(record.data):
            yield [record]
        elif (expected := why_not(record.data)) is not None:
            yield record.rejected(UnusableRecord("wrong_type", f"expected {expected}"))
        else:
            if unit and begins(unit, record.data):
                yield unit
                unit = []
            unit.append(record)
    if unit:
        yield unit


def why_no_object(data: Any) -> str | None:
    """What was expected in place of a record that is not an object."""
    return None if isinstance(data, dict) else "an object"


def why_no_line(data: Any) -> str | None:
    """What was expected in place of a record that is not an object, or is a chat message, without a kind."""
    line = object_in(data)
    is_chat = isinstance(line.get("role"), str) and any(key in line for key in ("content", "tool_calls"))
    if is_chat and "type" not in line and "kind" not in line:
        return "a line of the session, not a chat message"
    return why_no_object(data)


def each_session(
    units: Iterable[Unit | Rejection], trajectory_of: Callable[[Unit], Trajectory]
) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per session."""
    for unit in units:
        yield (
            unit
            if isinstance(unit, Rejection)
            else usable(unit[0], lambda _, unit=unit: trajectory_of(unit), goes_on=True)
        )


def add_message(session: CodingSession, role: str | None, message: Fields) -> None:
    """Add a message of the user, with results, or of the agent."""
    pieces = list(_pieces(message))
    events = user_events(pieces) if role == "user" else agent_events(pieces)
    for event in events:
        if isinstance(event, Asked):
            session.asked(_REMINDER.sub("\n", event.text).strip())
        elif isinstance(event, Said):
            session.said(event)
        else:
            session.answered(event)


def add_time(session: CodingSession, fields: Fields) -> None:
    """Add the time of a line: a text, or milliseconds since 1970."""
    if fields.is_text("timestamp"):
        session.at(fields.text("timestamp"))
    else:
        session.at_milliseconds(fields.number("timestamp", "timestamp_ms"))


def content_text(fields: Fields) -> str:
    """The content of a message or result as text, with other media named in brackets."""
    return "\n".join(piece for piece in _pieces(fields) if isinstance(piece, str))


def _pieces(message: Fields) -> Iterator[Piece]:
    for part in message.parts("content"):
        if isinstance(part, str):
            yield part
            continue
        kind = part.text("type") or "text"
        part.set_aside("cache_control", "signature", "thinkingSignature", "textSignature", "thoughtSignature")
        if kind == "text":
            yield part.text("text") or ""
        elif kind == "thinking":
            yield Thought(part.text("thinking") or "")
        elif kind in _CALLS:
            arguments = part.value("input", "arguments")
            yield Call(name=part.text("name") or "unnamed", arguments=arguments, id=part.name("id"))
        elif kind in _RESULTS:
            yield _result(part)
        elif kind == "document" and at(part.peek("source"), "type") == "text":
            part.set_aside("title", "context", "citations")
            yield as_text(part.object("source").rest().get("data"))
        elif kind == "image":
            part.rest()
            yield image_text(part)
        else:
            part.note_unknown(kind)
            yield as_text(part.rest().get("text") or f"[{kind}]")


def _result(part: Fields) -> Result:
    content = content_text(part)
    failed = part.flag("is_error") is True
    return Result(
        content=content,
        call_id=part.name("tool_use_id"),
        tool=part.text("name"),
        error=first_line(content) if failed else None,
    )

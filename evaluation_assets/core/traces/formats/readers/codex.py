"""Codex CLI sessions: rollouts as the CLI stores them, and the events that `codex exec --json` prints.

A rollout is one trajectory. Sub-agents have rollouts of their own, which join that of the session that started them if
they are in the same drop.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Rejection
from evaluation_assets.core.traces.formats.coding.codex_forks import copied, digests_of, forked_from
from evaluation_assets.core.traces.formats.coding.codex_legacy import enveloped, is_document, is_header, is_legacy
from evaluation_assets.core.traces.formats.coding.codex_rollouts import Rollout, started_by
from evaluation_assets.core.traces.formats.coding.codex_stream import Stream
from evaluation_assets.core.traces.formats.coding.linked_sessions import Link, LinkedFormat
from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.coding.session_logs import units_in
from evaluation_assets.core.traces.formats.coding.session_spool import Unit
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, first_text

NAME = "codex"
DESCRIPTION = "Codex CLI sessions: rollouts with their sub-agents, and events of `codex exec --json`"
DETECTION = (
    "lines of type session_meta, response_item or event_msg with a payload; or thread.started and item events; "
    "or, before September 2025, a first line with id, timestamp and instructions"
)

_LINES = ("session_meta", "response_item", "event_msg", "turn_context")
_EVENTS = ("item.started", "item.updated", "item.completed")


def _units_of(file: DropFile) -> Iterator[Unit | Rejection]:
    """The lines of a rollout; the events of each thread."""
    return units_in(read_records(file), _why_not, _begins)


def _why_not(data: Any) -> str | None:
    return None if is_legacy(data) or first_text(data, "type") is not None else "an object with a type"


def _begins(unit: Unit, data: Any) -> bool:
    """Whether a line begins another thread than that of the lines before it."""
    thread = first_text(data, "thread_id", "id")
    known = first_text(unit[0].data, "thread_id", "id") if _is_first(unit[0].data) else None
    return _is_first(data) and (thread is None or thread != known)


def _is_first(data: Any) -> bool:
    return at(data, "type") == "thread.started" or is_header(data) or is_document(data)


def _link_of(lines: Sequence[Any]) -> Link:
    lines = list(enveloped(lines))
    meta = next((at(line, "payload") for line in lines if at(line, "type") == "session_meta"), None)
    spawned = at(at(at(meta, "source"), "subagent"), "thread_spawn")
    parent = first_text(meta, "parent_thread_id") or first_text(spawned, "parent_thread_id")
    return Link(first_text(meta, "id"), parent, started_by(lines), forked_from(lines))


def _session_of(unmapped: UnmappedFields, lines: Sequence[Any], copies: int) -> CodingSession:
    is_stream = any(_is_event(line) for line in lines)
    if is_stream:
        return Stream(lines, unmapped).session
    return Rollout(list(enveloped(lines)), unmapped, copies).session


def _is_line(record: Any) -> bool:
    return isinstance(at(record, "payload"), dict) and at(record, "type") in _LINES


def _is_event(record: Any) -> bool:
    kind = at(record, "type")
    return (kind == "thread.started" and "thread_id" in record) or (
        kind in _EVENTS and isinstance(at(record, "item"), dict)
    )


_FORMAT = LinkedFormat(
    name=NAME,
    is_own=lambda record: _is_line(record) or _is_event(record) or is_legacy(record),
    units_of=_units_of,
    link_of=_link_of,
    session_of=_session_of,
    digests_of=digests_of,
    copied=copied,
)
detect, read = _FORMAT.detects, _FORMAT.read

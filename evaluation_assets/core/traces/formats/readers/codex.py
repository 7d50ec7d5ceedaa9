"""Codex CLI sessions: rollouts as the CLI stores them, and the events that `codex exec --json` prints.

A rollout is one trajectory. Sub-agents have rollouts of their own, which join that of the session that started them if
they are in the same drop.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from evaluation_assets.core.traces.formats.base import DropFile, Rejection
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
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.model import JsonObject

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
    return Link(first_text(meta, "id"), parent, started_by(lines), _forked_from(lines))


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


def _forked_from(lines: Iterable[Any]) -> str | None:
    """The ID of the session that a rollout was forked from: it is named, or has its `session_meta` as second one."""
    metas = [at(line, "payload") for line in lines if at(line, "type") == "session_meta"]
    if not metas:
        return None
    named = first_text(metas[0], "forked_from_id")
    return named or next((name for meta in metas[1:2] if (name := first_text(meta, "id"))), None)


def _digests_of(lines: Iterable[Any]) -> frozenset[str]:
    """Digests of lines without their times."""
    return frozenset(_digest(line) for line in lines if isinstance(line, dict))


def _copied(lines: Sequence[Any], origin: frozenset[str]) -> int:
    """How many of the first lines of a fork were copied, by the digests of the session that it comes from.

    A fork begins with its own `session_meta`, and goes on with the lines of the session it comes from, whose times are
    those of copying. Compaction leaves some of them out, so the copies are not always a beginning.
    Calls, results and token counts are never equal by chance; messages are, so they count only directly after copies.
    """
    end = 0
    for index, line in enumerate(lines):
        if at(line, "type") == "session_meta":
            end += end == index
        elif isinstance(line, dict) and (end == index or _is_unique(line)) and _digest(line) in origin:
            end = index + 1
    return end


def _is_unique(line: JsonObject) -> bool:
    payload = at(line, "payload")
    return first_text(payload, "call_id") is not None or at(payload, "type") == "token_count"


def _digest(line: JsonObject) -> str:
    return digest(orjson.dumps([line.get("type"), line.get("payload")], option=orjson.OPT_SORT_KEYS).decode())


_FORMAT = LinkedFormat(
    name=NAME,
    is_own=lambda record: _is_line(record) or _is_event(record) or is_legacy(record),
    units_of=_units_of,
    link_of=_link_of,
    session_of=_session_of,
    digests_of=_digests_of,
    copied=_copied,
)
detect, read = _FORMAT.detects, _FORMAT.read

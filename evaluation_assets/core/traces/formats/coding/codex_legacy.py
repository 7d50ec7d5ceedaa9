"""Rollouts of Codex CLI before September 2025, whose items stand without an envelope, as lines of today's rollouts.

Until then a rollout began with `id`, `timestamp` and `instructions`, followed by items of the Responses API and by
lines of the type `state` (`codex-rs/core/src/rollout.rs`). The first versions, written in TypeScript, stored one
document with `session` and `items` (`codex-cli/src/utils/storage/save-rollout.ts`). Neither counted tokens.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from evaluation_assets.core.traces.formats.untyped import first_text, list_in, object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_HEADER = frozenset(("id", "timestamp", "instructions", "git"))
_ENVELOPE = "payload"


def is_legacy(record: Any) -> bool:
    """Whether a record tells that a rollout is an old one."""
    return is_header(record) or is_document(record) or _is_state(record)


def is_header(record: Any) -> bool:
    """Whether a line is the first one of an old rollout."""
    return (
        isinstance(record, dict)
        and "instructions" in record
        and record.keys() <= _HEADER
        and bool(first_text(record, "id") and first_text(record, "timestamp"))
    )


def is_document(record: Any) -> bool:
    """Whether a record is a whole rollout of the first versions."""
    return isinstance(record, dict) and isinstance(record.get("items"), list) and is_header(record.get("session"))


def enveloped(lines: Iterable[Any]) -> Iterator[Any]:
    """The lines of a rollout of any version, each with its envelope."""
    for line in lines:
        if is_document(line):
            yield from _started(line["session"])
            yield from enveloped(list_in(line["items"]))
        elif is_header(line):
            yield from _started(line)
        elif _is_state(line):
            continue  # it holds nothing
        elif isinstance(line, dict) and isinstance(line.get("type"), str) and _ENVELOPE not in line:
            yield {"type": "response_item", _ENVELOPE: line}
        else:
            yield line


def _started(header: JsonObject) -> Iterator[JsonObject]:
    """The line about the session, and the time it began, the only one that an old rollout has."""
    yield {"type": "session_meta", _ENVELOPE: header}
    yield {"type": "event_msg", "timestamp": header["timestamp"], _ENVELOPE: {"type": "session_started"}}


def _is_state(record: Any) -> bool:
    return object_in(record).get("record_type") == "state" and "type" not in record

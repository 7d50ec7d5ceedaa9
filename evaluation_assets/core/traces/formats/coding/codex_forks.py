"""Lines of a Codex rollout that were copied from the session that it was forked from.

A fork begins with its own `session_meta`, and goes on with the lines of the session it comes from, whose times are
those of copying. Compaction leaves some of them out, so the copies are not always a beginning.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from evaluation_assets.core.traces.formats.untyped import at, first_text
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.model import JsonObject


def forked_from(lines: Iterable[Any]) -> str | None:
    """The ID of the session that a rollout was forked from: it is named, or has its `session_meta` as second one."""
    metas = [at(line, "payload") for line in lines if at(line, "type") == "session_meta"]
    if not metas:
        return None
    named = first_text(metas[0], "forked_from_id")
    return named or next((name for meta in metas[1:2] if (name := first_text(meta, "id"))), None)


def digests_of(lines: Iterable[Any]) -> frozenset[str]:
    """Digests of lines without their times."""
    return frozenset(_digest(line) for line in lines if isinstance(line, dict))


def copied(lines: Sequence[Any], origin: frozenset[str]) -> int:
    """How many of the first lines of a fork were copied, by the digests of the session that it comes from.

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

"""Messages of an opencode session that were copied from the session that it was forked from.

A fork begins with copies of messages, which have IDs of their own, but the times and the parts of the others. Only its
title tells that it is one, and nothing which session it comes from: that is the one with the same first message.
"""

import re
from collections.abc import Sequence
from typing import Any

import orjson

from evaluation_assets.core.traces.formats.untyped import at, first_text, objects_in
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.model import JsonObject

_TITLE = re.compile(r".* \(fork #\d+\)", re.DOTALL)


def is_fork(records: Sequence[Any]) -> bool:
    """Whether an export says that its session was forked."""
    return _TITLE.fullmatch(first_text(at(records[0], "info"), "title") or "") is not None


def history_of(records: Sequence[Any]) -> str | None:
    """A name for the history that the messages of an export begin with."""
    return next((_digest(message) for message in _messages(records)), None)


def digests_of(records: Sequence[Any]) -> frozenset[str]:
    """Digests of the messages of an export."""
    return frozenset(map(_digest, _messages(records)))


def copied(records: Sequence[Any], origin: frozenset[str]) -> int:
    """How many of the first messages were copied, by the digests of the session that they come from."""
    messages = _messages(records)
    return next((place for place, one in enumerate(messages) if _digest(one) not in origin), len(messages))


def _messages(records: Sequence[Any]) -> list[JsonObject]:
    return list(objects_in(at(records[0], "messages")))


def _digest(message: JsonObject) -> str:
    info = at(message, "info")
    parts = [[at(part, name) for name in ("type", "callID", "text")] for part in objects_in(message.get("parts"))]
    return digest(orjson.dumps([at(info, "role"), at(at(info, "time"), "created"), parts]).decode())

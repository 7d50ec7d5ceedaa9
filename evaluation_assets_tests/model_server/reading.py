"""A request, read independently of its protocol."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

Calls = Sequence[Mapping[str, Any]]

MINIMUM = 1024
"""Tokens from which on a prefix is cached."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a decision model, of a kind that its protocol names."""

    name: str
    kind: str
    options: Sequence[str]


@dataclass(slots=True)
class Reading:
    """A request: its prompt in blocks, each with the lifetime of the cache marker at its end, and its schema."""

    model: str
    blocks: list[tuple[str, str | None]]
    seed: bytes
    schema: dict[str, Any] | None
    json_only: bool
    most_tokens: int | None
    turns: int = 0
    cache_key: str | None = None
    questions: Sequence[Question] = ()

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.blocks)


class Malformed(Exception):
    """A request no provider would take."""


def tokens(length: int) -> int:
    """Tokens of that many characters."""
    return -(-length // 4)


def _parts(role: str, content: object) -> Iterator[tuple[str, str | None]]:
    """The blocks of a message, the first one with the role before it."""
    parts: list[dict[str, Any]] = content if isinstance(content, list) else [{"text": content or ""}]
    mark = f"<|{role}|>"
    for part in parts:
        text = part.get("text")
        control = part.get("cache_control")
        yield mark + (text if isinstance(text, str) else dumped(part)), control.get("ttl", "5m") if control else None
        mark = ""


def read(
    body: Mapping[str, Any], messages: list[tuple[str, object]], schema: dict[str, Any] | None, json_only: bool
) -> Reading:
    blocks, system = [], ""
    for role, content in messages:
        added = list(_parts(role, content))
        blocks += added
        if role in ("system", "developer") or not system:  # or what stands where system text would
            system += "".join(text for text, _ in added).removeprefix(f"<|{role}|>") + "\n"
    seed = hashlib.blake2b("".join(text for text, _ in blocks).encode("utf-8", "surrogatepass")).digest()
    if schema is not None:
        blocks.insert(0, (dumped(schema), None))
    elif tagged := re.search(r"^<schema>[ \t]*\n(.*?)\n[ \t]*</schema>[ \t]*$", system, re.MULTILINE | re.DOTALL):
        schema = orjson.loads(tagged[1])
    if body.get("tools"):
        blocks.insert(0, (dumped(body["tools"]), None))
    most = body.get("max_completion_tokens", body.get("max_tokens"))
    turns = sum(role == "assistant" for role, _ in messages)
    return Reading(body["model"], blocks, seed, schema, json_only, most, turns)


def dumped(value: object) -> str:
    return orjson.dumps(value).decode()

"""Chunks of LangChain messages in a row, as a graph streams them, as the message that they are pieces of."""

from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.messages.chat import part_kinds
from evaluation_assets.core.traces.formats.pieces import in_a_row
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_CHUNK, _CHUNKS, _USED = "AIMessageChunk", "tool_call_chunks", "usage_metadata"
_JOINED = {"text", "input_json_delta", "tool_use"}
"""Parts of a content that can be joined: calls are beside them."""


def joined_chunks(messages: Sequence[Any]) -> list[Any]:
    """The messages, in which chunks of one ID are one. A chunk alone is the sum of others."""
    return [message for chunks in in_a_row(messages, _id) for message in _joined(chunks)]


def _id(message: Any) -> str | None:
    return first_text(message, "id") if at(message, "type") == _CHUNK else None


def _joined(chunks: list[Any]) -> Iterator[Any]:
    if len(chunks) == 1 or not part_kinds(chunks) <= _JOINED:
        yield from chunks
        return
    whole = {key: value for chunk in chunks for key, value in chunk.items() if key != _CHUNKS}
    calls = list(_calls(chunks)) or [call for chunk in chunks for call in objects_in(chunk.get("tool_calls"))]
    counts = [object_in(chunk.get(_USED)) for chunk in chunks]
    names = ("input_tokens", "output_tokens", "total_tokens")
    sums = {name: sum(count for one in counts if isinstance(count := one.get(name), int)) for name in names}
    yield {
        **whole,
        "content": "".join(text for chunk in chunks for text in _texts(chunk.get("content"))),
        "tool_calls": calls,
        "invalid_tool_calls": [],
        **({_USED: {**whole[_USED], **sums}} if isinstance(whole.get(_USED), dict) else {}),
    }


def _texts(content: Any) -> Iterator[str]:
    parts = [content] if isinstance(content, str) else list_in(content)
    yield from (text for part in parts if isinstance(text := part if isinstance(part, str) else at(part, "text"), str))


def _calls(chunks: Sequence[Any]) -> Iterator[JsonObject]:
    """The calls whose pieces the chunks have, by their index."""
    pieces: dict[str, list[JsonObject]] = {}
    for chunk in chunks:
        for piece in objects_in(chunk.get(_CHUNKS)):
            pieces.setdefault(as_text(piece.get("index")), []).append(piece)
    for own in pieces.values():
        named = {key: next(filter(None, (first_text(piece, key) for piece in own)), None) for key in ("name", "id")}
        yield {**named, "args": "".join(as_text(piece.get("args")) for piece in own), "type": "tool_call"}

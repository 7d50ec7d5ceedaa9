"""Chunks of LangChain messages in a row, as a graph streams them, as the message that they are pieces of."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

from evaluation_assets.core.traces.formats.messages.chat import part_kinds
from evaluation_assets.core.traces.formats.pieces import in_a_row
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_CHUNK, _CHUNKS, _USED = "AIMessageChunk", "tool_call_chunks", "usage_metadata"
_THOUGHTS = ("thinking", "reasoning")
_JOINED = {"text", "input_json_delta", "tool_use", "function_call", "tool_call_chunk", *_THOUGHTS}
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
        "content": _content([part for chunk in chunks for part in _parts(chunk.get("content"))]),
        "tool_calls": calls,
        "invalid_tool_calls": [],
        **({_USED: {**whole[_USED], **sums}} if isinstance(whole.get(_USED), dict) else {}),
    }


def _parts(content: Any) -> Iterator[Any]:
    for part in [content] if isinstance(content, str) else list_in(content):
        yield {"type": "text", "text": part} if isinstance(part, str) else part


def _content(parts: Sequence[Any]) -> list[JsonObject]:
    """One part for each thought and one for all of the text, from pieces that name the place of the part."""
    thoughts: dict[str, list[str]] = {}
    for part in parts:
        if at(part, "type") in _THOUGHTS:
            summary = (at(each, "text") for each in list_in(part.get("summary")))
            pieces = (part.get("thinking"), part.get("reasoning"), *summary)
            thoughts.setdefault(as_text(part.get("index")), []).extend(filter(_is_text, pieces))
    said = "".join(filter(_is_text, (at(part, "text") for part in parts)))
    return [
        *({"type": "thinking", "thinking": "".join(own)} for own in thoughts.values()),
        {"type": "text", "text": said},
    ]


def _is_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str)


def _calls(chunks: Sequence[Any]) -> Iterator[JsonObject]:
    """The calls whose pieces the chunks have, by their index."""
    pieces: dict[str, list[JsonObject]] = {}
    for chunk in chunks:
        for piece in objects_in(chunk.get(_CHUNKS)):
            pieces.setdefault(as_text(piece.get("index")), []).append(piece)
    for own in pieces.values():
        named = {key: next(filter(None, (first_text(piece, key) for piece in own)), None) for key in ("name", "id")}
        yield {**named, "args": "".join(as_text(piece.get("args")) for piece in own), "type": "tool_call"}

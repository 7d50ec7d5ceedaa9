"""Threads of the agent in Zed, as it stores them; those before version 0.3 have segments."""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.envelopes.turn import Turn
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_USED = "cumulative_token_usage"
_READ = ("version", "title", "summary", "messages", _USED, "request_token_usage", "model", "updated_at")


def _holds(data: Any) -> bool:
    return _USED in object_in(data) and any(
        "User" in message or "Agent" in message or "segments" in message for message in objects_in(at(data, "messages"))
    )


def _conversations(data: JsonObject) -> Iterator[Chat]:
    record = {
        **without(data, *_READ),
        "model": first_text(data.get("model"), "model"),
        "metadata": {"title": first_text(data, "title", "summary")},
        "usage": data[_USED] or None,
        "messages": [each for message in list_in(data["messages"]) for each in _messages(message)],
    }
    yield Chat(record)


def _messages(message: Any) -> Iterator[JsonObject]:
    if isinstance(user := at(message, "User"), dict):
        texts = (_text(part) for part in list_in(user.get("content")))
        yield plain_message("user", "\n".join(filter(None, texts)))
    elif isinstance(agent := at(message, "Agent"), dict):
        results = object_in(agent.get("tool_results"))
        yield from _said(list_in(agent.get("content")), list(objects_in(list(results.values()))))
    elif isinstance(message, dict):
        parts = [_part(segment) for segment in objects_in(message.get("segments"))]
        results = list(objects_in(message.get("tool_results")))
        if message.get("role") == "user" and not results:
            yield plain_message("user", "\n".join(text for part in parts if (text := first_text(part, "Text"))))
        else:
            calls = [{"ToolUse": call} for call in objects_in(message.get("tool_uses"))]
            yield from _said([*parts, *calls], results)


def _part(segment: JsonObject) -> JsonObject:
    text = first_text(segment, "text") or ""
    return {"Thinking": {"text": text}} if segment.get("type") == "thinking" else {"Text": text}


def _text(part: Any) -> str | None:
    return first_text(part, "Text") or first_text(at(part, "Mention"), "content")


def _said(parts: list[Any], results: list[JsonObject]) -> Iterator[JsonObject]:
    turn = Turn()
    for part in parts:
        turn.said(first_text(part, "Text") or "")
        turn.thought(first_text(at(part, "Thinking"), "text") or "")
        if call := object_in(at(part, "ToolUse")):
            turn.called(call.get("name"), call.get("input"), call.get("id"))
    for result in results:
        shown = result.get("content")
        text = first_text(shown, "Text")
        turn.returned(shown if text is None else text, result.get("tool_use_id"), failed=result.get("is_error") is True)
    yield from turn.messages()


ZED = Envelope(
    name="zed",
    description="threads of the agent in Zed",
    detection="cumulative_token_usage beside messages with User, Agent or segments",
    holds=_holds,
    conversations=_conversations,
)

"""Calls of LiveKit agents: session reports, with the history of the chat, hand-offs and the tokens of each model.

A chat context alone is the history without the report.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.times import as_utc
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_SILENT = ("agent_config_update",)
_COUNTS = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cached_tokens": "input_cached_tokens",
}
_VOICES = ("characters_count", "audio_duration")
"""What only models that speak or listen are counted by; a summary leaves out its type."""

_TIMES = ("id", "type", "created_at", "interrupted", "transcript_confidence", "metrics", "extra", "hash", "group_id")


def _is_history(data: Any) -> bool:
    items = list_in(at(at(data, "chat_history"), "items"))
    is_of_report = any(at(item, "type") in ("message", "function_call", "agent_handoff") for item in items)
    return is_of_report or any(map(_is_of_livekit, list_in(at(data, "items"))))


def _is_of_livekit(item: Any) -> bool:
    """Whether an item, of a chat context alone, is one that Responses of OpenAI do not have."""
    kind = at(item, "type")
    return kind in ("agent_handoff", *_SILENT) or (kind == "message" and isinstance(at(item, "interrupted"), bool))


def _conversations(data: JsonObject) -> Iterator[Chat]:
    items = list(objects_in(object_in(data.get("chat_history") or data)["items"]))
    models = [one for one in objects_in(data.get("usage")) if _is_of_language(one)]
    begun, ended = data.get("started_at"), data.get("timestamp")
    first = next((time for item in items if isinstance(time := item.get("created_at"), int | float)), None)
    start = begun if isinstance(begun, int | float) else first
    took = ended - start if isinstance(ended, int | float) and start is not None and ended >= start else None
    record = {
        **without(
            data, "chat_history", "items", "usage", "timestamp", "started_at", "options", "room", "job_id", "room_id"
        ),
        "id": data.get("job_id"),
        "session_id": data.get("room_id"),
        "started_at": as_utc(start),
        "duration_s": took,
        "model": next((model for one in models if (model := first_text(one, "model"))), None),
        "usage": _usage(models),
        "messages": list(_messages(items)),
    }
    yield Chat(record)


def _messages(items: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """The items as chat messages. A hand-off names the agent that speaks from there on."""
    agent: str | None = None
    for item in items:
        kind, others = item.get("type"), without(item, *_TIMES)
        if kind == "message":
            is_agent = item.get("role") == "assistant"
            yield {**others, "name": agent} if is_agent and agent else others
        elif kind == "function_call":
            call = {"id": item.get("call_id"), "name": item.get("name"), "arguments": item.get("arguments")}
            yield {**plain_message("assistant", None, name=agent), "tool_calls": [call]}
        elif kind == "function_call_output":
            call_id = {"tool_call_id": item.get("call_id"), "is_error": item.get("is_error")}
            yield plain_message("tool", item.get("output"), name=item.get("name"), **call_id)
        elif kind == "agent_handoff":
            agent = first_text(item, "new_agent_id") or agent
        elif kind not in _SILENT:
            yield item


def _is_of_language(summary: JsonObject) -> bool:
    kind = summary.get("type")
    return kind == "llm" or (kind is None and not any(key in summary for key in _VOICES))


def _usage(models: list[JsonObject]) -> JsonObject | None:
    """The tokens of all language models; counts of 0 are left out of a summary."""
    if not models:
        return None
    return {
        name: sum(count for one in models if isinstance(count := one.get(key), int)) for name, key in _COUNTS.items()
    }


LIVEKIT = Envelope(
    name="livekit",
    description="LiveKit session reports and chat contexts of voice agents",
    detection="a chat_history with items of type message, function_call or agent_handoff; items with hand-offs or a "
    "message with interrupted",
    holds=_is_history,
    conversations=_conversations,
)

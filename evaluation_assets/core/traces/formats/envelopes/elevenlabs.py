"""Conversations of ElevenLabs agents, as its API returns them and as it posts them to a server."""

from collections.abc import Iterable, Iterator
from typing import Any

from evaluation_assets.core.text.nullable import sum_of
from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.times import as_utc
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_READ = ("conversation_id", "transcript", "metadata", "analysis", "status", "agent_id", "agent_name")
_NO_TEXT = ("has_audio", "has_user_audio", "has_response_audio", "user_id", "branch_id", "version_id")
_SAID = (
    "role", "message", "tool_calls", "tool_results", "llm_usage", "time_in_call_secs", "conversation_turn_metrics",
    "interrupted", "original_message", "source_medium", "feedback", "agent_metadata",
)  # fmt: skip

_COUNTED = {
    "prompt_tokens": ("input", "input_cache_read", "input_cache_write"),
    "cached_tokens": ("input_cache_read",),
    "cache_write_tokens": ("input_cache_write",),
    "completion_tokens": ("output_total",),
}
"""The parts that the tokens of a language model are counted in, by our name."""


def _conversation_in(data: Any) -> JsonObject:
    """The conversation in a request to a server, or a conversation itself."""
    inner = object_in(at(data, "data"))
    return inner if "transcript" in inner else object_in(data)


def _is_conversation(data: Any) -> bool:
    conversation = _conversation_in(data)
    items = list_in(conversation.get("transcript"))
    return "conversation_id" in conversation and any("time_in_call_secs" in item for item in objects_in(items))


def _conversations(data: JsonObject) -> Iterator[Chat]:
    conversation = _conversation_in(data)
    items = list(objects_in(conversation["transcript"]))
    about = object_in(conversation.get("metadata"))
    start = about.get("start_time_unix_secs")
    models = [name for item in items for name in object_in(at(item.get("llm_usage"), "model_usage"))]
    record = {
        **without(conversation, *_READ, *_NO_TEXT),
        "id": conversation.get("conversation_id"),
        "started_at": as_utc(start) if isinstance(start, int | float) else None,
        "duration_s": about.get("call_duration_secs"),
        "termination_reason": first_text(about, "termination_reason"),
        "labels": conversation.get("analysis"),
        "model": next(iter(models), None),
        "messages": list(_messages(items, first_text(conversation, "agent_name"))),
    }
    error = about.get("error")
    yield Chat(record, first_text(error, "reason", "message") or ("error" if error else None))


def _messages(items: Iterable[JsonObject], agent: str | None) -> Iterator[JsonObject]:
    for item in items:
        others = without(item, *_SAID)
        if item.get("role") != "agent":
            yield {**others, **plain_message("user", item.get("message"))}
            continue
        calls = [
            {"id": call.get("request_id"), "name": call.get("tool_name"), "arguments": call.get("params_as_json")}
            for call in objects_in(item.get("tool_calls"))
        ]
        said = plain_message("assistant", item.get("message"), name=agent, usage=_usage(item))
        if item.get("message") or calls:
            yield {**others, **said, **({"tool_calls": calls} if calls else {})}
        for result in objects_in(item.get("tool_results")):
            known = {"tool_call_id": result.get("request_id"), "name": result.get("tool_name")}
            told = result.get("result_value") or result.get("raw_error_message")
            yield plain_message("tool", told, is_error=result.get("is_error"), **known)


def _usage(item: JsonObject) -> JsonObject | None:
    """Tokens of the language model; the cost of the whole conversation is in credits."""
    models = [object_in(one) for one in object_in(at(item.get("llm_usage"), "model_usage")).values()]
    counts = {
        name: sum_of(count for one in models for part in parts if isinstance(count := at(one.get(part), "tokens"), int))
        for name, parts in _COUNTED.items()
    }
    return without_none(counts) or None


ELEVENLABS = Envelope(
    name="elevenlabs",
    description="Conversations of ElevenLabs agents, from its API and its webhooks",
    detection="a conversation_id and a transcript whose entries have time_in_call_secs, also in data",
    holds=_is_conversation,
    conversations=_conversations,
)

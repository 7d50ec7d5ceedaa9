"""Calls of Retell AI, as its API returns them and as it posts them to a server."""

from collections.abc import Iterable, Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.times import as_utc
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_SPOKEN = "transcript_with_tool_calls"
_READ = (
    "call_id", "agent_name", "start_timestamp", "end_timestamp", "duration_ms", "disconnection_reason", "call_analysis",
    _SPOKEN,
)  # fmt: skip
_REPEATED = ("transcript", "transcript_object", "scrubbed_transcript_with_tool_calls")
_NO_TEXT = ("recording_url", "public_log_url", "latency", "call_status", "agent_id", "agent_version")
_TIMES = ("words", "metadata", "time_sec")
_SILENT = ("node_transition",)
_STOPPED = {"max_duration_reached": "time_limit"}


def _is_call(data: Any) -> bool:
    return isinstance(at(_call_in(data), _SPOKEN), list)


def _call_in(data: Any) -> JsonObject:
    """The call in a request to a server, or a call itself."""
    return object_in(at(data, "call")) or object_in(data)


def _conversations(data: JsonObject) -> Iterator[Chat]:
    call = _call_in(data)
    start, end = call.get("start_timestamp"), call.get("end_timestamp")
    took = end - start if isinstance(start, int) and isinstance(end, int) and end >= start else None
    reason = first_text(call, "disconnection_reason")
    record = {
        **without(call, *_READ, *_REPEATED, *_NO_TEXT),
        "id": call.get("call_id"),
        "started_at": as_utc(start / 1000) if isinstance(start, int) else None,
        "duration_s": None if took is None else took / 1000,
        "termination_reason": _STOPPED.get(reason or "", reason),
        "labels": call.get("call_analysis"),
        "messages": list(_messages(objects_in(call[_SPOKEN]), first_text(call, "agent_name"))),
    }
    yield Chat(record, reason if reason is not None and reason.startswith("error_") else None)


def _messages(items: Iterable[JsonObject], agent: str | None) -> Iterator[JsonObject]:
    for item in items:
        role, content, call_id = item.get("role"), item.get("content"), item.get("tool_call_id")
        if role == "agent":
            yield {**without(item, "role", "content", *_TIMES), **plain_message("assistant", content, name=agent)}
        elif role == "tool_call_invocation":
            call = {"id": call_id, "name": item.get("name"), "arguments": item.get("arguments")}
            yield {**plain_message("assistant", None, name=agent), "tool_calls": [call]}
        elif role == "tool_call_result":
            yield plain_message("tool", content, tool_call_id=call_id, is_error=item.get("successful") is False)
        elif role == "dtmf":
            yield plain_message("user", f"[pressed {item.get('digit')}]")
        elif role not in _SILENT:
            yield without(item, *_TIMES)


RETELL = Envelope(
    name="retell",
    description="Retell AI calls with their tool calls, from its API and its webhooks",
    detection="a call with transcript_with_tool_calls, or a request with such a call",
    holds=_is_call,
    conversations=_conversations,
)

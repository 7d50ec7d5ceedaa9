"""Calls of Vapi: end-of-call reports that it posts to a server, and calls as its API returns them."""

from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.text.nullable import sum_of
from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.times import elapsed_s
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_SPOKEN = ("bot", "tool_calls", "tool_call_result")
"""Roles that no other source has."""

_READ = (
    "id", "type", "status", "startedAt", "endedAt", "endedReason", "analysis", "costBreakdown", "messages", "artifact",
    "call", "message", "role",
)  # fmt: skip
_NO_TEXT = ("timestamp", "cost", "costs", "createdAt", "updatedAt", "recordingUrl", "stereoRecordingUrl", "transcript")
_REPEATED = ("messagesOpenAIFormatted", "transcript")
"""Fields of an artifact that say the same as its messages."""

_TIMES = ("time", "endTime", "secondsFromStart", "duration", "source", "assistantName", "assistantId")

_COUNTED = (
    ("prompt_tokens", "llmPromptTokens", "promptTokens"),
    ("completion_tokens", "llmCompletionTokens", "completionTokens"),
    ("cached_tokens", "llmCachedPromptTokens", "cachedPromptTokens"),
    ("cost", "llm", "cost"),
)
"""Figures of the language model, by our name: their names in the breakdown of a call's cost, and in a list of costs."""

_STOPPED = {"exceeded-max-duration": "time_limit"}


def _is_call(data: Any) -> bool:
    messages = _messages_in(_report_in(data))
    return any(at(message, "role") in _SPOKEN and "content" not in message for message in messages)


def _report_in(data: Any) -> JsonObject:
    """The report in a request of Vapi to a server, or a call itself."""
    return object_in(at(data, "message")) or object_in(data)


def _messages_in(report: JsonObject) -> list[Any]:
    return list_in(at(report.get("artifact"), "messages")) or list_in(report.get("messages"))


def _conversations(data: JsonObject) -> Iterator[Chat]:
    report = _report_in(data)
    call = object_in(report.get("call")) or report
    start, end = (first_text(report, key) or first_text(call, key) for key in ("startedAt", "endedAt"))
    reason = first_text(report, "endedReason") or first_text(call, "endedReason")
    artifact = object_in(report.get("artifact"))
    record = {
        **without(report, *_READ, *_NO_TEXT),
        "artifact": without(artifact, "messages", *_REPEATED),
        "call": without(call, *_READ, *_NO_TEXT) if call is not report else None,
        "id": call.get("id"),
        "started_at": start,
        "duration_s": elapsed_s(start, end),
        "termination_reason": _STOPPED.get(reason or "", reason),
        "labels": report.get("analysis"),
        "model": first_text(at(report.get("assistant"), "model"), "model"),
        "usage": _usage(report) or _usage(call),
        "messages": list(_spoken(list(objects_in(_messages_in(report))))),
    }
    yield Chat(record, reason if reason is not None and "error" in reason else None)


def _spoken(messages: Sequence[JsonObject]) -> Iterator[JsonObject]:
    """The messages of a call. Only those that are spoken name the assistant, which a squad changes."""
    assistant = next((name for message in messages if (name := message.get("assistantName"))), None)
    for message in messages:
        assistant = message.get("assistantName") or assistant
        yield _message(message, assistant)


def _message(message: JsonObject, assistant: Any) -> JsonObject:
    role, text = message.get("role"), message.get("message")
    others = without(message, "role", "message", "content", "name", "toolCalls", "toolCallId", "result", *_TIMES)
    if role == "bot":
        return {**others, **plain_message("assistant", text, name=assistant)}
    if role == "tool_calls":
        return {**others, **plain_message("assistant", None, name=assistant, tool_calls=message.get("toolCalls"))}
    if role == "tool_call_result":
        named = {"tool_call_id": message.get("toolCallId"), "name": message.get("name")}
        return {**others, **plain_message("tool", message.get("result"), **named)}
    return {**others, **plain_message(str(role or ""), message.get("content") if text is None else text)}


def _usage(report: JsonObject) -> JsonObject | None:
    """Tokens and cost of the language model; the cost of the whole call has that of telephony and voices, too.

    Calls state them together, and in a list of costs, which has an entry for each assistant of a squad.
    """
    together = object_in(report.get("costBreakdown"))
    apart = [cost for cost in objects_in(report.get("costs")) if cost.get("type") == "model"]
    counts = {
        name: together.get(known, sum_of(cost[key] for cost in apart if isinstance(cost.get(key), int | float)))
        for name, known, key in _COUNTED
    }
    return without_none(counts) or None


VAPI = Envelope(
    name="vapi",
    description="Vapi calls: end-of-call reports, and calls of its API",
    detection="a call or a report in message whose messages have the role bot, tool_calls or tool_call_result",
    holds=_is_call,
    conversations=_conversations,
)

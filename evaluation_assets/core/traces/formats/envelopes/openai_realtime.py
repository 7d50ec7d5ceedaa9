"""Events of OpenAI's Realtime API, as a server or a client logs them, with the tokens of its responses.

What a user says is known where it was transcribed.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import PARTS, Chat, Envelope, plain_message
from evaluation_assets.core.traces.formats.messages.realtime_events import event_in
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_OF_CLIENT = "conversation.item.create"
_TRANSCRIBED = "conversation.item.input_audio_transcription.completed"
_DONE = "response.done"


def _part_of(data: Any) -> str | None:
    event = event_in(data)
    return (first_text(event.get("session"), "id") or "") if event else None


def _conversations(data: JsonObject) -> Iterator[Chat]:
    events = list(map(event_in, data[PARTS]))
    sessions = [object_in(event.get("session")) for event in events]
    known = {key: value for session in sessions for key, value in session.items() if value not in (None, "", [])}
    told = {first_text(event, "item_id"): event.get("transcript") for event in events if event["type"] == _TRANSCRIBED}
    usages = dict(filter(None, map(_usage, events)))
    messages = [
        message for key, item in _items(events).items() for message in _messages(item, told.get(key), usages.get(key))
    ]
    system = first_text(known, "instructions")
    yield Chat(
        {
            "session_id": known.get("id"),
            "model": known.get("model"),
            "tools": known.get("tools"),
            "messages": [*([plain_message("system", system)] if system else []), *messages],
        }
    )


def _items(events: list[JsonObject]) -> dict[str, JsonObject]:
    """The items of a conversation in order, each as it was told of last. Those of the client return from the server."""
    items: dict[str, JsonObject] = {}
    for number, event in enumerate(events):
        if event["type"] == _OF_CLIENT and _returns(event, events[number + 1 :]):
            continue
        if event["type"] == _TRANSCRIBED and (spoken := first_text(event, "item_id")) is not None:
            items.setdefault(spoken, plain_message("user", None, type="message"))
        for item in (object_in(event.get("item")), *objects_in(at(event.get("response"), "output"))):
            if item:
                key = first_text(item, "id") or f"item {number}"
                items[key] = {**items.get(key, {}), **{name: value for name, value in item.items() if value}}
    return items


def _returns(event: JsonObject, later: list[JsonObject]) -> bool:
    """Whether the server tells later of an item that the client made."""
    made = object_in(event.get("item"))
    names = ("type", "role", "call_id", "output")
    items = (object_in(each.get("item")) for each in later if each["type"] != _OF_CLIENT)
    return any(all(item.get(name) == made.get(name) for name in names) for item in items)


def _messages(item: JsonObject, transcript: Any, used: JsonObject | None) -> Iterator[JsonObject]:
    kind, call_id = first_text(item, "type"), first_text(item, "call_id", "id")
    usage = {"usage": used} if used else {}
    if kind in ("function_call", "mcp_call"):
        call = {"id": call_id, "name": item.get("name"), "arguments": item.get("arguments")}
        yield {**plain_message("assistant", None), "tool_calls": [call], **usage}
    if kind in ("function_call_output", "mcp_call") and (shown := item.get("output", item.get("error"))) is not None:
        yield plain_message("tool", shown, tool_call_id=call_id, is_error=bool(item.get("error")) or None)
    if kind == "message":
        texts = (first_text(part, "text", "transcript") for part in list_in(item.get("content")))
        said = "\n".join(filter(None, texts)) or transcript or ""
        yield {**plain_message(item.get("role"), said), **usage}


def _usage(event: JsonObject) -> tuple[str, JsonObject] | None:
    """The last item of a response, and the tokens of the response."""
    response = object_in(event.get("response"))
    last = next((key for item in reversed(list_in(response.get("output"))) if (key := first_text(item, "id"))), None)
    used = object_in(response.get("usage"))
    if event["type"] != _DONE or last is None or not used:
        return None
    given = object_in(used.get("input_token_details"))
    counts = {name: used.get(name) for name in ("input_tokens", "output_tokens", "total_tokens")}
    return last, without_none({**counts, "input_tokens_details": {"cached_tokens": given.get("cached_tokens") or 0}})


OPENAI_REALTIME = Envelope(
    name="openai_realtime",
    description="events of OpenAI's Realtime API, one a line or in a list, also each in a record",
    detection="events of types such as conversation.item.created and response.done, with an event_id",
    holds=lambda _: False,
    part_of=_part_of,
    conversations=_conversations,
    by_turn=True,
)

"""Conversations of Rasa: trackers with their events, or the events as lines. Actions that say something are no calls.

An action runs where it has an event; the slots that it fills come after it.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import PARTS, Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.envelopes.turn import Turn
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_EVENTS = "events"
_KINDS = ("user", "bot", "action", "slot", "session_started", "user_featurization", "active_loop")
_UNSAID = ("action_listen", "action_session_start", "action_extract_slots", "action_restart", "action_back")
_PLACE = ("slots", "latest_message", "latest_event_time", "paused", "latest_input_channel", "latest_action")


def _is_event(data: Any) -> bool:
    return at(data, "event") in _KINDS and "timestamp" in data


def _holds(data: Any) -> bool:
    events = list_in(at(data, _EVENTS))
    return "sender_id" in object_in(data) and any(map(_is_event, events))


def _conversations(data: JsonObject) -> Iterator[Chat]:
    events = list(objects_in(data[PARTS] if PARTS in data else data[_EVENTS]))
    sender = first_text(data, "sender_id") or next(filter(None, (first_text(e, "sender_id") for e in events)), None)
    record = {
        "conversation_id": sender,
        "started_at": next(filter(None, (event.get("timestamp") for event in events)), None),
        **without(data, PARTS, _EVENTS, "sender_id", *_PLACE),
        "messages": list(_messages(events)),
    }
    yield Chat(without_none(record))


def _messages(events: list[JsonObject]) -> Iterator[JsonObject]:
    turn = Turn()
    waiting: str | None = None
    slots: JsonObject = {}
    for number, event in enumerate([*events, {"event": "action"}]):
        kind, name = event.get("event"), first_text(event, "name") or ""
        if kind == "slot" and waiting is not None:
            slots[name] = event.get("value")
        elif kind in ("action", "user", "bot", "action_execution_rejected") and waiting is not None:
            turn.returned(slots, waiting, failed=kind == "action_execution_rejected")
            waiting, slots = None, {}
        if kind == "user":
            yield from turn.messages()
            turn = Turn()
            yield plain_message("user", first_text(event, "text") or "")
        elif kind == "bot":
            turn.said(_text(event))
        elif kind == "action" and name and name not in _UNSAID and not name.startswith("utter_"):
            waiting = f"action {number}"
            turn.called(name, {}, waiting)
    yield from turn.messages()


def _text(event: JsonObject) -> str:
    """What a bot says, and the titles of the buttons that it shows."""
    shown = object_in(event.get("data"))
    titles = (
        first_text(button, "title") for name in ("buttons", "quick_replies") for button in list_in(shown.get(name))
    )
    texts = filter(None, (first_text(event, "text"), *titles))
    return "\n".join(texts) or (str(shown["custom"]) if shown.get("custom") else "")


RASA = Envelope(
    name="rasa",
    description="trackers of Rasa with their events, or events as lines",
    detection="a sender_id and events such as user, bot and action",
    holds=_holds,
    part_of=lambda data: first_text(data, "sender_id") if _is_event(data) else None,
    conversations=_conversations,
)

"""Transcripts of Microsoft's Bot Framework and Copilot Studio: the activities of a conversation.

Copilot Studio tells of the steps of its plans in events: a step with its tool, what that is given, and its end.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import PARTS, Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.envelopes.turn import Turn
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_ACTIVITIES = "activities"
_TYPES = (
    "message", "event", "trace", "typing", "invoke", "invokeResponse", "conversationUpdate", "endOfConversation",
    "messageReaction", "handoff", "installationUpdate", "contactRelationUpdate",
)  # fmt: skip
_STEP, _GIVEN, _ENDED = "DynamicPlanStepTriggered", "DynamicPlanStepBindUpdate", "DynamicPlanStepFinished"
_SESSION = "SessionInfo"
_BOT, _USER = ("bot", "0", "skill"), ("user", "1")


def _is_activity(data: Any) -> bool:
    return at(data, "type") in _TYPES and isinstance(at(data, "from"), dict) and "role" not in data


def _activities_in(data: Any) -> list[JsonObject]:
    activities = list(objects_in(at(data, _ACTIVITIES)))
    return activities if activities and all(map(_is_activity, activities)) else []


def _part_of(data: Any) -> str | None:
    """The conversation of an activity that is a record of its own."""
    conversation = at(data, "conversation")
    return first_text(conversation, "id") if _is_activity(data) and isinstance(conversation, dict) else None


def _conversations(data: JsonObject) -> Iterator[Chat]:
    activities = list(objects_in(data[PARTS])) if PARTS in data else _activities_in(data)
    about = [object_in(each.get("value")) for each in activities if each.get("valueType") == _SESSION]
    outcome = next((text for each in about if (text := first_text(each, "outcome"))), None)
    conversation = next((name for each in activities if (name := first_text(each.get("conversation"), "id"))), None)
    record = {
        "id": conversation,
        "started_at": next(filter(None, (each.get("timestamp") for each in activities)), None),
        **without(data, PARTS, _ACTIVITIES),
        "labels": {"outcome": outcome} if outcome else None,
        "messages": list(_messages(activities)),
    }
    yield Chat(without_none(record))


def _messages(activities: list[JsonObject]) -> Iterator[JsonObject]:
    given = {step: value.get("arguments") for step, value in _steps(activities, _GIVEN)}
    turn = Turn()
    for activity in activities:
        kind, value = activity.get("valueType") or activity.get("name"), object_in(activity.get("value"))
        step = value.get("stepId")
        if kind == _STEP:
            turn.thought(first_text(value, "thought") or "")
            turn.called(first_text(value, "taskDialogId") or "unnamed", given.get(step) or {}, step)
        elif kind == _ENDED:
            error = value.get("error")
            failed = bool(error) or str(value.get("state")).lower() == "failed"
            turn.returned(error or value.get("observation") or "", step, failed=failed)
        elif activity["type"] == "message" and (text := _text(activity)):
            if _is_of_bot(activity):
                turn.said(text)
            else:
                yield from turn.messages()
                turn = Turn()
                yield plain_message("user", text)
    yield from turn.messages()


def _steps(activities: list[JsonObject], kind: str) -> Iterator[tuple[Any, JsonObject]]:
    for activity in activities:
        if kind in (activity.get("valueType"), activity.get("name")):
            value = object_in(activity.get("value"))
            yield value.get("stepId"), value


def _is_of_bot(activity: JsonObject) -> bool:
    """Whether a bot says a message: by its role, or that of who gets it; where neither is known, it is an answer."""
    role, other = (str(at(activity.get(name), "role")).lower() for name in ("from", "recipient"))
    if role in (*_BOT, *_USER):
        return role in _BOT
    return other in _USER or (other not in _BOT and "replyToId" in activity)


def _text(activity: JsonObject) -> str:
    """What a message says, with the texts of its cards; of a button, its value."""
    cards = (object_in(each.get("content")) for each in objects_in(activity.get("attachments")))
    texts = [first_text(activity, "text", "speak"), *(text for card in cards for text in _texts(card))]
    said = "\n".join(filter(None, texts))
    return said or ("" if activity.get("value") in (None, "", {}) else str(activity["value"]))


def _texts(card: Any) -> Iterator[str]:
    """The texts of a card, in order."""
    if isinstance(card, dict):
        yield from (card[name] for name in ("title", "subtitle", "text") if isinstance(card.get(name), str))
        for name in ("body", "items", "columns", "facts"):
            for inner in list_in(card.get(name)):
                yield from _texts(inner)


BOT_FRAMEWORK = Envelope(
    name="bot_framework",
    description="transcripts of Microsoft's Bot Framework and Copilot Studio",
    detection="activities with a type, from and a conversation, in a list or one a record",
    holds=lambda data: bool(_activities_in(data)),
    part_of=_part_of,
    conversations=_conversations,
)

"""Events of OpenAI's Realtime API, alone or in a record of a log."""

from typing import Any

from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_WRAPPERS = ("event", "payload", "message", "data")
_TYPICAL = ("conversation.item.", "input_audio_buffer.", "output_audio_buffer.")
_NUMBERED = ("session.", "response.", "conversation.", "rate_limits.", "error")
"""Events that other APIs have, too, without an ID."""


def event_in(data: Any) -> JsonObject:
    """The event that a record is or wraps."""
    holders = (data, *(at(data, name) for name in _WRAPPERS))
    return next((event for each in holders if _is_event(event := object_in(each))), {})


def _is_event(event: JsonObject) -> bool:
    kind = first_text(event, "type") or ""
    return kind.startswith(_TYPICAL) or (kind.startswith(_NUMBERED) and "event_id" in event)

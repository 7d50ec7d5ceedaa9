"""Lists of items: pages, as OpenAI's APIs list those of a conversation (newest first), and instructions among them."""

from collections.abc import Sequence
from typing import Any

from evaluation_assets.core.traces.formats.messages.asked_beside import request_in
from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.messages.contents import content_of
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_LISTS = ("input", "output", "items", "data")
_PAGE, _ITEMS = "list", "data"
_OUTPUT = "_output"


def from_first(data: JsonObject) -> JsonObject:
    """A page with its items from the first to the last; any other record unchanged."""
    items = list(objects_in(data.get(_ITEMS)))
    if data.get("object") != _PAGE or not _is_newest_first(items):
        return data
    return {**data, _ITEMS: list_in(data[_ITEMS])[::-1]}


def confirm_page(fields: Fields) -> None:
    """Compare the pages that a list has, as far as it says so, with the one that is read."""
    if fields.peek("object") == _PAGE:
        fields.stated.compare("page", 2 if fields.flag("has_more") else 1, 1)
        fields.set_aside("first_id", "last_id")


def _is_newest_first(items: Sequence[JsonObject]) -> bool:
    """Whether a result stands before its call; without calls, whether the agent speaks first and the user last."""
    called: set[str] = set()
    answered: set[str] = set()
    for item in items:
        call = first_text(item, "call_id")
        if call is not None and (first_text(item, "type") or "").endswith(_OUTPUT):
            if call in called:
                return False
            answered.add(call)
        elif call is not None:
            if call in answered:
                return True
            called.add(call)
    roles = [role for item in items if (role := first_text(item, "role")) is not None]
    return bool(roles) and roles[0] == "assistant" and roles[-1] != "assistant"


def told_in(record: Any) -> str | None:
    """What the messages of the system or developer among the items of a record say, or of its request."""
    items = [
        item for each in (record, request_in(object_in(record))) for name in _LISTS for item in list_in(at(each, name))
    ]
    texts = (content_of(Fields(item)) for item in objects_in(items) if role_of({"role": item.get("role")}) == "system")
    return "\n\n".join(text for text in texts if text.strip()) or None

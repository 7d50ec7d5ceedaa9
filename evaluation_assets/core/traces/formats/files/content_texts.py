"""Contents of messages that a database keeps as JSON text, since its column holds texts.

What a tool returned stays as it is: tools return such lists, too.
"""

from typing import Any

import orjson

from evaluation_assets.core.text.exact_json import loads
from evaluation_assets.core.traces.trajectories.model import JsonObject

_ROLES = ("user", "assistant", "system", "human", "ai")
_FIELDS = {
    "text": "text", "input_text": "text", "output_text": "text", "thinking": "thinking", "redacted_thinking": "data",
    "tool_use": "input", "server_tool_use": "input", "tool_result": "tool_use_id", "image": "source",
    "image_url": "image_url", "input_image": "image_url", "document": "source", "refusal": "refusal",
}  # fmt: skip
"""Types of blocks, with a field that each has."""


def with_contents(data: Any) -> Any:
    """A message, a list of some, or a record with such lists, in which contents are lists of blocks.

    In a list, all contents that begin like a list have to be some.
    """
    if isinstance(data, list):
        return _messages(data)
    if not isinstance(data, dict):
        return data
    if _is_text(data):
        return _decoded(data) or data
    changed = {key: _messages(value) for key, value in data.items() if isinstance(value, list) and value}
    return {**data, **changed} if any(data[key] is not value for key, value in changed.items()) else data


def _messages(messages: list[Any]) -> list[Any]:
    """The messages with their contents; the same list if there is nothing to change."""
    texts = [message for message in messages if _is_text(message)]
    decoded = [_decoded(message) for message in texts]
    if not texts or not all(decoded):
        return messages
    others = iter(decoded)
    return [next(others) if _is_text(message) else message for message in messages]


def _is_text(message: Any) -> bool:
    """Whether a message has a content that begins like a list of objects."""
    content = message.get("content") if isinstance(message, dict) and message.get("role") in _ROLES else None
    return isinstance(content, str) and content.lstrip().startswith("[") and '"type"' in content


def _decoded(message: JsonObject) -> JsonObject | None:
    """A message with its content as blocks; `None` if it is none."""
    try:
        blocks = loads(message["content"])
    except orjson.JSONDecodeError:
        return None
    return {**message, "content": blocks} if isinstance(blocks, list) and all(map(_is_block, blocks)) else None


def _is_block(block: Any) -> bool:
    field = _FIELDS.get(block["type"]) if isinstance(block, dict) and isinstance(block.get("type"), str) else None
    return field is not None and field in block

"""Messages of the Claude Agent SDK for Python as dictionaries (`dataclasses.asdict`), which name neither their kind nor
that of their blocks, as the lines that they were made of.
"""

from typing import Any

from evaluation_assets.core.traces.formats.untyped import at, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_RESULT = frozenset(("subtype", "num_turns", "duration_ms", "session_id"))
_STARTED_BY = "parent_tool_use_id"
_BLOCKS = {"tool_use_id": "tool_result", "input": "tool_use", "thinking": "thinking", "text": "text"}
"""The kinds of blocks by a field that only they have."""


def as_line(data: Any) -> Any:
    """The line of a message; anything else as it is."""
    if not isinstance(data, dict) or "message" in data:
        return data
    if isinstance(event := data.get("data"), dict) and at(event, "type") == "system" and "subtype" in data:
        return event
    if data.keys() >= _RESULT:
        return {**data, "type": "result", "modelUsage": data.get("model_usage", data.get("modelUsage"))}
    if "content" not in data or _STARTED_BY not in data:
        return data
    kind = "assistant" if "model" in data else "user"
    about = {name: data[name] for name in ("uuid", "session_id", _STARTED_BY, "error") if data.get(name) is not None}
    message = {
        "role": kind,
        "id": data.get("message_id"),
        **{name: data[name] for name in ("model", "usage", "stop_reason") if name in data},
        "content": _content(data["content"]),
    }
    return {"type": kind, **about, "message": message, "toolUseResult": data.get("tool_use_result")}


def _content(content: Any) -> Any:
    return list(map(_block, objects_in(content))) if isinstance(content, list) else content


def _block(block: JsonObject) -> JsonObject:
    kind = next((kind for field, kind in _BLOCKS.items() if field in block), block.get("type"))
    return {**block, "type": kind}

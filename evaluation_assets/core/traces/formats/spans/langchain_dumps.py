"""Unwrap messages of LangChain as its instrumentations dump them into attributes of spans."""

from typing import Any

from evaluation_assets.core.traces.formats.untyped import at, decoded, list_in, object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

USER_MESSAGES = "langchain.user_messages"
"""Our attribute of a chain for what the user said in the state that it was given."""

_WRAPPERS = ("output", "outputs", "update")
"""Fields around a tool's message: of a callback's arguments, and of a command that updates the state of a graph."""

_USER = "human"
_DEEPEST = 4


def message_in(value: Any) -> JsonObject | None:
    """The fields of a dumped message: `{"lc": 1, "kwargs": ...}` or `{"type": "tool", "data": ...}`."""
    data = object_in(decoded(value))
    if data.get("lc") is not None and isinstance(data.get("kwargs"), dict):
        return data["kwargs"]
    inner = data.get("data")
    if isinstance(data.get("type"), str) and isinstance(inner, dict) and "content" in inner:
        return {"type": data["type"], **inner}
    return None


def user_messages_in(value: Any) -> list[str]:
    """The texts of the user in the state of a graph, which a chain is given."""
    messages = (message_in(each) or object_in(each) for each in list_in(at(decoded(value), "messages")))
    said = (message["content"] for message in messages if message.get("type") == _USER and "content" in message)
    return [text.strip() for text in said if isinstance(text, str) and text.strip()]


def is_tool_message(value: Any) -> bool:
    """Whether a recorded output is the message of a tool, and not an object around messages."""
    message = tool_message_in(value, _DEEPEST)
    return message is not None and "role" not in message


def tool_message_in(value: Any, depth: int = 0) -> JsonObject | None:
    """The message of a tool in its recorded output; `None` if the output is something else."""
    data = decoded(value)
    message = message_in(data) or object_in(data)
    if isinstance(message.get("tool_call_id"), str) and "content" in message:
        return message
    if depth < _DEEPEST:
        inside = [message[key] for key in _WRAPPERS if message.get(key)] + list_in(message.get("messages"))
        messages = (tool_message_in(one, depth + 1) for one in inside)
        return next((one for one in messages if one is not None), None)
    return None


def agent_in(metadata: Any) -> str | None:
    """The agent of a span in the metadata of LangGraph: its own name, or that of the graph inside the outer one."""
    data = decoded(metadata)
    if isinstance(name := at(data, "lc_agent_name"), str) and name:
        return name
    path = at(data, "langgraph_checkpoint_ns")
    outer, _, inner = path.partition("|") if isinstance(path, str) else ("", "", "")
    return (outer.partition(":")[0] or None) if inner else None

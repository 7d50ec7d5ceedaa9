"""Messages of Dify's API, with the thoughts of agents: their tools, inputs and observations."""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.envelopes.turn import Turn
from evaluation_assets.core.traces.formats.untyped import (
    as_number,
    at,
    decoded,
    first_text,
    object_in,
    objects_in,
    without_none,
)
from evaluation_assets.core.traces.trajectories.model import JsonObject

_THOUGHTS = "agent_thoughts"
_READ = (
    "id", "message_id", "conversation_id", "query", "answer", _THOUGHTS, "created_at", "feedback", "metadata",
    "parent_message_id", "mode", "event", "status",
)  # fmt: skip


def _holds(data: Any) -> bool:
    return any(map(_is_message, _messages_in(data)))


def _messages_in(data: Any) -> list[JsonObject]:
    """The messages of a page, or the record as one."""
    return list(objects_in(at(data, "data"))) or [object_in(data)]


def _is_message(message: JsonObject) -> bool:
    is_of_agent = _THOUGHTS in message or "retriever_resources" in message
    return is_of_agent and isinstance(message.get("conversation_id"), str) and {"query", "answer"} <= message.keys()


def _conversations(data: JsonObject) -> Iterator[Chat]:
    chats: dict[str, list[JsonObject]] = {}
    for message in filter(_is_message, _messages_in(data)):
        chats.setdefault(message["conversation_id"], []).append(message)
    for name, messages in chats.items():
        ordered = sorted(messages, key=lambda message: as_number(message.get("created_at")) or 0)
        ratings = [rating for message in ordered if (rating := first_text(message.get("feedback"), "rating"))]
        record = {
            **without(ordered[-1], *_READ),
            "id": name,
            "conversation_id": name,
            "feedback": ratings or None,
            "messages": [each for message in ordered for each in _turn(message)],
        }
        yield Chat(record)


def _turn(message: JsonObject) -> Iterator[JsonObject]:
    yield plain_message("user", message["query"])
    turn = Turn()
    answer = first_text(message, "answer") or ""
    for thought in sorted(objects_in(message.get(_THOUGHTS)), key=lambda one: as_number(one.get("position")) or 0):
        said, names = first_text(thought, "thought") or "", first_text(thought, "tool")
        if said.strip() != answer.strip():
            turn.thought(said)
        given, shown = (decoded(thought.get(key)) for key in ("tool_input", "observation"))
        tools = names.split(";") if names else []
        for tool in tools:
            turn.called(tool, _of(given, tool, tools), f"{thought.get('id')} {tool}")
        for tool in tools:
            if (result := _of(shown, tool, tools)) not in (None, ""):
                turn.returned(result, f"{thought.get('id')} {tool}")
    turn.said(answer)
    used = object_in(at(message.get("metadata"), "usage"))
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    usage = without_none({**{name: used.get(name) for name in names}, "cost": used.get("total_price")})
    yield from turn.messages(**({"usage": usage} if usage else {}))


def _of(values: Any, tool: str, tools: list[str]) -> Any:
    """What a thought says of one of its tools, by its name."""
    return values[tool] if isinstance(values, dict) and tool in values else values if len(tools) == 1 else None


DIFY = Envelope(
    name="dify",
    description="messages of Dify's API, with the thoughts and tools of agents",
    detection="a query, an answer and a conversation_id, with agent_thoughts or retriever_resources, also in data",
    by_turn=True,
    holds=_holds,
    conversations=_conversations,
)

"""Messages of Dify's API, with the thoughts of agents: their tools, inputs and observations."""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import PARTS, Chat, Envelope, plain_message, without
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


def _conversation_of(data: Any) -> str | None:
    """The conversation that a message belongs to; `None` for another record."""
    message = object_in(data)
    is_of_agent = _THOUGHTS in message or "retriever_resources" in message
    return first_text(message, "conversation_id") if is_of_agent and {"query", "answer"} <= message.keys() else None


def _conversation(data: JsonObject) -> Iterator[Chat]:
    messages = sorted(data[PARTS], key=lambda message: as_number(message.get("created_at")) or 0)
    ratings = [rating for message in messages if (rating := first_text(message.get("feedback"), "rating"))]
    name = messages[0]["conversation_id"]
    record = {
        **without(messages[-1], *_READ),
        "id": name,
        "conversation_id": name,
        "feedback": ratings or None,
        "messages": [each for message in messages for each in _turn(message)],
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
    detection="a query, an answer and a conversation_id, with agent_thoughts or retriever_resources",
    by_turn=True,
    holds=lambda _: False,
    part_of=_conversation_of,
    conversations=_conversation,
)

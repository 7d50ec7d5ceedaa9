"""Messages of AgentScope: lists, memories and states of agents.

Version 1 has the results of calls in messages of the system, version 2 all that an agent did for a reply in one.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import PARTS, Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.envelopes.turn import Turn
from evaluation_assets.core.traces.formats.messages.chat import is_of_agentscope
from evaluation_assets.core.traces.formats.run_names import run_of
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_LISTS = ("messages", "context", "content")
_PLACE = ("id", "name", "role", "content", "metadata", "timestamp", "created_at", "finished_at", "usage", "error")
_CALLS = ("tool_use", "tool_call")
_FAILED = ("error", "denied", "interrupted")


def _messages_in(data: Any) -> tuple[str, list[JsonObject]]:
    """The list in a record that has its messages, each of which a memory may have beside its marks."""
    for name in _LISTS:
        items = list_in(at(data, name))
        messages: list[Any] = [item[0] if isinstance(item, list) and item else item for item in items]
        if messages and all(map(is_of_agentscope, messages)):
            return name, messages
    return "", []


def _holds(data: Any) -> bool:
    return not is_of_agentscope(data) and bool(_messages_in(data)[1])


def _conversations(data: JsonObject) -> Iterator[Chat]:
    name, messages = (PARTS, list(objects_in(data[PARTS]))) if PARTS in data else _messages_in(data)
    started = next((time for message in messages if (time := first_text(message, "timestamp", "created_at"))), None)
    failures = (first_text(message.get("error"), "message", "type") for message in messages[-1:])
    chats = [chat for message in messages for chat in _said(message)]
    yield Chat({"started_at": started, **without(data, name), "messages": chats}, failure=next(failures))


def _said(message: JsonObject) -> Iterator[JsonObject]:
    """What one message says, as chat messages: the texts, and the calls of a reply with their results."""
    blocks = message["content"]
    blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else list(objects_in(blocks))
    results = [block for block in blocks if block.get("type") == "tool_result"]
    others = without(message, *_PLACE)
    if message["role"] != "assistant":
        said = [block for block in blocks if block not in results]
        if said or not results:
            yield {**others, **plain_message(message["role"], said)}
        for block in results:
            yield from _result(block)
        return
    turn = Turn()
    for block in blocks:
        kind = block.get("type")
        if kind in _CALLS:
            turn.called(block.get("name"), block.get("input"), block.get("id"))
        elif kind == "tool_result":
            failed = block.get("state") in _FAILED
            turn.returned(_shown(block.get("output")), block.get("id"), failed=failed)
        elif kind == "thinking":
            turn.thought(first_text(block, "thinking") or "")
        elif kind != "hint":  # told to the model, not by it
            turn.said(first_text(block, "text") or f"[{kind}]")
    used = object_in(message.get("usage"))
    counts = without_none({name: used.get(name) for name in ("input_tokens", "output_tokens")})
    for each in turn.messages(**({"usage": counts} if counts else {}), **others):
        yield {**each, "name": message["name"]} if each["role"] == "assistant" else each


def _result(block: JsonObject) -> Iterator[JsonObject]:
    turn = Turn()
    turn.returned(_shown(block.get("output")), block.get("id"), failed=block.get("state") in _FAILED)
    yield from turn.messages()


def _shown(output: Any) -> Any:
    """What a tool gave back: its texts, if it has nothing else."""
    texts = [first_text(block, "text") for block in list_in(output)]
    return "\n".join(filter(None, texts)) if texts and all(texts) else output


AGENTSCOPE = Envelope(
    name="agentscope",
    description="messages of AgentScope, also in memories and states of agents",
    detection="messages with name, role, content, metadata and a time",
    holds=_holds,
    part_of=lambda data: (run_of(data) or "") if is_of_agentscope(data) else None,
    conversations=_conversations,
    by_turn=True,
)

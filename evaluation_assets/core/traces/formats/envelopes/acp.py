"""Messages of the Agent Client Protocol (ACP) between an editor and a coding agent, one a line.

A call is told of piece by piece: what it is given and what it gives back may come in updates.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import PARTS, Chat, Envelope, plain_message
from evaluation_assets.core.traces.formats.envelopes.turn import Turn
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_WRAPPERS = ("message", "data", "payload", "msg", "rpc", "notification")
_METHODS = ("session/prompt", "session/update")
_SAID, _THOUGHT, _ASKED = "agent_message_chunk", "agent_thought_chunk", "user_message_chunk"
_CALLS = ("tool_call", "tool_call_update")
_ENDED = ("completed", "failed")


def _message_in(data: Any) -> JsonObject:
    """The message of JSON-RPC that a record is or wraps."""
    holders = (data, *(at(data, name) for name in _WRAPPERS))
    return next((object_in(each) for each in holders if at(each, "jsonrpc") == "2.0"), {})


def _part_of(data: Any) -> str | None:
    message = _message_in(data)
    return first_text(message.get("params"), "sessionId") if message.get("method") in _METHODS else None


def _conversations(data: JsonObject) -> Iterator[Chat]:
    messages: list[JsonObject] = []
    done: list[JsonObject] = []
    for part in data[PARTS]:
        message = _message_in(part)
        params = object_in(message.get("params"))
        update = object_in(params.get("update"))
        if message["method"] == _METHODS[0]:
            messages += _acted(done)
            done = []
            messages.append(plain_message("user", "\n".join(map(_text, list_in(params.get("prompt"))))))
        elif update.get("sessionUpdate") == _ASKED:
            messages += _acted(done)
            done = []
            _ask(messages, _text(update.get("content")))
        else:
            done.append(update)
    yield Chat({"session_id": _part_of(data[PARTS][0]), "messages": [*messages, *_acted(done)]})


def _ask(messages: list[JsonObject], text: str) -> None:
    """Add a piece of what a user says; an agent may repeat what it was asked."""
    last = messages[-1] if messages and messages[-1]["role"] == "user" else None
    if last is None:
        messages.append(plain_message("user", text))
    elif not last["content"].endswith(text):
        last["content"] += text


def _acted(updates: list[JsonObject]) -> Iterator[JsonObject]:
    """What an agent said and did between two prompts."""
    calls: dict[str, JsonObject] = {}
    for update in updates:
        if update.get("sessionUpdate") in _CALLS:
            name = str(update.get("toolCallId"))
            calls[name] = {**calls.get(name, {}), **without_none(update)}
    turn, told, pieces = Turn(), "", list[str]()
    for update in [*updates, {}]:
        kind = str(update.get("sessionUpdate", ""))
        if pieces and kind != told:
            turn.said("".join(pieces)) if told == _SAID else turn.thought("".join(pieces))
            pieces = []
        told = kind
        if kind in (_SAID, _THOUGHT):
            pieces.append(_text(update.get("content")))
        elif kind in _CALLS and (call := calls.pop(str(update.get("toolCallId")), None)) is not None:
            _call(turn, call)
    yield from turn.messages()


def _call(turn: Turn, call: JsonObject) -> None:
    call_id = call.get("toolCallId")
    named = first_text(at(call.get("_meta"), "claudeCode"), "toolName")
    kind = first_text(call, "kind")
    name = named or (kind if kind not in (None, "other") else first_text(call, "title")) or "unnamed"
    given = call.get("rawInput") or without_none({key: call.get(key) for key in ("title", "locations")})
    turn.called(name, given, call_id)
    shown = "\n".join(_text(item.get("content", item)) for item in objects_in(call.get("content")))
    if call.get("status") in _ENDED:
        turn.returned(shown or call.get("rawOutput") or "", call_id, failed=call["status"] == _ENDED[1])


def _text(block: Any) -> str:
    """A block of content as text; a change of a file as its path and new text."""
    if first_text(block, "type") == "diff":
        return f"{block.get('path')}\n{block.get('newText')}"
    resource = object_in(at(block, "resource"))
    return first_text(block, "text") or first_text(resource, "text", "uri") or first_text(block, "uri") or ""


ACP = Envelope(
    name="acp",
    description="messages of the Agent Client Protocol (ACP), one a line",
    detection="messages of JSON-RPC with the method session/prompt or session/update",
    holds=lambda _: False,
    part_of=_part_of,
    aside=lambda data: bool(_message_in(data)) and _part_of(data) is None,
    conversations=_conversations,
)

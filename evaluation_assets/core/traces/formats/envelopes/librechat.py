"""Conversations of LibreChat as it exports them: messages that name their parent, as a list or a tree.

The export does not say which branch is shown; the one of the latest message is read.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.branches import branches_beside, path_to
from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.envelopes.turn import Turn
from evaluation_assets.core.traces.formats.times import chronological
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_LISTS = ("messages", "messagesTree")
_PLACE = (
    "_id", "messageId", "__v", "conversationId", "createdAt", "updatedAt", "endpoint", "error", "isCreatedByUser",
    "model", "parentMessageId", "sender", "text", "content", "unfinished", "user", "children", "finish_reason",
    "siblingIndex", "depth", "expiredAt", "_meiliIndex", "isEdited",
)  # fmt: skip


def _holds(data: Any) -> bool:
    listed = (message for key in _LISTS for message in objects_in(at(data, key)))
    return any("messageId" in message and "isCreatedByUser" in message for message in listed)


def _conversations(data: JsonObject) -> Iterator[Chat]:
    all_messages = [message for key in _LISTS for message in _flat(data.get(key))]
    nodes = {name: message for message in all_messages if (name := first_text(message, "messageId"))}
    parents = {name: _parent(message, nodes) for name, message in nodes.items()}
    leaves = [name for name in nodes if name not in parents.values()]
    latest = max(leaves, key=lambda name: chronological(first_text(nodes[name], "createdAt")), default=None)
    path = path_to(latest, parents)
    shown = [nodes[name] for name in path]
    options = object_in(data.get("options"))
    models = [model for message in shown if (model := first_text(message, "model"))]
    prompt = first_text(options, "promptPrefix", "instructions", "system")
    failed = bool(shown) and shown[-1].get("error") is True
    record = {
        **without(data, *_LISTS, "conversationId", "exportAt", "branches", "recursive", "options", "title"),
        "id": first_text(data, "conversationId"),
        "started_at": first_text(shown[0], "createdAt") if shown else None,
        "model": models[-1] if models else first_text(options, "model"),
        "messages": [
            *([plain_message("system", prompt)] if prompt else []),
            *(each for message in shown for each in _messages(message)),
        ],
    }
    failure = (first_text(shown[-1], "text") or "error") if failed else None
    yield Chat(record, failure, rewound={"branch": branches_beside(path, parents)})


def _flat(messages: Any) -> Iterator[JsonObject]:
    """All messages of a tree, without recursion: a chat may be long."""
    waiting = list(reversed(list(objects_in(messages))))
    while waiting:
        message = waiting.pop()
        yield message
        waiting += reversed(list(objects_in(message.get("children"))))


def _parent(message: JsonObject, nodes: JsonObject) -> str | None:
    """The parent, if it is there: that of the first message is none."""
    parent = first_text(message, "parentMessageId")
    return parent if parent in nodes else None


def _messages(message: JsonObject) -> Iterator[JsonObject]:
    others = without(message, *_PLACE)
    if message.get("isCreatedByUser") is True:
        yield {**others, **plain_message("user", first_text(message, "text") or _plain(message.get("content")))}
        return
    turn = Turn()
    parts = list(objects_in(message.get("content")))
    for part in parts:
        _add(turn, part)
    if not parts and message.get("error") is not True:
        turn.said(first_text(message, "text") or "")
    yield from turn.messages(**others, finish_reason=message.get("finish_reason"))


def _add(turn: Turn, part: JsonObject) -> None:
    kind = part.get("type")
    if kind == "tool_call":
        call = object_in(part.get("tool_call"))
        function = object_in(call.get("function")) or call  # of the Assistants API, or of an agent
        call_id = first_text(call, "id")
        arguments = function.get("args") if function.get("args") is not None else function.get("arguments")
        turn.called(function.get("name") or call.get("type"), arguments, call_id)
        if (output := function.get("output")) is not None:
            turn.returned(output, call_id)
    elif kind == "think":
        turn.thought(_plain(part.get("think")))
    elif kind != "error":
        turn.said(_plain(part.get("text")))


def _plain(text: Any) -> str:
    """A text, which may be an object with a value, or a list of parts with one each."""
    if isinstance(text, list):
        return "\n".join(_plain(at(part, "text")) for part in list_in(text))
    return text if isinstance(text, str) else first_text(text, "value") or ""


LIBRECHAT = Envelope(
    name="librechat",
    description="conversations exported from LibreChat, the branch of the latest message",
    detection="messages (or messagesTree) with messageId and isCreatedByUser",
    holds=_holds,
    conversations=_conversations,
)

"""Conversations of claude.ai as its data export has them: the content of an answer has calls and their results."""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.branches import branches_beside, path_to
from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.untyped import at, first_text, objects_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_SENDERS = {"human": "user", "assistant": "assistant"}
_CALL, _RESULT, _THOUGHT = "tool_use", "tool_result", "thinking"
_MARKS = ("token_budget", "flag")
"""Parts without a content: what the program notes."""
_NO_ROOT = "00000000-0000-4000-8000-000000000000"
"""The parent of a first message."""
_READ = ("uuid", "chat_messages", "account", "updated_at", "current_leaf_message_uuid")
_PLACE = (
    "uuid", "parent_message_uuid", "sender", "text", "content", "created_at", "updated_at", "index", "attachments",
)  # fmt: skip


def _is_conversation(data: Any) -> bool:
    return any(first_text(message, "sender") in _SENDERS for message in objects_in(at(data, "chat_messages")))


def _conversations(data: JsonObject) -> Iterator[Chat]:
    given = list(objects_in(data["chat_messages"]))
    parents = {str(message.get("uuid")): _parent(message) for message in given}
    shown, left = given, 0
    if any(parents.values()):
        last = first_text(data, "current_leaf_message_uuid") or str(given[-1].get("uuid"))
        path = path_to(last, parents)
        shown = [message for message in given if str(message.get("uuid")) in path]
        left = branches_beside(path, parents)
    record = {
        **without(data, *_READ),
        "id": data.get("uuid"),
        "messages": [said for message in shown for said in _messages(message)],
    }
    calls = sum(part.get("type") == _CALL for message in given if message not in shown for part in _parts(message))
    yield Chat(record, rewound={"branch": left, "call": calls})


def _parent(message: JsonObject) -> str | None:
    parent = first_text(message, "parent_message_uuid")
    return None if parent == _NO_ROOT else parent


def _messages(message: JsonObject) -> Iterator[JsonObject]:
    """A message as chat messages: one ends where a result follows."""
    role, others = _SENDERS.get(str(message.get("sender")), ""), without(message, *_PLACE)
    parts: list[JsonObject] = []
    for part in _parts(message):
        if part.get("type") == _RESULT:
            if parts:
                yield {"role": role, **_said(parts)}
                parts = []
            named = {"name": part.get("name"), "tool_call_id": part.get("tool_use_id")}
            yield plain_message("tool", part.get("content"), **named, is_error=part.get("is_error") or None)
        else:
            parts.append(part)
    if parts:
        yield {**others, "role": role, **_said(parts)}


def _parts(message: JsonObject) -> list[JsonObject]:
    """The parts of a message, and the files that were attached to it as text; exports of 2023 have a text alone."""
    parts = [part for part in objects_in(message.get("content")) if part.get("type") not in _MARKS]
    files = [
        {"type": "text", "text": f"{first_text(file, 'file_name') or 'file'}:\n{text}"}
        for file in objects_in(message.get("attachments"))
        if (text := first_text(file, "extracted_content"))
    ]
    text = first_text(message, "text")
    return [*(parts or ([{"type": "text", "text": text}] if text else [])), *files]


def _said(parts: list[JsonObject]) -> JsonObject:
    thoughts = [first_text(part, "thinking") for part in parts if part.get("type") == _THOUGHT]
    calls = [
        {"id": part.get("id"), "name": part.get("name"), "arguments": part.get("input")}
        for part in parts
        if part.get("type") == _CALL
    ]
    said = {
        "content": [part for part in parts if part.get("type") not in (_CALL, _THOUGHT)],
        "reasoning_content": "\n\n".join(filter(None, thoughts)) or None,
        "tool_calls": calls or None,
    }
    return without_none(said)


CLAUDE_AI = Envelope(
    name="claude_ai",
    description="claude.ai data exports (conversations.json)",
    detection="chat_messages with sender human or assistant",
    holds=_is_conversation,
    conversations=_conversations,
)

"""Conversations of ChatGPT as its data export has them: a tree of messages, of which one branch is shown."""

from collections.abc import Iterable, Iterator
from typing import Any

from evaluation_assets.core.traces.formats.base import UnusableRecord
from evaluation_assets.core.traces.formats.branches import branches_beside, path_to
from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.times import as_utc
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, listed, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_EVERYBODY = "all"
"""The recipient of a message that is not a call of a tool."""

_SETTINGS = ("user_editable_context", "model_editable_context")
"""What the user or the memory of ChatGPT adds to the system prompt."""
_SETTING_TEXTS = ("user_profile", "user_instructions", "model_set_context")

_TEXTS = ("text", "result", "output_str", "summary", "content")
"""Fields with the text of a content that has no parts, by kinds of content."""
_RECAP = "reasoning_recap"
"""A content that only says how long the model thought."""

_FAILURES = ("in_kernel_exception", "system_exception", "timeout_triggered")
"""What stopped code that was run."""

_MEDIA = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "real_time_user_audio_video_asset_pointer": "audio",
}
_READ = ("mapping", "current_node", "id", "conversation_id", "create_time", "update_time", "default_model_slug")
_PLACE = (
    "id", "author", "content", "create_time", "update_time", "status", "end_turn", "weight", "recipient", "channel",
)  # fmt: skip


def _is_conversation(data: Any) -> bool:
    nodes = list(objects_in(list(object_in(at(data, "mapping")).values())))
    return any("parent" in node and "author" in object_in(node.get("message")) for node in nodes)


def _conversations(data: JsonObject) -> Iterator[Chat]:
    nodes = {name: node for name, node in data["mapping"].items() if isinstance(node, dict)}
    parents = {name: first_text(node, "parent") for name, node in nodes.items()}
    path = path_to(_shown(data, parents), parents)
    messages = [message for name in path if (message := object_in(nodes[name].get("message")))]
    models = [model for message in messages if (model := first_text(message.get("metadata"), "model_slug"))]
    created = data.get("create_time")
    record = {
        **without(data, *_READ),
        "id": first_text(data, "conversation_id", "id"),
        "started_at": as_utc(created) if isinstance(created, int | float) else None,
        "model": models[-1] if models else first_text(data, "default_model_slug"),
        "messages": list(_one_result_each(map(_message, messages))),
    }
    yield Chat(record, rewound={"branch": branches_beside(path, parents)})


def _shown(data: JsonObject, parents: dict[str, str | None]) -> str | None:
    """The last message of the branch that is shown."""
    if (shown := first_text(data, "current_node")) is not None:
        return shown
    leaves = parents.keys() - set(parents.values())
    if len(leaves) > 1:
        raise UnusableRecord(
            "no_trajectory_text", f"{len(leaves)} branches, and no current_node that says which is shown"
        )
    return next(iter(leaves), None)


def _message(message: JsonObject) -> JsonObject:
    author, content = object_in(message.get("author")), object_in(message.get("content"))
    role, recipient, kind = (
        first_text(author, "role") or "",
        first_text(message, "recipient"),
        content.get("content_type"),
    )
    metadata = object_in(message.get("metadata"))
    others = without(message, *_PLACE)
    if kind in _SETTINGS:
        return plain_message("system", "\n\n".join(filter(None, (first_text(content, key) for key in _SETTING_TEXTS))))
    if role == "tool":
        failed = kind == "system_error" or any(at(metadata.get("aggregate_result"), key) for key in _FAILURES)
        return {**others, **plain_message(role, _content(content), name=author.get("name"), is_error=failed or None)}
    if role == "assistant" and kind == "thoughts":
        return {**others, "role": role, "content": None, "reasoning_content": _thoughts(content)}
    if role == "assistant" and recipient not in (None, _EVERYBODY):
        call = {"function": {"name": recipient, "arguments": _text(content)}}
        return {**others, "role": role, "content": None, "tool_calls": [call]}
    stopped = first_text(metadata.get("finish_details"), "type") if role == "assistant" else None
    return {**others, **plain_message(role, _content(content), finish_reason=stopped)}


def _one_result_each(messages: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """The messages, with what a tool said in several of them as one: pages that it found, a text and its images."""
    last: JsonObject | None = None
    for message in messages:
        if last is not None and message["role"] == last["role"] == "tool" and message.get("name") == last.get("name"):
            last = {**message, **last, "content": [*listed(last["content"]), *listed(message["content"])]}
            continue
        if last is not None:
            yield last
        last = message
    if last is not None:
        yield last


def _content(content: JsonObject) -> str | list[Any]:
    """The text of a content, or its parts; a kind without a text remains, to be counted as not understood."""
    if content.get("content_type") == _RECAP:
        return ""
    if isinstance(parts := content.get("parts"), list):
        return [_part(part) for part in parts]
    text = next((text for key in _TEXTS if isinstance(text := content.get(key), str)), None)
    return [{"type": content.get("content_type"), **content}] if text is None else text


def _part(part: Any) -> Any:
    kind = at(part, "content_type")
    if kind == "audio_transcription":
        return first_text(part, "text") or ""
    return {"type": _MEDIA.get(kind, kind), **without(part, "content_type")} if isinstance(kind, str) else part


def _text(content: JsonObject) -> str:
    """The text that a tool was sent."""
    return "\n".join(part for part in listed(_content(content)) if isinstance(part, str))


def _thoughts(content: JsonObject) -> str:
    thoughts = [first_text(thought, "content", "summary") for thought in list_in(content.get("thoughts"))]
    return "\n\n".join(filter(None, thoughts)) or _text(content)


CHATGPT = Envelope(
    name="chatgpt",
    description="ChatGPT data exports (conversations.json), the branch that is shown",
    detection="a mapping of nodes with parent and a message with author",
    holds=_is_conversation,
    conversations=_conversations,
)

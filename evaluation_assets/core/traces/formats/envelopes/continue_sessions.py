"""Sessions of Continue, of its extensions and its CLI: chat messages with the states of their tool calls.

Only the first versions with tools had what a call returned as a message of its own; since then it is in the call's
state. The index of the sessions has no conversations.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in, objects_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_SESSION = ("sessionId", "workspaceDirectory")
_INDEX = (*_SESSION, "dateCreated")
_OF_THE_EDITOR = (
    "message", "editorState", "isGatheringContext", "modifiers", "promptLogs", "toolCallStates", "reasoning",
)  # fmt: skip
_CANCELLED = "The user cancelled this tool call."
"""What Continue tells the model of a call that the user did not allow."""


def _holds(data: Any) -> bool:
    if not isinstance(data, dict) or not all(name in data for name in _SESSION):
        return False
    return all(name in data for name in _INDEX) or any("message" in item for item in objects_in(data.get("history")))


def _conversations(data: JsonObject) -> Iterator[Chat]:
    items = list(objects_in(data.get("history")))
    if not items:
        return
    models = (first_text(log, "modelTitle") for item in items for log in objects_in(item.get("promptLogs")))
    yield Chat(
        {
            **without(data, "sessionId", "history", "chatModelTitle", "usage"),
            "id": data["sessionId"],
            "model": first_text(data, "chatModelTitle") or next(filter(None, models), None),
            "usage": _usage(data.get("usage")),
            "messages": list(_messages(items)),
        }
    )


def _messages(items: list[JsonObject]) -> Iterator[JsonObject]:
    returned = {first_text(item.get("message"), "toolCallId") for item in items}
    thoughts: list[str] = []
    for item in items:
        message = object_in(item.get("message"))
        others = {key: value for key, value in without(item, *_OF_THE_EDITOR).items() if value}
        if message.get("role") == "thinking":
            thoughts += filter(None, [first_text(message, "content")])
            continue
        thoughts += filter(None, [first_text(item.get("reasoning"), "text")])
        states = list(objects_in(item.get("toolCallStates")))
        calls = message.get("toolCalls") or [state.get("toolCall") for state in states]
        yield {
            **others,
            **without(message, "id", "toolCalls", "usage"),
            **({"tool_calls": calls} if calls else {}),
            **({"reasoning": "\n\n".join(thoughts)} if thoughts else {}),
            **({"usage": used} if (used := _usage(message.get("usage"))) else {}),
        }
        thoughts = []
        for state in states:
            if first_text(state, "toolCallId") not in returned and (content := _returned(state)) is not None:
                failed = True if state.get("status") == "errored" else None
                yield plain_message("tool", content, tool_call_id=state.get("toolCallId"), is_error=failed)


def _returned(state: JsonObject) -> str | None:
    """What a call returned; `None` for one that did not end."""
    outputs = [text for item in objects_in(state.get("output")) if (text := first_text(item, "content"))]
    if outputs or state.get("status") in ("done", "errored"):
        return "\n\n".join(outputs)
    return _CANCELLED if state.get("status") == "canceled" else None


def _usage(used: Any) -> JsonObject | None:
    counts = {
        "prompt_tokens": at(used, "promptTokens"),
        "completion_tokens": at(used, "completionTokens"),
        "cached_tokens": at(at(used, "promptTokensDetails"), "cachedTokens"),
        "total_cost": at(used, "totalCost"),
    }
    return without_none(counts) or None


CONTINUE = Envelope(
    name="continue",
    description="Continue sessions (VS Code, JetBrains, CLI)",
    detection="objects with sessionId, workspaceDirectory and a history whose items have a message",
    holds=_holds,
    conversations=_conversations,
)

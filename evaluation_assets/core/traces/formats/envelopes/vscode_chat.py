"""Chats of GitHub Copilot in VS Code: exports (`Chat: Export Chat...`, `*.chatreplay.json`) and the sessions it keeps.

The parts of a response are what VS Code shows: calls by their titles. Copilot keeps beside them what the model said
and called, in rounds, with the results.
"""

from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.copilot_replay import is_replay, replayed
from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.times import as_utc
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_MARKDOWN = (None, "markdownContent", "markdownVuln")
_CALL, _THOUGHT = "toolInvocationSerialized", "thinking"
_SHOWN_ONLY = frozenset(
    "prepareToolInvocation progressMessage progressTask progressTaskSerialized mcpServersStarting undoStop "
    "codeblockUri confirmation command warning".split()
)
"""Parts with nothing that the model said."""
_CHANGES = frozenset(("textEditGroup", "notebookEditGroup", "multiDiffData", "workspaceEdit"))
"""Parts that show the edits that calls made."""
_READ = ("requests", "sessionId", "creationDate", "lastMessageDate", "version", "initialLocation")
_WHO = (
    "requesterUsername", "responderUsername", "requesterAvatarIconUri", "responderAvatarIconUri", "inputState",
)  # fmt: skip


def _is_chat(data: Any) -> bool:
    return is_replay(data) or any(
        _asked(request) is not None and "response" in request for request in objects_in(at(data, "requests"))
    )


def _conversations(data: JsonObject) -> Iterator[Chat]:
    if is_replay(data):
        yield from replayed(data)
        return
    requests = list(objects_in(data["requests"]))
    last = object_in(object_in(requests[-1].get("result")).get("errorDetails"))
    models = [model for request in requests if (model := _model(request))]
    created = data.get("creationDate") or requests[0].get("timestamp")
    record = {
        **without(data, *_READ, *_WHO),
        "id": first_text(data, "sessionId") or first_text(_metadata(requests[0]), "sessionId"),
        "started_at": as_utc(created / 1000) if isinstance(created, int | float) else None,
        "model": models[-1] if models else None,
        "messages": [message for request in requests for message in _turn(request)],
    }
    untold = sum(_untold(request) for request in requests)
    yield Chat(record, failure=first_text(last, "message"), stated={"sub-agent call": (untold, 0)})


def _asked(request: JsonObject) -> str | None:
    message = request.get("message")
    return message if isinstance(message, str) else first_text(message, "text")


def _metadata(request: JsonObject) -> JsonObject:
    return object_in(object_in(request.get("result")).get("metadata"))


def _model(request: JsonObject) -> str | None:
    return first_text(_metadata(request), "resolvedModel") or first_text(request, "modelId")


def _turn(request: JsonObject) -> Iterator[JsonObject]:
    yield plain_message("user", _asked(request))
    metadata = _metadata(request)
    rounds = list(objects_in(metadata.get("toolCallRounds")))
    if rounds:
        for round_ in rounds:
            yield from _round(round_, object_in(metadata.get("toolCallResults")))
    else:
        yield from _shown(list(objects_in(request.get("response"))))


def _untold(request: JsonObject) -> int:
    """How many calls sub-agents made beside the rounds, which have those of the agent itself."""
    if not list_in(_metadata(request).get("toolCallRounds")):
        return 0
    shown = [part for part in objects_in(request.get("response")) if first_text(part, "kind") == _CALL]
    theirs = [part for part in shown if part.get("subAgentInvocationId") and part.get("presentation") != "hidden"]
    return len({str(part.get("toolCallId")) for part in theirs})


def _round(round_: JsonObject, results: JsonObject) -> Iterator[JsonObject]:
    calls = list(objects_in(round_.get("toolCalls")))
    thought = object_in(round_.get("thinking")).get("text")
    yield plain_message("assistant", round_.get("response"), reasoning_content=thought, tool_calls=calls or None)
    for call in calls:
        if isinstance(result := results.get(str(call.get("id"))), dict):
            parts = [_text_of(part.get("value")) for part in objects_in(result.get("content"))]
            yield plain_message("tool", "\n".join(parts), tool_call_id=call.get("id"), name=call.get("name"))


def _text_of(value: Any) -> str:
    """The text of a result: a text, or a tree whose leaves have it."""
    if isinstance(value, str):
        return value
    if isinstance(text := at(value, "text"), str):
        return text
    inner = [at(value, "node"), *list_in(at(value, "children"))]
    return "".join(_text_of(node) for node in inner if isinstance(node, dict))


def _shown(parts: list[JsonObject]) -> Iterator[JsonObject]:
    """The response as it is shown, of a participant that keeps no rounds."""
    text: list[Any] = []
    for part in parts:
        kind = first_text(part, "kind")
        if kind == _CALL and part.get("presentation") == "hidden":
            continue  # it passes its arguments on to another one, which is shown
        if kind == _CALL:
            if text:
                yield plain_message("assistant", text)
                text = []
            yield from _invocation(part)
        elif kind == _THOUGHT:
            yield plain_message("assistant", None, reasoning_content=part.get("value"))
        elif kind in _MARKDOWN or kind == "inlineReference":
            piece = _markdown(part) if kind in _MARKDOWN else _reference(part)
            text[-1:] = [text[-1] + piece] if text and isinstance(text[-1], str) else [*text[-1:], piece]
        elif kind not in _SHOWN_ONLY | _CHANGES:
            text.append({"type": kind, **without(part, "kind")})
    if text:
        yield plain_message("assistant", text)


def _invocation(part: JsonObject) -> Iterator[JsonObject]:
    details = object_in(part.get("resultDetails"))
    call = {"id": part.get("toolCallId"), "name": part.get("toolId"), "arguments": details.get("input")}
    yield plain_message("assistant", None, tool_calls=[call])
    outputs = [text for one in objects_in(details.get("output")) if (text := first_text(one, "value"))]
    if outputs:
        named = {"tool_call_id": part.get("toolCallId"), "is_error": details.get("isError")}
        yield plain_message("tool", "\n".join(outputs), **named)


def _markdown(part: JsonObject) -> str:
    content = part.get("content")
    text = object_in(content).get("value") if isinstance(content, dict) else part.get("value", content)
    return text if isinstance(text, str) else ""


def _reference(part: JsonObject) -> str:
    """The name of a file or symbol that a text refers to."""
    reference = object_in(part.get("inlineReference"))
    place = object_in(reference.get("location")).get("uri") or reference.get("uri") or reference
    path = first_text(place, "path", "fsPath") or ""
    return f"`{first_text(part, 'name') or first_text(reference, 'name') or path.rpartition('/')[2]}`"


VSCODE_CHAT = Envelope(
    name="vscode_chat",
    description="chats of GitHub Copilot in VS Code: exports and stored sessions (JSON)",
    detection="requests with a message and a response, or prompts with logs",
    holds=_is_chat,
    conversations=_conversations,
)

"""Chats of Open WebUI as it exports them: a tree of messages, of which one branch is shown.

What an agent did stands in the `output` of its message, as items of the Responses API. Older versions have it in the
text, as elements that the page shows.
"""

import html
import re
from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.branches import branches_beside, path_to
from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.envelopes.turn import Turn
from evaluation_assets.core.traces.formats.times import as_utc
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import (
    as_number,
    at,
    first_text,
    list_in,
    object_in,
    objects_in,
    parsed,
)
from evaluation_assets.core.traces.trajectories.model import JsonObject

_ELEMENT = re.compile(
    r'<details type="(?P<kind>tool_calls|reasoning|code_interpreter)"(?P<attributes>[^>]*)>\s*'
    r"<summary>[^<]*</summary>(?P<body>.*?)</details>",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_QUOTED = re.compile(r"^> ?", re.MULTILINE)
_INTERPRETER = "code_interpreter"
_SHOWN = (
    "id", "parentId", "childrenIds", "role", "content", "output", "timestamp", "models", "model", "modelName",
    "modelIdx", "done", "usage", "info", "error", "lastSentence", "userContext", "completedAt",
)  # fmt: skip


def _holds(data: Any) -> bool:
    nodes = objects_in(list(object_in(at(at(at(data, "chat"), "history"), "messages")).values()))
    return any("childrenIds" in node and "role" in node for node in nodes)


def _conversations(data: JsonObject) -> Iterator[Chat]:
    chat = object_in(data["chat"])
    history = object_in(chat["history"])
    nodes = {name: node for name, node in history["messages"].items() if isinstance(node, dict)}
    parents = {name: first_text(node, "parentId") for name, node in nodes.items()}
    path = path_to(first_text(history, "currentId") or next(reversed(nodes), None), parents)
    shown = [nodes[name] for name in path]
    models = [model for node in shown if (model := first_text(node, "model"))]
    failed = at(shown[-1], "error") if shown else None
    prompt = first_text(chat.get("params"), "system") or first_text(chat, "system")
    turns = [list(_messages(node)) for node in shown]
    answered = [turn for node, turn in zip(shown, turns, strict=True) if node.get("role") == "assistant"]
    is_counted = all(len(turn) == 1 and "usage" in turn[0] for turn in answered)  # of several requests, one is counted
    record = {
        **without(data, "chat", "user_id", "created_at", "updated_at"),
        "started_at": as_utc(as_number(data.get("created_at"))),
        "model": models[-1] if models else next((name for name in list_in(chat.get("models"))), None),
        "messages": [
            *([plain_message("system", prompt)] if prompt else []),
            *(message if is_counted else without(message, "usage") for turn in turns for message in turn),
        ],
    }
    failure = (first_text(failed, "content") or "error") if failed else None
    yield Chat(record, failure, rewound={"branch": branches_beside(path, parents)})


def _messages(node: JsonObject) -> Iterator[JsonObject]:
    others = without(node, *_SHOWN)
    if node.get("role") != "assistant":
        yield {**others, **plain_message(node.get("role"), node.get("content"))}
        return
    turn = Turn()
    items = list(objects_in(node.get("output")))
    for item in items:
        _add_item(turn, item)
    if not items:
        _add_elements(turn, first_text(node, "content") or "")
    usage = _usage(object_in(node.get("usage") or node.get("info")))
    yield from turn.messages(**others, **({} if usage is None else {"usage": usage}))


def _add_item(turn: Turn, item: JsonObject) -> None:
    kind, call_id = item.get("type"), item.get("call_id") or item.get("id")
    if kind == "message":
        turn.said(_texts(item.get("content")))
    elif kind == "reasoning":
        turn.thought(_texts(item.get("summary")) or _texts(item.get("content")))
    elif kind == "function_call":
        turn.called(item.get("name"), item.get("arguments"), call_id)
    elif kind == "function_call_output":
        turn.returned(_texts(item.get("output")) or item.get("output"), call_id, failed=item.get("status") == "failed")
    elif isinstance(kind, str) and kind.endswith(_INTERPRETER):
        turn.called(_INTERPRETER, {"code": item.get("code")}, call_id)
        if item.get("output") is not None:
            turn.returned(item["output"], call_id)
    else:
        turn.called(kind, item.get("action") or item.get("queries"), call_id)


def _texts(parts: Any) -> str:
    return parts if isinstance(parts, str) else "".join(first_text(part, "text") or "" for part in list_in(parts))


def _add_elements(turn: Turn, text: str) -> None:
    end = 0
    for match in _ELEMENT.finditer(text):
        turn.said(text[end : match.start()].strip())
        end = match.end()
        attributes = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(match["attributes"])}
        body = html.unescape(match["body"]).strip()
        if match["kind"] == "reasoning":
            turn.thought(_QUOTED.sub("", body))
        elif match["kind"] == _INTERPRETER:
            turn.called(_INTERPRETER, {"code": body})
            if output := attributes.get("output"):
                turn.returned(output)
        else:
            call_id = attributes.get("id") or None
            turn.called(attributes.get("name"), parsed(attributes.get("arguments") or "{}"), call_id)
            if result := attributes.get("result") or body:
                turn.returned(as_text(parsed(result)), call_id)
    turn.said(text[end:].strip())


def _usage(usage: JsonObject) -> JsonObject | None:
    """The tokens of a request, as OpenAI or Ollama name them."""
    given, written = usage.get("prompt_eval_count"), usage.get("eval_count")
    if isinstance(given, int) and isinstance(written, int) and "prompt_tokens" not in usage:
        return {"prompt_tokens": given, "completion_tokens": written}
    names = ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "total_tokens", "cost")
    details = ("prompt_tokens_details", "completion_tokens_details", "input_tokens_details", "output_tokens_details")
    return {name: usage[name] for name in (*names, *details) if usage.get(name) is not None} or None


OPEN_WEBUI = Envelope(
    name="open_webui",
    description="chats exported from Open WebUI, the branch that is shown",
    detection="a chat with a history of messages that have childrenIds",
    by_turn=True,
    holds=_holds,
    conversations=_conversations,
)

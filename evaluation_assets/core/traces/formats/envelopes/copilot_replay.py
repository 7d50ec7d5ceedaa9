"""What the chat debug view of GitHub Copilot in VS Code exports (`*.chatreplay.json`): prompts with their logs.

A prompt whose logs go on after the user has seen them stands again, with the calls since and the next request.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, plain_message, without
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_PROMPTS, _LOGS = "prompts", "logs"
_REQUEST, _CALL, _ELEMENT = "request", "toolCall", "element"
_MADE_BESIDE = ("title", "summar", "categor")
"""In names of requests that are no answers: for a title, a summary of the conversation, the kind of a prompt. Their
tokens count."""


def is_replay(data: Any) -> bool:
    """Whether a record is such an export."""
    prompts = list(objects_in(at(data, _PROMPTS)))
    return bool(prompts) and all("prompt" in prompt and isinstance(prompt.get(_LOGS), list) for prompt in prompts)


def replayed(data: JsonObject) -> Iterator[Chat]:
    """The conversation of an export."""
    prompts = list(objects_in(data[_PROMPTS]))
    logs = [log for prompt in prompts for log in objects_in(prompt[_LOGS])]
    requests = [object_in(log.get("metadata")) for log in logs if log.get("kind") == _REQUEST]
    first, last = (requests[0], requests[-1]) if requests else ({}, {})
    begins = [True, *(before["prompt"] != after["prompt"] for before, after in pairwise(prompts))]
    record = {
        **without(data, _PROMPTS, "exportedAt", "totalPrompts", "totalLogEntries"),
        "started_at": first.get("startTime"),
        "end_time": last.get("endTime"),
        "model": first_text(last, "model"),
        "tools": first.get("tools"),
        "messages": [
            message
            for prompt, is_new in zip(prompts, begins, strict=True)
            for message in (*_asked(prompt, is_new=is_new), *_logged(prompt))
        ],
    }
    totals = {"prompt": ("totalPrompts", len(prompts)), "log entry": ("totalLogEntries", len(logs))}
    stated = {what: (data[name], read) for what, (name, read) in totals.items() if isinstance(data.get(name), int)}
    yield Chat(record, stated=stated)


def _asked(prompt: JsonObject, *, is_new: bool) -> Iterator[JsonObject]:
    if is_new:
        yield plain_message("user", prompt["prompt"])


def _logged(prompt: JsonObject) -> Iterator[JsonObject]:
    for log in objects_in(prompt[_LOGS]):
        kind, name = first_text(log, "kind"), (first_text(log, "name") or "").lower()
        if kind == _CALL:
            call = {"id": log.get("id"), "name": log.get("tool"), "arguments": log.get("args")}
            yield plain_message("assistant", None, tool_calls=[call])
            yield plain_message("tool", _text(log.get("response")), tool_call_id=log.get("id"), name=log.get("tool"))
        elif kind == _REQUEST:
            about, is_beside = object_in(log.get("metadata")), any(word in name for word in _MADE_BESIDE)
            said = None if is_beside else _text(object_in(log.get("response")).get("message"))
            yield plain_message("assistant", said, usage=about.get("usage"), model=about.get("model"))
        elif kind != _ELEMENT:
            yield {"role": "assistant", "content": [{"type": f"logs[] ({kind})"}]}


def _text(parts: Any) -> str:
    return "".join(map(as_text, list_in(parts))) if isinstance(parts, list) else as_text(parts)

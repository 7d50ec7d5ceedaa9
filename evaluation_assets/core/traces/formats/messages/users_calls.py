"""Calls that a simulated user makes with tools of its own, such as a device that the agent cannot access.

They are context for the agent, and neither calls of it nor clips: they are written into what the user says next.
"""

from collections.abc import Sequence
from typing import Any

from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, object_in, objects_in, without_none
from evaluation_assets.core.traces.trajectories.identity import recorded_id
from evaluation_assets.core.traces.trajectories.model import JsonObject


def with_users_calls(messages: Sequence[Any]) -> tuple[list[Any], list[JsonObject]]:
    """The messages without those of the user's tools, and the user's calls."""
    told: list[Any] = []
    made: list[JsonObject] = []
    lines: list[str] = []
    ids: set[str] = set()
    before: Any = None
    for message in messages:
        role, calls = role_of(message), list(objects_in(at(message, "tool_calls")))
        if role == "user" and calls:
            ids.update(filter(None, (recorded_id(call.get("id")) for call in calls)))
            made += map(_call, calls)
            lines += (f"[on the user's device] {one['name']}({as_text(one['arguments'])})" for one in map(_call, calls))
            message = {key: value for key, value in message.items() if key != "tool_calls"}
        if role == "tool" and (at(message, "requestor") == "user" or not ids.isdisjoint(_answered(message))):
            lines.append(f"[it shows] {as_text(message.get('content'))}")
        elif not lines:
            told.append(message)
        elif role == "user" and not _is_said(message.get("content")):
            pass  # it says more after it has seen what its tools show
        elif role == "user":
            told.append(_with_lines(message, before=lines))
            lines = []
        else:
            told += [*_shown(told, lines, at(before, "timestamp")), message]
            lines = []
        before = message
    return [*told, *_shown(told, lines, None)], made


def _call(call: JsonObject) -> JsonObject:
    inner = {**object_in(call.get("function")), **without_none(call)}
    name = inner.get("name")
    return {"name": name if isinstance(name, str) else "unnamed", "arguments": inner.get("arguments")}


def _answered(message: JsonObject) -> set[str]:
    return {one for key in ("tool_call_id", "id") if (one := recorded_id(message.get(key))) is not None}


def _is_said(content: Any) -> bool:
    return bool(content.strip() if isinstance(content, str) else content)


def _shown(told: list[Any], lines: Sequence[str], time: Any) -> list[JsonObject]:
    """A message of the user with these lines; none if the last message is one of it, which then has them."""
    if lines and told and role_of(told[-1]) == "user":
        told[-1] = _with_lines(told[-1], after=lines)
        return []
    return [_with_lines({"timestamp": time}, before=lines)] if lines else []


def _with_lines(message: JsonObject, before: Sequence[str] = (), after: Sequence[str] = ()) -> JsonObject:
    """A message of the user with lines before and after what it says."""
    said = message.get("content")
    if isinstance(said, list):
        did, shown = ([{"type": "text", "text": "\n".join(lines)}] if lines else [] for lines in (before, after))
        return {**message, "content": [*did, *said, *shown]}
    text = "\n".join([*before, *([said] if isinstance(said, str) else []), *after])
    return {**without_none(message), "role": "user", "content": text}

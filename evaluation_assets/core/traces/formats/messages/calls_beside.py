"""Calls in a list beside the messages of a record, which have only what came back, or what the agent said in the end.

{"messages": [{"role": "user", "content": "Is order 17 paid?"}, {"role": "tool", "content": "paid"}, ...],
 "tool_calls": [{"name": "look_up", "arguments": {"order": 17}}]}
"""

from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.messages.acts import act_in
from evaluation_assets.core.traces.formats.messages.chat import MADE, role_of
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, list_in, object_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

LISTS = ("tool_calls", "toolCalls", "function_calls", "tools_called", "toolsCalled", "tool_uses", "tool_executions")
"""Fields of a record that may hold calls which were made."""


def with_calls_beside(data: JsonObject, messages: list[Any]) -> tuple[JsonObject, list[Any]]:
    """A record without its list of calls, and its messages with them; both unchanged if it is not known where.

    It is known if there is a call for each message of a tool, or if the agent has only answered after all of them.
    """
    name = next((name for name in LISTS if list_in(data.get(name))), None)
    calls = [act_in(object_in(call)) for call in list_in(data.get(name or ""))]
    acts = [{**act, "id": act["id"] or f"call {number}"} for number, act in enumerate(calls) if act is not None]
    if not acts or len(acts) < len(calls) or any(map(_has_calls, messages)):
        return data, messages
    roles = list(map(role_of, messages))
    if roles.count("tool") == len(acts):
        placed = list(_answered(messages, acts))
    elif "tool" not in roles and roles[-1:] == ["assistant"] and roles.count("assistant") == 1:
        placed = [*messages[:-1], *(message for act in acts for message in _called(act)), messages[-1]]
    else:
        return data, messages
    return {key: value for key, value in data.items() if key != name}, placed


def _has_calls(message: Any) -> bool:
    parts = list_in(at(message, "content"))
    return any(at(message, name) for name in MADE) or any("call" in str(at(part, "type")) for part in parts)


def _answered(messages: Sequence[Any], acts: Sequence[JsonObject]) -> Iterator[Any]:
    """The messages, with a call before each message of a tool."""
    waiting = iter(acts)
    for message in messages:
        if role_of(message) == "tool":
            act = next(waiting)
            yield _call(act)
            failed = {"error": act["error"]} if act["error"] else {}
            yield {**failed, **message, "tool_call_id": act["id"]}
        else:
            yield message


def _called(act: JsonObject) -> Iterator[JsonObject]:
    yield _call(act)
    if act["shown"] is not None:
        shown = {"content": as_text(act["shown"]), "tool_call_id": act["id"], "error": act["error"]}
        yield {"role": "tool", **without_none(shown)}


def _call(act: JsonObject) -> JsonObject:
    call = {key: act[key] for key in ("id", "name", "arguments")}
    return {"role": "assistant", "content": "", "tool_calls": [call]}

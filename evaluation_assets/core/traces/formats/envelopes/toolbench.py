"""Answers of ToolBench: the search of an agent for an answer, with the conversation that led to the one it chose; and
answers converted for its evaluation, which have what was done in the order in which it was done.
"""

import re
from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.envelopes.envelope import Chat, Envelope, plain_message, without
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import (
    as_object,
    at,
    list_in,
    object_in,
    objects_in,
    printed_value,
)
from evaluation_assets.core.traces.trajectories.model import JsonObject

_DETAILS = "answer_details"
_CUT = re.compile(
    r"\{'name': '(?P<name>[^']*)', "
    r"(?:'arguments': '(?P<given>.*?)(?:', 'response': '(?P<shown>.*))?|[a-z':]*)(?<!\})\Z",
    re.DOTALL,
)
"""A printed call that is cut off, as in the answers that come with ToolBench."""


def _chosen(data: Any) -> list[Any]:
    """The messages up to the last call: each call has a conversation of its own, which ends with it."""
    *_, last = list_in(at(at(data, "answer_generation"), "train_messages")) or [[]]
    return list_in(last)


def _is_converted(data: Any) -> bool:
    details = list_in(at(at(data, "answer"), _DETAILS))
    return bool(details) and all("role" in node and "next" in node for node in map(object_in, details))


def _conversations(data: JsonObject) -> Iterator[Chat]:
    if _is_converted(data):
        yield _converted(data)
        return
    answer = object_in(data["answer_generation"])
    record = {
        "task": answer.get("query"),
        "tools": answer.get("function"),
        "termination_reason": answer.get("finish_type"),
        "messages": _chosen(data),
        **without(answer, "query", "function", "finish_type", "train_messages", "chain", "query_count", "final_answer"),
    }
    requests = answer.get("query_count")
    yield Chat(record, requests=requests if isinstance(requests, int) else None)


def _converted(data: JsonObject) -> Chat:
    answer = object_in(data["answer"])
    nodes = list(_nodes(answer[_DETAILS]))
    steps, others = answer.get("total_steps"), without(data, "query", "available_tools", "answer")
    cut = sum(_CUT.match(printed) is not None for node in nodes if (printed := _printed_in(node)) is not None)
    final = answer.get("final_answer")
    stated = {"step": (steps, len(nodes))} if isinstance(steps, int) and steps > len(nodes) else {}
    return Chat(
        {
            "task": data.get("query"),
            "tools": data.get("available_tools"),
            "messages": [message for number, node in enumerate(nodes) for message in _messages(node, f"step {number}")],
            "final_answer": at(as_object(final), "final_answer") or final,
            **others,
            **without(answer, _DETAILS, "total_steps", "final_answer"),
        },
        stated=stated | {"full text": (cut, 0)},
    )


def _nodes(details: Any) -> Iterator[JsonObject]:
    """What was done, in order: each step has those after it inside."""
    waiting = list(objects_in(details))[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += list(objects_in(node.get("next")))[::-1]


def _printed_in(node: JsonObject) -> str | None:
    """A call with its result as Python prints them, if a step has them so."""
    return said if node["role"] == "tool" and isinstance(said := node.get("message"), str) else None


def _act(text: str) -> Any:
    """The call in a printed one, which may be cut off."""
    cut = _CUT.match(text)
    if cut is None:
        return printed_value(text)
    given, shown = (printed_value(f"'{part}'") if part else None for part in cut.group("given", "shown"))
    return {"name": cut["name"], "arguments": given, "response": shown}


def _messages(node: JsonObject, place: str) -> Iterator[JsonObject]:
    """A step as messages: of a call that and what came back."""
    role, printed = node["role"], _printed_in(node)
    act = object_in(node.get("message") if printed is None else _act(printed))
    if "name" not in act:
        yield plain_message(role, as_text(node.get("message")))
        return
    call = {"id": place, "name": act["name"], "arguments": act.get("arguments")}
    yield plain_message("assistant", None, tool_calls=[call])
    if act.get("response"):
        yield plain_message("tool", as_text(act["response"]), tool_call_id=place)


TOOLBENCH = Envelope(
    name="toolbench",
    description="ToolBench answers: the conversation that led to the answer chosen, or converted for its evaluation",
    detection="an answer_generation with train_messages, or an answer with answer_details",
    holds=lambda data: bool(_chosen(data)) or _is_converted(data),
    conversations=_conversations,
)

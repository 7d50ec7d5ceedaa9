"""Records that LangGraph makes of a conversation: its state, checkpoints of it, what the nodes of a graph add, and the
messages that it streams.

The states of a run follow each other as it streams them, each with all messages so far, and as its history lists them,
the newest first.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.conversation import goes_on
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_NO_NODES = frozenset(
    "values state input inputs output outputs expected reference request response result data event run trace example "
    "prediction conversation config metadata".split()
)
"""Fields of other records that hold an object with messages."""


def state_of(data: Any) -> Any:
    """A record whose `values` are the state that a checkpoint holds; any other record unchanged."""
    holder = at(data, "checkpoint") or data
    values = at(holder, "channel_values")
    if not isinstance(values, dict):
        return data
    others = {key: value for key, value in data.items() if key not in ("checkpoint", "channel_values")}
    kept = {} if holder is data else {key: value for key, value in holder.items() if key != "channel_values"}
    return {**kept, **others, "values": values}


def streamed(data: Any) -> Any:
    """The message, or the piece of one, that a graph streams with what is known of it; any other record unchanged."""
    is_pair = isinstance(data, list) and len(data) == 2 and "langgraph_node" in object_in(data[1])
    return data[0] if is_pair else data


def messages_in(data: Any) -> list[Any]:
    """The messages of a list, a state, a checkpoint or a record that has one."""
    if isinstance(data, list):
        return data
    record = object_in(state_of(data))
    holders = (record, object_in(record.get("values")))
    return next((messages for one in holders if isinstance(messages := one.get("messages"), list)), [])


def added_in(data: Any, is_message: Callable[[Any], bool]) -> list[Any]:
    """The messages that nodes of a graph add, by the name of the node; none of any other record."""
    nodes = list(object_in(data).values())
    if not nodes or not _NO_NODES.isdisjoint(data) or not all(node is None or isinstance(node, dict) for node in nodes):
        return []
    added = [message for node in nodes for message in _added(object_in(node))]
    return added if added and all(map(is_message, added)) else []


def _added(node: JsonObject) -> Iterator[Any]:
    messages = node.get("messages")
    yield from [messages] if isinstance(messages, dict) else list_in(messages)


def is_other_state(one: Any, other: Any) -> bool:
    """Whether two records are states of one run: their messages have IDs, and one has all messages of the other."""
    first, second = messages_in(one), messages_in(other)
    if not all(first_text(message, "id") for message in (*first, *second)):
        return False
    return goes_on(first, second) or goes_on(second, first)


def fullest(states: Sequence[Any]) -> Any:
    """The state with the most messages."""
    return max(states, key=lambda state: len(messages_in(state)))

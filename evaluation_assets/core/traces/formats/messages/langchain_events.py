"""Events that LangChain streams (`astream_events`, the mode `events` of LangGraph) as the messages of their run.

The last event of a run has its state, if that has messages. Else they are those that the first model was given, what
models answered, and what tools gave.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_KINDS = ("chain", "chat_model", "llm", "tool", "retriever", "prompt", "parser")
_MOMENTS = ("start", "stream", "end", "error")
_NAMES = frozenset(f"on_{kind}_{moment}" for kind in _KINDS for moment in _MOMENTS)


def is_event(data: Any) -> bool:
    """Whether a record is an event of a stream."""
    name = first_text(data, "event")
    return name in _NAMES and {"run_id", "data"} <= object_in(data).keys()


def is_same_run(earlier: Any, later: Any) -> bool:
    """Whether two events are of one run: the same run is the first of their parents, or one of them itself."""
    one, other = _root(earlier), _root(later)
    return one is None or other is None or one == other


def state_of_run(events: Sequence[JsonObject]) -> JsonObject:
    """The messages of a run as a record."""
    root = _root(events[0])
    ended = [event for event in events if event["event"] == "on_chain_end" and event["run_id"] == root]
    state = next((messages for event in ended if (messages := _messages_in(_data(event).get("output")))), [])
    starts = [(event, messages) for event in events if (messages := _given(event))]
    of_models = [messages for event, messages in starts if event["event"] == "on_chat_model_start"]
    given = next(iter([*of_models, *(messages for _, messages in starts)]), [])
    prompts = [message for message in given if first_text(message, "type", "role") == "system"]
    messages = [*prompts, *state] if state else [*given, *_produced(events)]
    metadata = object_in(events[0].get("metadata"))
    return {
        "run_id": root,
        "thread_id": metadata.get("thread_id"),
        "messages": [_typed(message) for message in messages],
    }


def _root(event: Any) -> str | None:
    """The run that an event belongs to; older versions do not name it but in its own events."""
    parents = at(event, "parent_ids")
    if not isinstance(parents, list):
        return None
    return first_text({"id": parents[0]}, "id") if parents else first_text(event, "run_id")


def _data(event: JsonObject) -> JsonObject:
    return object_in(event.get("data"))


def _given(event: JsonObject) -> list[Any]:
    return _messages_in(_data(event).get("input")) if event["event"].endswith("_start") else []


def _messages_in(value: Any) -> list[Any]:
    """The messages of a state, or of the batch of one that a model is given."""
    messages = list_in(at(value, "messages"))
    nested = [message for batch in messages if isinstance(batch, list) for message in batch]
    return [message for message in nested or messages if isinstance(message, dict)]


def _produced(events: Sequence[JsonObject]) -> Iterator[JsonObject]:
    ended = {event["run_id"] for event in events if event["event"] in ("on_chat_model_end", "on_llm_end")}
    for event in events:
        kind, data = event["event"], _data(event)
        if kind in ("on_chat_model_end", "on_llm_end"):
            yield from _answers(data.get("output"))
        elif kind == "on_chat_model_stream" and event["run_id"] not in ended:
            yield from objects_in([data.get("chunk")])
        elif kind in ("on_tool_end", "on_tool_error"):
            yield _result(event, data, failed=kind == "on_tool_error")


def _answers(output: Any) -> Iterator[JsonObject]:
    """The message that a model answered; older versions have it among generations."""
    batches = list_in(at(output, "generations"))
    generated = [each for batch in batches for each in objects_in(batch if isinstance(batch, list) else [batch])]
    if generated:
        yield from objects_in(
            [each.get("message") or {"type": "ai", "content": each.get("text")} for each in generated]
        )
    elif isinstance(output, dict):
        yield output


def _result(event: JsonObject, data: JsonObject, *, failed: bool) -> JsonObject:
    output = data.get("error") if failed else data.get("output")
    if isinstance(output, dict) and "content" in output and not failed:
        return output
    shown = {"type": "tool", "name": event.get("name"), "content": as_text(output)}
    call_id = first_text(data, "tool_call_id") or first_text(event, "tool_call_id")
    return {**shown, **({"tool_call_id": call_id} if call_id else {}), **({"status": "error"} if failed else {})}


def _typed(message: JsonObject) -> JsonObject:
    """A message with its role as its type, as in the input of a graph."""
    if "type" in message or not isinstance(role := message.get("role"), str):
        return message
    types = {"user": "human", "assistant": "ai"}
    return {**{key: value for key, value in message.items() if key != "role"}, "type": types.get(role, role)}

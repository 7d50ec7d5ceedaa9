"""LangChain agent executor results, LangGraph messages, and LangSmith run trees.

A run tree is nested (`child_runs`) or flat, with one run per line in any order and `parent_run_id`; for flat exports,
only incomplete traces are held in memory; of batches that clients send, all are.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, UnusableRecord, any_record
from evaluation_assets.core.traces.formats.context import Context, context_of, merged
from evaluation_assets.core.traces.formats.conversation import (
    Conversation,
    confirmed,
    grouped,
    joined,
    record_of,
    trajectory_from,
)
from evaluation_assets.core.traces.formats.endings import LIMIT
from evaluation_assets.core.traces.formats.isolation import usable
from evaluation_assets.core.traces.formats.messages.chat import events_of, system_of
from evaluation_assets.core.traces.formats.messages.langchain_events import is_event, is_same_run, state_of_run
from evaluation_assets.core.traces.formats.messages.langgraph_records import (
    added_in,
    fullest,
    is_other_state,
    messages_in,
    state_of,
    streamed,
)
from evaluation_assets.core.traces.formats.messages.langsmith_batches import Batches, is_batch
from evaluation_assets.core.traces.formats.messages.langsmith_runs import (
    QUESTIONS,
    Traces,
    flat_trace,
    is_flat,
    is_run,
    nested_trace,
    set_copies_aside,
    text_in,
)
from evaluation_assets.core.traces.formats.messages.message_chunks import joined_chunks
from evaluation_assets.core.traces.formats.messages.message_lists import are_messages
from evaluation_assets.core.traces.formats.pauses import error_of_run
from evaluation_assets.core.traces.formats.readers.smolagents import is_action
from evaluation_assets.core.traces.formats.transcript import Asked, Call, Event, Result, Said, as_text, one_line
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import (
    as_object,
    at,
    first_text,
    object_in,
    objects_in,
    printed_value,
    without_none,
)
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

NAME = "langchain"
DESCRIPTION = (
    "LangChain agent results (intermediate_steps), LangGraph messages, streamed events, LangSmith run trees, nested, "
    "flat or as batches"
)
DETECTION = (
    "records with intermediate_steps, messages of type human and ai, events of runs (on_chain_start), "
    "runs with run_type, inputs and outputs, or batches of runs (post, patch)"
)

_MESSAGE_CLASSES = {"Human": "human", "AI": "ai", "System": "system", "Tool": "tool", "Function": "tool", "Chat": "ai"}
_ROLES = ("human", "ai", "system", "tool", "function", "AIMessageChunk")
_MESSAGE_TYPES = frozenset(("human", "ai", "AIMessageChunk"))
_STOPPED = "Agent stopped due to"
"""Start of the output of a run that the executor cut off."""

_REPR = re.compile(
    r"tool=(?P<tool>'[^']*'|\"[^\"]*\"),? tool_input=(?P<input>.*?),? log=(?P<log>'.*'|\".*\")", re.DOTALL
)
"""An action that was written to JSON as its Python repr."""

_ACTION = re.compile(r"^[ \t]*(?:Action\s*\d*\s*:|Invoking: |```)", re.MULTILINE)
"""Separates the reasoning of a log from the call."""

_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason")
"""Why a model stopped, in the metadata of its response, as different providers name it."""

_UNNAMED = "unnamed"
_DEEPEST = 200


def _has_steps(record: Any) -> bool:
    """Whether a record is the result of an executor; runs of smolagents on GAIA name their steps so, too."""
    steps = at(record, "intermediate_steps")
    return isinstance(steps, list) and not are_messages(steps) and not any(map(is_action, objects_in(steps)))


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per result, conversation or trace."""
    for file in files:
        runs, batches = Traces(file), Batches()
        for group in grouped([file], _belongs):
            if isinstance(group, Rejection):
                yield group
                continue
            for record in group if len(group) == 1 else [joined(group)]:
                if is_batch(record.data):
                    batches.add(record)
                    continue
                complete = runs.add(record) if is_flat(record.data) else record
                if complete is not None:
                    yield usable(complete, partial(trajectory_of, unmapped))
        for record in batches.traces(unmapped):
            yield usable(record, partial(trajectory_of, unmapped))


def trajectory_of(unmapped: UnmappedFields, record: Record) -> Trajectory:
    """Build the trajectory of a record.

    Raises:
        UnusableRecord: the record has none of the supported shapes, or no agent message or tool call.
    """
    data = record_of(_plain(_as_one(record.data)))
    if isinstance(messages := data.get("messages"), list):
        data = {**data, "messages": joined_chunks(messages)}
    with unmapped.reading(data) as fields:
        if runs := fields.objects("runs"):
            return trajectory_from(NAME, *flat_trace(runs, unmapped))
        if is_run(data):
            return trajectory_from(NAME, *nested_trace(fields, unmapped))
        if "intermediate_steps" in fields:
            return _result(fields)
        return _conversation(fields, unmapped)


# Results of executors


def _result(fields: Fields) -> Trajectory:
    asked = text_in(fields, QUESTIONS)
    output = text_in(fields, ("output", "answer", "result", "return_values"))
    stopped = output is not None and output.startswith(_STOPPED)
    events: list[Event] = list(events_of(fields.objects("chat_history")))
    if asked:
        events.append(Asked(text=asked))
    for step in fields.items("intermediate_steps"):
        made = list(_acted(*_step(step)))
        if not any(isinstance(event, Said) and event.calls and event.calls[0].name != _UNNAMED for event in made):
            fields.note_unknown("intermediate_steps")
        events += made
    if output:
        events.append(Said(message=output))
    context = context_of(fields)
    answer = Context(final_answer=None if stopped else output, task=asked, cut_off=stopped)
    return trajectory_from(NAME, Conversation(events=tuple(events)), merged(context, answer))


def _step(step: Any) -> tuple[Any, Any]:
    """The action and observation of a step, given as a pair or an object."""
    if isinstance(step, list) and step:
        return step[0], step[1] if len(step) > 1 else None
    if isinstance(step, dict) and "action" in step:
        return step["action"], step.get("observation")
    return step, None


def _acted(action: Any, observation: Any) -> Iterator[Event]:
    if isinstance(action, str):
        action = _printed_action(action)
    if not isinstance(action, dict):
        return
    log = action.get("log")
    thought = _thought_in(log) if isinstance(log, str) else None
    tool = action.get("tool")
    name = tool if isinstance(tool, str) and tool else _UNNAMED
    yield Said(thought=thought, calls=(Call(name=name, arguments=action.get("tool_input")),))
    if observation is not None:
        content = observation.get("content", observation) if isinstance(observation, dict) else observation
        yield Result(content=as_text(content))


def _printed_action(text: str) -> JsonObject:
    match = _REPR.search(text)
    if match is None:
        return {"tool": _UNNAMED, "tool_input": text}
    return {name: _literal(match[group]) for name, group in (("tool", "tool"), ("tool_input", "input"), ("log", "log"))}


def _literal(text: str) -> Any:
    value = printed_value(text)
    return value if isinstance(value, str | dict | list | int | float) else text


def _thought_in(log: str) -> str | None:
    """The reasoning in an agent's log: the text before the call, without its label."""
    said = (
        log.partition("responded: ")[2] if log.lstrip().startswith("Invoking: ") else _ACTION.split(log, maxsplit=1)[0]
    )
    return said.strip().removeprefix("Thought:").strip() or None


# Messages


def _conversation(fields: Fields, unmapped: UnmappedFields) -> Trajectory:
    values = fields.object("values")
    messages = fields.objects("messages") or values.objects("messages")
    if not messages:
        raise UnusableRecord("no_trajectory_text", "the record has no messages, no intermediate_steps and no run")
    models = [message.object("response_metadata").text("model_name", "model") for message in messages]
    for message in messages:
        set_copies_aside(message)
    conversation = Conversation(events=tuple(events_of(messages)), system=system_of(messages))
    broken = _error_in(fields)
    stopped = broken is not None and LIMIT.search(broken) is not None
    ended = Context(cut_off=stopped, failure=None if stopped else broken)
    known = Context(id=_thread_of(fields), model=next(filter(None, models), None))
    context = merged(context_of(fields), known, ended)
    return trajectory_from(NAME, confirmed(unmapped, conversation, each_counted=True), context)


def _thread_of(fields: Fields) -> str | None:
    """The thread that a state is of, which has all its messages."""
    if "values" not in fields:
        return None
    return fields.name("thread_id") or first_text(at(fields.peek("config"), "configurable"), "thread_id")


def _error_in(fields: Fields) -> str | None:
    """The error of a task of a state, or of a thread; an interrupt is none."""
    if "values" not in fields:
        return None
    told = [task.text("error") for task in fields.objects("tasks")]
    if fields.text("status") == "error":
        told.append(fields.text("error") or fields.object("error").text("message", "error") or "error")
    return next((one_line(error) for each in told if (error := error_of_run(each)) is not None), None)


# Shapes


def _plain(value: Any, depth: int = 0) -> Any:
    """Unwrap serialised LangChain objects, and parse inputs that were exported as text."""
    if depth > _DEEPEST:
        raise UnusableRecord("bad_json", f"values are nested more than {_DEEPEST} levels deep")
    if isinstance(value, list):
        return [_plain(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("kwargs"), dict) and isinstance(name := value.get("id"), list) and "lc" in value:
        return _plain(_typed(value["kwargs"], name), depth + 1)
    if value.get("type") in _ROLES and isinstance(value.get("data"), dict):
        return _plain({**value["data"], "type": value["type"]}, depth + 1)
    if value.get("type") in _ROLES and isinstance(value.get("additional_kwargs"), dict):
        value = _lifted(value)
    if isinstance(value.get("run_type"), str):
        parsed = {key: as_object(value.get(key)) for key in ("inputs", "outputs", "extra")}
        value = value | without_none(parsed)
    return {key: _plain(item, depth + 1) for key, item in value.items()}


def _lifted(message: JsonObject) -> JsonObject:
    """A message with the fields that older providers put in `additional_kwargs`."""
    beside = message["additional_kwargs"]
    metadata = object_in(message.get("response_metadata"))
    lifted = {key: beside[key] for key in ("reasoning_content", "tool_calls", "function_call") if beside.get(key)}
    if (reason := first_text(metadata, *_REASONS)) is not None:
        lifted["finish_reason"] = reason
    if "usage_metadata" not in message:
        counted = next((metadata[key] for key in ("usage", "token_usage") if metadata.get(key)), None)
        lifted |= {"usage": counted} if counted else {}
    if message.get("tool_calls"):
        lifted.pop("function_call", None)
    return lifted | {
        key: value for key, value in message.items() if key != "additional_kwargs" and value not in (None, [])
    }


def _typed(fields: JsonObject, name: list[Any]) -> JsonObject:
    """The fields of a serialised object; for messages, with their type."""
    last = str(name[-1]) if name else ""
    kind = next((kind for start, kind in _MESSAGE_CLASSES.items() if last.startswith(f"{start}Message")), None)
    return fields if kind is None else {**fields, "type": kind}


def _is_message(data: Any) -> bool:
    if not isinstance(data, dict) or "role" in data:
        return False
    if "lc" in data and isinstance(name := data.get("id"), list) and name:
        return str(name[-1]).removesuffix("Chunk").endswith("Message")
    kind = data.get("type")
    return (
        isinstance(kind, str) and kind in _MESSAGE_TYPES and ("content" in data or isinstance(data.get("data"), dict))
    )


def _as_one(data: Any) -> Any:
    """What belongs to one conversation, as its messages or as a record that has them."""
    if events := [one for one in (data if isinstance(data, list) else [data]) if is_event(one)]:
        return state_of_run(events)
    data = [streamed(one) for one in data] if isinstance(streamed(data), list) else streamed(data)
    records = [data] if isinstance(data, dict) else data
    if isinstance(records, list) and (added := [message for one in records for message in added_in(one, _is_line)]):
        return added
    if isinstance(data, list) and any(map(messages_in, data)):
        return state_of(fullest(data))
    return state_of(data)


def _belongs(earlier: Any, later: Any) -> bool:
    """Whether a record continues the last: single messages, what nodes of a graph add, or states of one run."""
    if is_event(earlier) or is_event(later):
        return is_event(earlier) and is_event(later) and is_same_run(earlier, later)
    if _is_line(earlier) or _is_line(later):
        return _is_line(earlier) and _is_line(later)
    if added_in(earlier, _is_line):
        return bool(added_in(later, _is_line))
    return is_other_state(earlier, later)


def _is_line(data: Any) -> bool:
    """Whether a value is a message; those of tools and systems look like records of other formats on their own."""
    data = streamed(data)
    if _is_message(data):
        return True
    if not isinstance(data, dict) or "role" in data or data.get("type") not in _ROLES:
        return False
    return "content" in data or isinstance(data.get("data"), dict)


detect = any_record(
    lambda record: (
        _has_steps(record)
        or is_run(record)
        or is_event(record)
        or is_batch(record)
        or _is_message(record)
        or any(map(_is_message, messages_in(record)))
        or bool(added_in(record, _is_line))
    )
)

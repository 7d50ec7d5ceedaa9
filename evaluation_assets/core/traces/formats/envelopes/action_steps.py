"""Runs as lists of actions, each with what came back, as many agents and evaluations write them.

    {"task": "Is order 17 paid?", "steps": [{"thought": "...", "action": "look_up", "action_input": {"order": 17},
    "observation": "paid"}], "final_answer": "It is paid."}

Names differ: actions are objects or names beside arguments, or calls under `tools_called` (DeepEval), `tool_calls`
(Azure AI evaluations) and `predicted_trajectory` (Vertex AI). What was expected, or offered, is no action. A list may
also be one of events that say their kind.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from evaluation_assets.core.traces.formats.base import UnusableRecord
from evaluation_assets.core.traces.formats.context import context_of
from evaluation_assets.core.traces.formats.envelopes.asked import answers_in, asked_at_start, asked_in
from evaluation_assets.core.traces.formats.envelopes.child_steps import with_child_steps
from evaluation_assets.core.traces.formats.envelopes.envelope import (
    OF_DOCUMENT,
    PARTS,
    Chat,
    Envelope,
    plain_message,
    without,
)
from evaluation_assets.core.traces.formats.envelopes.exchanges import AGENT, USER, with_exchanges
from evaluation_assets.core.traces.formats.envelopes.paired_lists import with_steps
from evaluation_assets.core.traces.formats.envelopes.step_acts import (
    BESIDE,
    LISTS_OF_CALLS,
    NUMBERS,
    OUTCOMES,
    acts_of,
    has_result,
    with_answers,
    with_results,
)
from evaluation_assets.core.traces.formats.envelopes.step_rows import run_of_row, run_with_steps
from evaluation_assets.core.traces.formats.envelopes.turn_rows import conversation_of, with_turns
from evaluation_assets.core.traces.formats.messages.acts import CODE, RESULTS, THOUGHTS, TOOLS
from evaluation_assets.core.traces.formats.messages.call_arguments import ARGUMENTS
from evaluation_assets.core.traces.formats.messages.chat import meaning_of
from evaluation_assets.core.traces.formats.messages.typed_events import (
    CALLS,
    are_events,
    messages_of,
    others_in,
    outcome_in,
    requests_in,
    without_streamed,
    wordless_in,
)
from evaluation_assets.core.traces.formats.run_usage import states_usage
from evaluation_assets.core.traces.formats.stated import ANSWERS
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, first_text, in_both_cases, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_LISTS = (
    "steps", "trajectory", "history", "actions", "episodes", "predicted_trajectory", "tools_called", "toolsCalled",
    "actual_tool_calls", "tool_calls", "toolCalls", "tools_used", "tool_uses", "intermediate_steps", "iterations",
    "tool_invocations", "toolInvocations", "rounds", "agent_steps", "calls", "trace",
)  # fmt: skip
_EVENTS = (
    *_LISTS, "events", "turns", "transcript", "log", "logs", "messages", "conversation", "dialogue", "dialog", "chat",
    "utterances", "exchanges", "interactions",
)  # fmt: skip
_RENAMED = {
    "expectedOutput": "expected_output", "reference": "expected_output", "completion_time": "duration_s",
    "completionTime": "duration_s", "duration_seconds": "duration_s", "latency_ms": "duration_ms",
    "tool_definitions": "tools",
}  # fmt: skip
_WORDS = ("message", "content", "text", "llm_output", "llm_response", "model_output")
_AGENTS = ("agent_name", "agent")
_SURE = ("tool", "tool_name", "toolName", "func_name", "action", "observation", "observations")
_OTHER_LISTS = re.compile("step|traject|action|tool|trace|execut|interact|histor|act", re.IGNORECASE)
_NOT_MADE = re.compile(
    "expect|gold|truth|refer|defin|avail|offer|schema|example|predict|metric|score|eval|check|plan|child|sub|test",
    re.IGNORECASE,
)
"""Other names of lists that may be of actions, and what says that these were not made in the run."""
_OF_STEPS = ("action", "tool", "tool_name", "step", "step_number", "step_id")
"""What tells that a record is a step itself, and the actions in it are not all of a run."""
_UNSURE = ("input", "inputs", "parameters", "params", "args", "arguments", "kwargs", "action", *CODE)
"""What the steps of any program may have."""
_LOGGED = ("level", "levelname", "log_level", "loglevel", "severity")
_LEVELS = frozenset("trace debug info notice warn warning error critical fatal".split())
"""What a line of a program's log has: a trace in it is one of functions."""
_FINAL = (*in_both_cases("final_answer", "final_response", "final_output"), "answer", "response", "reply")
_TELLING = ("stop", "finish", "answer", "final_answer", "send_msg_to_user")
_WHEN = frozenset(("timestamp", "time", "ts", "at", "id", *NUMBERS))
_OFFERED = ("parameters", "input_schema", "inputSchema")


def _holds(data: Any) -> bool:
    return (
        _list_of(_with_list(object_in(data))) is not None
        or _is_exchange_with_calls(data)
        or _did_nothing(object_in(data))
    )


def _with_list(data: JsonObject) -> JsonObject:
    return with_steps(with_exchanges(with_child_steps(data)))


def _did_nothing(data: JsonObject) -> bool:
    """Whether a record is a run with an outcome in which the agent made no step."""
    is_empty = any(data.get(name) == [] for name in _LISTS) and asked_in(data) is not None
    return is_empty and context_of(Fields(data)).success is not None


def _list_of(data: JsonObject) -> str | None:
    """The name of the list in a record: one of events, or of actions the one that has most results."""
    asked = asked_in(data)
    listed = ((name, list_in(data.get(name))) for name in _EVENTS)
    spoken = (name for name, items in listed if are_events(items, is_asked=asked is not None) or _are_exchanges(items))
    if (name := next(spoken, None)) is not None:
        return name
    is_logged = any(str(data.get(key)).lower() in _LEVELS for key in _LOGGED)
    known = _results_by_list(data, _LISTS[:-2] if is_logged else _LISTS, asked)
    name = max(known, key=lambda name: known[name], default=None)
    if name is not None:
        is_told = asked is not None or (name in LISTS_OF_CALLS and bool(answers_in(data)))
        return name if known[name] > 0 or is_told else None
    others = [key for key in data if _OTHER_LISTS.search(key) and not _NOT_MADE.search(key)]
    is_step = any(key in data for key in _OF_STEPS)
    results = {} if asked is None or is_logged or is_step else _results_by_list(data, others, asked)
    name = max(results, key=lambda name: results[name], default=None)
    return name if name is not None and results[name] > 0 else None


def _results_by_list(data: JsonObject, names: Iterable[str], asked: Any) -> dict[str, int]:
    """How many actions have a result in each of these lists that is one of actions."""
    return {
        name: sum(any(map(has_result, acts_of(step))) for step in list_in(data.get(name)))
        for name in names
        if _are_steps(data.get(name), asked, are_calls="tool" in name or name == "calls")
    }


def _run_of(row: Any) -> str | None:
    """The run of a step, or the conversation of a turn, that is a record of its own."""
    if (conversation := conversation_of(row)) is not None and (_is_exchange_with_calls(row) or not _holds(row)):
        return conversation
    if _is_exchange_with_calls(row):
        return OF_DOCUMENT
    return None if _holds(row) or "hook_event_name" in object_in(row) else run_of_row(row)


def _is_exchange_with_calls(item: Any) -> bool:
    """Whether a record is what a user asked and what an agent did and answered."""
    return _are_exchanges([item]) and any(isinstance(item.get(name), list) for name in LISTS_OF_CALLS)


def _are_exchanges(items: list[Any]) -> bool:
    """Whether each item of a list is what a user asked and what an agent answered, or has nothing but one of these."""
    asked, said = ([bool(first_text(item, *names)) for item in items] for names in (USER, AGENT))
    return (
        any(asked)
        and any(said)
        and all(
            (has_asked and has_said) or ((has_asked or has_said) and len(item.keys() - _WHEN - {*LISTS_OF_CALLS}) == 1)
            for item, has_asked, has_said in zip(items, asked, said, strict=True)
        )
    )


def _are_steps(steps: Any, asked: Any, *, are_calls: bool) -> bool:
    """Whether all items of a list are actions, or thoughts and words among them.

    What only has a name, an input and an output may be a step of anything, unless the list is one of calls by its name,
    or there was something `asked`.
    """
    items = with_results(list_in(steps))
    if not items or not all(isinstance(item, dict) and not _is_message(item) for item in items):
        return False
    if any(at(at(item, name), "type") == "object" or "$ref" in item for item in items for name in _OFFERED):
        return False
    acted = [any(True for _ in acts_of(item)) for item in items]
    names = [
        name for name in (*_SURE, *CALLS, *LISTS_OF_CALLS, *THOUGHTS, *ARGUMENTS, *CODE) if asked or name not in _UNSURE
    ]
    if not are_calls and not any(name in item for item in items for name in names):
        return False
    return any(acted) and all(
        is_act or first_text(item, *THOUGHTS, *_WORDS) is not None or _says_nothing(item)
        for is_act, item in zip(acted, items, strict=True)
    )


def _says_nothing(item: JsonObject) -> bool:
    """Whether a step has no words and no objects but its number, time and tokens, as one in which an agent waited."""
    return all(
        not value or not isinstance(value, str | list | dict) or key in _WHEN or key == "usage"
        for key, value in item.items()
    )


def _is_message(item: JsonObject) -> bool:
    """Whether an item has the role of a chat message that is not of an agent."""
    role = item.get("role")
    return "role" in item and not (isinstance(role, str) and meaning_of(role) not in ("user", "system", "tool"))


def _conversations(data: JsonObject) -> Iterator[Chat]:
    exchanges = data.get(PARTS) or [data]
    if PARTS in data and all(conversation_of(row) is not None for row in exchanges):
        data = with_turns(exchanges)
    elif all(map(_is_exchange_with_calls, exchanges)):
        data = {"turns": exchanges}
    elif PARTS in data:
        data = run_with_steps(data[PARTS])
        if not _holds(data):
            raise UnusableRecord("no_trajectory_text", "the rows of the run are not all steps of an agent")
    data = _with_list(data)
    name = _list_of(data)
    answers = answers_in(data)
    asked, answered = asked_in(data), next(iter(answers), None)
    agent = first_text(data, *_AGENTS)
    steps = with_results(list(objects_in(data.get(name or ""))))
    if name in LISTS_OF_CALLS and any(key in data for key in BESIDE):
        steps, data = with_answers(steps, data), without(data, *BESIDE)
    has_events = are_events(steps, is_asked=asked is not None)
    steps = without_streamed(steps) if has_events else steps
    told = None if has_events or answered else _told_with_the_last(steps)
    if told is not None and not any(map(has_result, acts_of(steps[-1]))):
        steps = [*steps[:-1], without(steps[-1], *TOOLS, *CODE, *ARGUMENTS)]
    is_spoken = has_events or _are_exchanges(steps)
    if is_spoken:
        exchanged = (message for n, step in enumerate(steps) for message in _exchanged(step, f"step {n}"))
        messages = list(messages_of(steps) if has_events else exchanged)
        asked = None if any(message["role"] == "user" for message in messages) else asked or asked_at_start(steps)
    else:
        acted = (_messages(step, f"step {n}", _agent_of(step) or agent) for n, step in enumerate(steps))
        messages = [message for each in acted for message in each]
    messages = [*([] if asked is None else [plain_message("user", asked[1])]), *messages]
    answer = first_text(data, answered or "") or told
    if answer is not None and messages[-1].get("content") != answer:
        messages.append(plain_message("assistant", answer, name=agent))
    others = without(data, name or "", *(asked or ())[:1], *filter(None, (answered, *_AGENTS)))
    record = {_RENAMED.get(key, key): value for key, value in others.items()}
    unknown = others_in(steps) if has_events else {}
    if has_events:
        record = outcome_in(steps) | record
        record |= {f"{name}[] ({kind})": events for kind, events in unknown.items()}
        record.setdefault("model", next((model for step in steps if (model := first_text(step, "model"))), None))
    numbers = [number for step in steps if (number := _number_of(step)) is not None]
    missing = sum(max(0, after - before - 1) for before, after in pairwise(numbers))
    shown = sum(any(map(step.get, RESULTS)) and not any(True for _ in acts_of(step)) for step in steps)
    results = sum(message["role"] == "tool" for message in messages)
    stated = {
        "step": (len(numbers) + missing, len(numbers)),
        "result": (results + (0 if is_spoken else shown), results),
    }
    if unread := requests_in(unknown):
        stated["request"] = (unread, 0)
    if wordless := sum(map(states_usage, wordless_in(unknown))):
        stated[ANSWERS] = ((counted := sum(map(states_usage, messages))) + wordless, counted)
    if not is_spoken and (counted := sum(map(states_usage, steps))):
        stated[ANSWERS] = (len(steps), counted)
    yield Chat({**record, "final_answer": answer, "messages": messages}, stated=stated)


def _number_of(step: JsonObject) -> int | None:
    return next((step[name] for name in NUMBERS if type(step.get(name)) is int), None)


def _told_with_the_last(steps: list[JsonObject]) -> str | None:
    """The answer that the last step is, or that its action gives in brackets, as those of WebArena: `stop [paid]`."""
    act = next(acts_of(steps[-1]), None) if steps else None
    if act is None:
        return first_text(steps[-1], *_FINAL) if steps else None
    if act["name"].lower() not in _TELLING or not isinstance(act["arguments"], str):
        return None
    return act["arguments"].strip(" \"'") or None


def _agent_of(step: JsonObject) -> str | None:
    """The agent that made a step, which may be its role."""
    role = first_text(step, "role")
    return first_text(step, *_AGENTS) or (
        role if role is not None and meaning_of(role) == role != "assistant" else None
    )


def _exchanged(step: JsonObject, place: str) -> Iterator[JsonObject]:
    """What a user asked, the calls of the agent with their results, and its answer."""
    if (asked := first_text(step, *USER)) is not None:
        yield plain_message("user", asked)
    made = {name: step[name] for name in LISTS_OF_CALLS if name in step}
    called = {} if made else {name: step[name] for name in ("tools",) if any(map(has_result, _acts_in(step, name)))}
    lists = (name for name in _LISTS if name not in LISTS_OF_CALLS)
    steps = next((name for name in lists if _are_steps(step.get(name), True, are_calls=False)), "")
    if made or called:
        yield from _messages(made or {LISTS_OF_CALLS[0]: called["tools"]}, place, None)
    for number, inner in enumerate(step.get(steps) or ()):
        yield from _messages(inner, f"{place}.{number}", None)
    if (said := first_text(step, *AGENT)) is not None:
        yield {**without(step, *USER, *AGENT, *LISTS_OF_CALLS, *called, steps), **plain_message("assistant", said)}


def _acts_in(step: JsonObject, name: str) -> Iterator[JsonObject]:
    """The calls in a list of a step."""
    return acts_of({LISTS_OF_CALLS[0]: list(objects_in(step.get(name)))})


def _messages(step: JsonObject, place: str, agent: str | None) -> Iterator[JsonObject]:
    """What an agent thought, said and did in a step, and what came back."""
    calls = [{**act, "id": act["id"] or f"{place} {number}"} for number, act in enumerate(acts_of(step))]
    thought = first_text(step, *THOUGHTS) or first_text(at(step, "action"), *THOUGHTS)
    arguments = (call["arguments"] for call in calls if isinstance(call["arguments"], dict))
    given = [key for given in arguments for key in given if step.get(key) == given[key]]
    read = (
        *given, *CALLS, *CODE, *THOUGHTS, *_WORDS, *TOOLS, *ARGUMENTS, *RESULTS, *LISTS_OF_CALLS, *OUTCOMES, *_AGENTS,
        *NUMBERS,
    )  # fmt: skip
    step = {
        key: value for key, value in step.items() if key not in BESIDE or not calls or not any(map(has_result, calls))
    }
    said = plain_message("assistant", first_text(step, *_WORDS), reasoning_content=thought, name=agent)
    made = [{key: call[key] for key in ("id", "name", "arguments")} for call in calls]
    yield {**without(step, *read), "usage": step.get("usage"), **said, **({"tool_calls": made} if made else {})}
    for call in calls:
        if call["shown"] is not None:
            yield plain_message("tool", as_text(call["shown"]), tool_call_id=call["id"], error=call["error"])


ACTION_STEPS = Envelope(
    name="action_steps",
    description="runs as lists of actions with their arguments and results, such as steps or tools_called",
    detection="a list (steps, trajectory, tools_called, events, ...) of objects that each name an action or tool, or "
    "their kind (user, tool_call, tool_result, ...); or steps or turns with the ID of their run",
    by_turn=True,
    holds=_holds,
    part_of=_run_of,
    conversations=_conversations,
)

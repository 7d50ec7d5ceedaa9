"""What a record states of its run under names of its own, compared with what was read of it.

    {"num_tool_calls": 3, "stats": {"message_count": 9, "total_tokens": 500}, "chat_log": [...]}

Calls and tokens have to be the same. Programs mean different things by steps, turns and messages: only more of them
than was read in any sense is a difference.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evaluation_assets.core.traces.formats.messages.call_arguments import ARGUMENTS
from evaluation_assets.core.traces.formats.messages.chat import role_of
from evaluation_assets.core.traces.formats.messages.several_runs import runs_told
from evaluation_assets.core.traces.formats.run_usage import HOLDERS, TOKENS_GIVEN, TOKENS_WRITTEN
from evaluation_assets.core.traces.formats.stated import Comparisons
from evaluation_assets.core.traces.formats.untyped import as_number, at, in_both_cases, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.identity import recorded_id
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory, Usage

_DEEPEST, _DIGITS = 2, 16
_COUNT = re.compile(
    "(?:num(?:berof)?|nr|n|totalnumberof|total|countof)?"
    "(toolcall|functioncall|toolinvocation|tooluse|toolerror|failedtoolcall|call|message|step|turn|iteration|token|task|run)"
    "(s?)(count|made|taken|used)?",
)
_CALLS = ("toolcall", "functioncall", "toolinvocation", "tooluse")
_FAILED = ("toolerror", "failedtoolcall")
_VAGUE = ("message", "step", "turn", "iteration")
_RUNS = ("task", "run")
_SESSIONS = in_both_cases("session_id", "conversation_id", "episode_id", "rollout_id", "trajectory_id")
"""What all messages of a run have in common."""
_ACTED = re.compile("step|traject|action|tool|call", re.I)
_BELOW = re.compile("child|^sub|nested|inner", re.I)
"""Names of lists in a step of what a sub-agent did."""
_NOT_ACTED = re.compile(
    "expect|gold|truth|refer|defin|avail|offer|schema|example|predict|metric|score|eval|check", re.I
)
_TOOLS = ("tool", "tool_name", "toolName", "action")
_NAMES = (*_TOOLS, "name", "function")
_SHOWN = ("result", "output", "observation")
_EVENTS = "[] ("
"""In the name of a field with the events of a kind that is not known."""
_BEGUN = re.compile(r"(?:chain|run|agent|task|session|workflow)_(?:start|begin|started)\b", re.I)
"""In the name of a field with events that a run, or a part of it, began with what it was given."""
_TOKENS = ("tokens", "total_tokens", "totalTokens", "tokens_used")
_USAGES = ("usage", "token_usage", "input_tokens", "prompt_tokens")
_READ = ("tool_calls", "toolCalls", "messages", "content", "parts")


def confirm_counts(stated: Comparisons, data: JsonObject, messages: Sequence[Any], read: Trajectory) -> None:
    """Compare the counts of a record with its trajectory, and the calls that stand beside its messages."""
    steps = [step for step in read.steps if step.call is not None]
    others = [
        event
        for key, events in data.items()
        if _EVENTS in key and not _BEGUN.search(key)
        for event in objects_in(events)
    ]
    for what, number in (found for each in (data, *others) for found in _counts_in(each, _DEEPEST)):
        if what in _CALLS and number != sum(step.result is not None for step in steps):  # the last may end the run
            stated.compare("call", number, len(steps))
        elif what in _FAILED:
            _at_least(stated, "failed call", number, sum(step.has_failed for step in steps))
        elif what == "call":  # of tools, or of the model
            _at_least(stated, what, number, max(sum(role_of(each) == "assistant" for each in messages), len(steps)))
        elif what in _VAGUE:
            _at_least(stated, what, number, max(len(messages), len(steps)))
        elif what == "token":
            _confirm_tokens(stated, number, read.usage or Usage())
    for holder in (data, *(object_in(data.get(name)) for name in HOLDERS)):
        _confirm_each(stated, holder, read.usage or Usage())
    sessions = [[recorded_id(message.get(name)) for message in objects_in(messages)] for name in _SESSIONS]
    for told in (*sessions, *runs_told(messages)):
        stated.agree("session of the messages", *told)
    fields = [field for message in messages for field in object_in(message).items()]
    if read.usage is None:
        _at_least(stated, "token", sum(as_number(value) or 0 for key, value in fields if key in _TOKENS), 0)
    below = sum(_acts(list_in(value)) for key, value in fields if _BELOW.search(key))
    _at_least(stated, "call", len(steps) + below + _acts(others), len(steps))
    if read.usage is None:
        _at_least(stated, "request", sum(any(map(event.get, _USAGES)) for event in others), 0)
    within = sum(map(_acts, _lists_in((key, value) for key, value in fields if not _BELOW.search(key))))
    beside = max([within, *map(_acts, _lists_in(data.items()))])
    _at_least(stated, "call", beside, len(steps))


def confirm_runs(stated: Comparisons, data: JsonObject, runs: int, tasks: int) -> None:
    """Compare how many runs, or tasks, a record states with those that were found in it."""
    for what, number in _counts_in(data, _DEEPEST):
        if what in _RUNS and number not in (runs, tasks, runs / (tasks or 1)):
            stated.compare(what, number, tasks if what == "task" else runs)


def _at_least(stated: Comparisons, what: str, number: float, read: int) -> None:
    if number > read:
        stated.compare(what, number, read)


def _confirm_tokens(stated: Comparisons, number: float, used: Usage) -> None:
    if used.input_tokens is None or used.output_tokens is None:
        _at_least(stated, "token", number, 0)
        return
    whole, cached = used.input_tokens + used.output_tokens, (used.cached_tokens or 0) + (used.cache_write_tokens or 0)
    if number and number not in (whole - cached, whole - (used.cached_tokens or 0)):  # 0 is unknown
        stated.compare("token", number, whole)


def _confirm_each(stated: Comparisons, holder: Mapping[str, Any], used: Usage) -> None:
    """Compare the tokens given and written that an object states; some leave cached ones out, and 0 is unknown."""
    cached, stored = used.cached_tokens or 0, used.cache_write_tokens or 0
    given, written = (
        next((number for name in names if (number := as_number(holder.get(name)))), None)
        for names in (TOKENS_GIVEN, TOKENS_WRITTEN)
    )
    if used.input_tokens is None or given not in (used.input_tokens - cached, used.input_tokens - cached - stored):
        stated.compare("input token", given, used.input_tokens)
    stated.compare("output token", written, used.output_tokens)


def _counts_in(data: Mapping[str, Any], depth: int) -> Iterator[tuple[str, float]]:
    """What a record counts, with the numbers: also as texts, and in the objects that may have them."""
    for key, value in data.items():
        match = _COUNT.fullmatch(re.sub("[^a-z]", "", key.lower()))
        digits = value if isinstance(value, str) and value.isdecimal() and len(value) < _DIGITS else None
        number = as_number(value) if digits is None else int(digits)
        is_count = match is not None and bool(match[2] or match[3])
        if match is not None and match[1] == "token":  # others count those of the text
            is_count = match[3] == "used" or "total" in key.lower()
        if match is not None and is_count and number is not None:
            yield match[1], number
        elif isinstance(value, dict) and depth and (key in HOLDERS or depth < _DEEPEST):
            yield from _counts_in(value, depth - 1)


def _lists_in(fields: Iterable[tuple[str, Any]]) -> Iterator[list[Any]]:
    """The lists among the fields of an object that may be of calls which were made, by their names."""
    for key, value in fields:
        if key not in _READ and _EVENTS not in key and _ACTED.search(key) and not _NOT_ACTED.search(key):
            yield list_in(value)


def _acts(items: Sequence[Any]) -> int:
    """How many items of a list are calls: a tool, and what it was given or gave back."""
    return sum(
        "role" not in item
        and any(isinstance(item.get(name), str) for name in _NAMES)
        and (
            any(name in item and at(item[name], "type") != "object" for name in ARGUMENTS)
            or (any(name in item for name in _TOOLS) and any(name in item for name in _SHOWN))
        )
        for item in objects_in(items)
    )

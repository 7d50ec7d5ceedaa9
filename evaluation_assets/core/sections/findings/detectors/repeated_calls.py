"""[repeated_calls] The same call again without new information, and loops of several calls.

Calls of one tool in a row that fail with the same message are a loop, whatever their arguments, but not lookups that
find nothing. So are messages that agents send each other again and again, word for word, without a call or a user in
between. Other calls of the same tool in a row bring no news to one that made something with a number. To ask for a
state until it is another one is none.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from evaluation_assets.core.sections.findings.detector import Detected, Detector, in_message, in_step
from evaluation_assets.core.sections.findings.evidence.absent import found_nothing
from evaluation_assets.core.sections.findings.evidence.course import Course, Message, PlacedStep
from evaluation_assets.core.sections.findings.evidence.effects import may_change_state, may_do_anything
from evaluation_assets.core.suites.call_metrics import Loop, loops, loops_in
from evaluation_assets.core.suites.calls import run_of
from evaluation_assets.core.traces.trajectories.calls import CallKey, call_key

_WAITS = re.compile(r"wait|sleep|poll|status|progress|next|scroll|page|read_output", re.IGNORECASE)
"""Tools that are meant to be called again: the same result is no news, but may be soon."""

_DIGIT = re.compile(r"\d")
_FAILURES = 4
"""Calls in a row that fail in the same way, by which an agent does not learn what is wrong."""

_NOTHING = frozenset({"", "None", "null"})
"""How logs print a message that has no text beside its calls."""


def _detect(course: Course) -> Iterator[Detected]:
    """Repetitions within a turn: what a user says in between is new information."""
    calls = course.calls
    in_loops: set[int] = set()
    failing: set[int] = set()
    for stretch in _failures_in_a_row(calls):
        failing.update(stretch)
        made = calls[stretch[_FAILURES - 1]]
        yield in_step("loop", made, made.result_span)
    for loop in loops(run_of(course.trajectory).calls):
        if loop.start + loop.length not in failing and not _waited_for_news(calls, loop):
            again = calls[loop.start + loop.length]
            yield in_step("loop", again, again.arguments_span)
        in_loops.update(range(loop.start, loop.start + loop.length * loop.repeats))
    earlier: dict[CallKey, PlacedStep] = {}
    news, turn, first_of_row = -1, 0, 0
    for index, made in enumerate(calls):
        if made.call.name != calls[first_of_row].call.name:
            first_of_row = index
        if made.turn != turn:
            turn, news, first_of_row = made.turn, index - 1, index
        key = call_key(course.trajectory, made.step)
        before = earlier.get(key)
        is_new = before is None or (
            before.clip <= news
            and (before.clip < first_of_row or may_do_anything(made.call) or not _DIGIT.search(made.result))
        )
        if before is not None and not is_new and index not in in_loops and _brings_nothing(before, made):
            yield in_step("repeated_call", made, made.arguments_span)
        if made.step.has_succeeded and may_change_state(made.call):
            # The same call right after this one is a repetition all the same.
            news = index - 1
        earlier[key] = made
    yield from _loops_of_messages(course)


def _waited_for_news(calls: Sequence[PlacedStep], loop: Loop) -> bool:
    """Whether a call of a loop that waits for something brings something else after it, in the same turn."""
    end = loop.start + loop.length * loop.repeats
    waiting = {
        call_key(made.trajectory, made.step): made.result.split()
        for made in calls[loop.start : loop.start + loop.length]
        if _WAITS.search(made.call.name)
    }
    later = (made for made in calls[end:] if made.turn == calls[loop.start].turn) if waiting else ()
    return any(
        made.result.split() != waiting[key]
        for made in later
        if (key := call_key(made.trajectory, made.step)) in waiting
    )


def _failures_in_a_row(calls: Sequence[PlacedStep]) -> Iterator[range]:
    """Where calls of one tool in a turn fail one after the other with the same message."""
    ways = groupby(range(len(calls)), lambda index: _failure(calls[index]))
    for way, indices in ways:
        run = list(indices)
        if way is not None and len(run) >= _FAILURES:
            yield range(run[0], run[-1] + 1)


def _failure(made: PlacedStep) -> tuple[int, str, str] | None:
    """How a call failed, if its result says so. Waiting for something is no failure, and programs fail alike."""
    message = " ".join(made.result.split())
    is_meant = _WAITS.search(made.call.name) is not None or may_do_anything(made.call)
    if made.step.has_succeeded or not message or is_meant or found_nothing(made):
        return None
    return made.turn, made.call.name, message


def _loops_of_messages(course: Course) -> Iterator[Detected]:
    said: list[Message] = []
    for event in [*course.events, None]:
        if isinstance(event, Message):
            said.append(event)
        if isinstance(event, Message) or (isinstance(event, PlacedStep) and event.step.call is None):
            continue
        for loop in loops_in([(message.agent_id, message.text.strip()) for message in said]):
            again = said[loop.start + loop.length]
            if again.text.strip() not in _NOTHING:
                yield in_message("loop", again, (0, len(again.text)))
        said.clear()


def _brings_nothing(before: PlacedStep, again: PlacedStep) -> bool:
    if _WAITS.search(again.call.name):
        return False
    return again.step.result is None or before.result.split() == again.result.split()


DETECTOR = Detector(name="repeated_calls", version="6", kinds=("repeated_call", "loop"), detect=_detect)

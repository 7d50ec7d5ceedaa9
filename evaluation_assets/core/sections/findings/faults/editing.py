"""Edits of trajectories that keep text, spans, tree and totals consistent, and every other byte as it is."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from evaluation_assets.core.sections.findings.evidence.course import Course, PlacedStep
from evaluation_assets.core.sections.findings.faults.operator import NotApplicable
from evaluation_assets.core.traces.trajectories.model import Interaction, Span, Step, ToolCall, Trajectory, Usage

_CLOSING = re.compile(r"\s*</[\w.\-]+\s*>\r?\n?")


@dataclass(frozen=True, slots=True)
class Edit:
    """`text[start:end]`, which is not empty, becomes `by`."""

    start: int
    end: int
    by: str


def edited(trajectory: Trajectory, edits: Iterable[Edit]) -> Trajectory:
    """The trajectory with pieces of its text replaced, and all spans moved along.

    Raises:
        NotApplicable: a span starts or ends within a replaced piece.
    """
    ordered = sorted(edits, key=lambda edit: edit.start)

    def moved(position: int) -> int:
        by = 0
        for edit in ordered:
            if edit.start < position < edit.end:
                raise NotApplicable("the text to change is only partly in a step, call or message")
            by += len(edit.by) - (edit.end - edit.start) if edit.end <= position else 0
        return position + by

    pieces, position = [], 0
    for edit in ordered:
        pieces += [trajectory.text[position : edit.start], edit.by]
        position = edit.end
    text = "".join([*pieces, trajectory.text[position:]])
    return replace(with_steps(trajectory, lambda at: [_moved(at.step, moved)]), text=text)


def with_steps(trajectory: Trajectory, changed: Callable[[PlacedStep], Sequence[Step]]) -> Trajectory:
    """The trajectory with other steps in place of each; an interaction without steps is removed.

    Totals of tokens, cost and time change by what the steps add or take; a total that cannot be known is `None`.
    """
    positions = iter(Course(trajectory).steps)
    turns = []
    for turn in trajectory.turns:
        parts = []
        for part in turn.interactions:
            steps = tuple(step for at in (next(positions) for _ in part.steps) for step in changed(at))
            if steps:
                parts.append(_with_totals(part, steps))
        turns.append(replace(turn, interactions=tuple(parts)))
    after = replace(trajectory, turns=tuple(turns))
    before, now = list(trajectory.steps), list(after.steps)
    seconds = None if trajectory.duration_s is None else _latency(1000 * trajectory.duration_s, before, now)
    is_same = len(before) == len(now)
    return replace(
        after,
        usage=_usage(trajectory.usage, before, now),
        duration_s=trajectory.duration_s if is_same else seconds and seconds / 1000,
    )


def with_call(trajectory: Trajectory, index: int, changed: Callable[[ToolCall], ToolCall]) -> Trajectory:
    """The trajectory with another call in the step that has this `index`."""
    return with_steps(
        trajectory,
        lambda at: [
            replace(at.step, call=changed(at.step.call)) if at.order == index and at.step.call is not None else at.step
        ],
    )


def moved_by(step: Step, by: int) -> Step:
    """The step at a later or earlier position of the text.

    Raises:
        NotApplicable: a part of the step is before the step, as with calls that were made together.
    """
    call, result = step.call, step.result
    for span in (step.thought, step.message, call and call.raw, result and result.content):
        if span is not None and span[0] < step.start:
            raise NotApplicable("a step has a part before its start")
    return _moved(step, lambda position: position + by)


def call_start(trajectory: Trajectory, at: PlacedStep) -> int:
    """Where the text of a step's call begins: after the user's message, the reasoning and the message in the step."""
    step = at.step
    if step.call is None or step.call.raw[0] < step.start:
        raise NotApplicable("the step has no call of its own")
    ends = [span[1] for span in (step.thought, step.message) if span is not None and span[1] <= step.call.raw[0]]
    asked = trajectory.turns[at.turn].user_message
    if asked and not ends and (begin := trajectory.text.find(asked, step.start, step.call.raw[0])) >= 0:
        ends.append(begin + len(asked))
    if not ends:
        return step.start
    closing = _CLOSING.match(trajectory.text, max(ends), step.call.raw[0])
    return max(ends) if closing is None else closing.end()


def user_message_end(trajectory: Trajectory, turn: int) -> int:
    """Where the text of a turn's user message ends; where the turn begins if the text does not have the message."""
    first = next(at.step for at in Course(trajectory).steps if at.turn == turn)
    asked = trajectory.turns[turn].user_message or ""
    begin = trajectory.text.find(asked, first.start, first.end)
    if not asked or begin < 0:
        return first.start
    closing = _CLOSING.match(trajectory.text, begin + len(asked), first.end)
    return begin + len(asked) if closing is None else closing.end()


def _moved(step: Step, moved: Callable[[int], int]) -> Step:
    def span(own: Span | None) -> Span | None:
        return None if own is None else (moved(own[0]), moved(own[1]))

    call, result = step.call, step.result
    return replace(
        step,
        start=moved(step.start),
        end=moved(step.end),
        thought=span(step.thought),
        message=span(step.message),
        call=None if call is None else replace(call, raw=(moved(call.raw[0]), moved(call.raw[1]))),
        result=None
        if result is None
        else replace(result, content=(moved(result.content[0]), moved(result.content[1]))),
    )


def _with_totals(part: Interaction, steps: tuple[Step, ...]) -> Interaction:
    before = part.steps
    if len(before) == len(steps):
        return replace(part, steps=steps)
    return replace(
        part,
        steps=steps,
        usage=_usage(part.usage, before, steps),
        latency_ms=None if part.latency_ms is None else _latency(part.latency_ms, before, steps),
    )


_COUNTED = ("input_tokens", "cached_tokens", "cache_write_tokens", "cache_write_1h_tokens", "output_tokens", "cost_usd")


def _usage(total: Usage | None, before: Sequence[Step], after: Sequence[Step]) -> Usage | None:
    if total is None or len(before) == len(after):
        return total
    known = {}
    for name in _COUNTED:
        value = getattr(total, name)
        old, new = ([getattr(step.usage, name) for step in steps if step.usage] for steps in (before, after))
        is_reported = any(each is not None for each in old)
        difference = sum(filter(None, new)) - sum(filter(None, old))
        known[name] = None if value is None or not is_reported else max(0, value + difference)
    usage = replace(total, **known)
    return replace(usage, is_list_price=total.is_list_price and usage.cost_usd is not None)


def _latency(total_ms: float, before: Sequence[Step], after: Sequence[Step]) -> float | None:
    if any(step.latency_ms is None for step in (*before, *after)):
        return None
    difference = sum(step.latency_ms or 0 for step in after) - sum(step.latency_ms or 0 for step in before)
    return max(0.0, total_ms + difference)

"""Faults of calls: repeated, failed and ignored, missing, of another tool."""

import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import orjson

from evaluation_assets.core.sections.findings.evidence.course import Course, PlacedStep
from evaluation_assets.core.sections.findings.faults.editing import (
    Edit,
    call_start,
    edited,
    moved_by,
    with_call,
    with_steps,
)
from evaluation_assets.core.sections.findings.faults.operator import Changed, NotApplicable
from evaluation_assets.core.sections.findings.finding import Place
from evaluation_assets.core.suites.effects import changes_state
from evaluation_assets.core.traces.trajectories.calls import call_key
from evaluation_assets.core.traces.trajectories.failures import failure_in
from evaluation_assets.core.traces.trajectories.model import Span, Step, Trajectory, json_object

_ERRORS = (
    "the request timed out after 30 seconds",
    "permission denied",
    "internal server error (500), the request was not processed",
    "service unavailable, try again later",
)


def repeated_call(trajectory: Trajectory, random: Random) -> Changed:
    """Insert a copy of a call and its result directly after them."""
    steps = Course(trajectory).steps
    keys = [None if at.step.call is None else call_key(trajectory, at.step) for at in steps]
    answered = [
        at
        for at in steps
        if at.step.call is not None and at.step.result is not None and keys[at.order] not in keys[at.order + 1 :][:1]
    ]
    if not answered:
        raise NotApplicable("no call with a result")
    chosen = random.choice(answered)
    begin, end = call_start(trajectory, chosen), chosen.step.end
    text = trajectory.text[:end] + trajectory.text[begin:end] + trajectory.text[end:]
    copy = _copy(moved_by(chosen.step, end - begin), end, trajectory)

    def changed(at: PlacedStep) -> list[Step]:
        if at.order == chosen.order:
            return [at.step, copy]
        return [at.step if at.order < chosen.order else moved_by(at.step, end - begin)]

    place = replace(chosen.place((copy.start, copy.end)), step=chosen.number + 1)
    return Changed(
        trajectory=replace(with_steps(trajectory, changed), text=text), place=place, origin=chosen.place((begin, end))
    )


def _copy(step: Step, start: int, trajectory: Trajectory) -> Step:
    call = step.call
    assert call is not None
    used = {each.call.id for each in trajectory.calls if each.call is not None}
    again = next(name for number in range(2, len(used) + 3) if (name := f"{call.id}-{number}") not in used)
    return replace(
        step, start=start, thought=None, message=None, call=replace(call, id=None if call.id is None else again)
    )


def ignored_error(trajectory: Trajectory, random: Random) -> Changed:
    """Make a result an error. What the agent did next stays, as if nothing had happened."""
    steps = Course(trajectory).steps
    successes = [
        (at, at.step.result.content)
        for at in steps[:-1]
        if at.step.call is not None
        and at.step.result is not None
        and at.step.result.error is None
        and at.step.result.content[0] < at.step.result.content[1]
    ]
    if not successes:
        raise NotApplicable("no successful call with a later step")
    chosen, content = random.choice(successes)
    error = random.choice(_ERRORS)
    is_json = json_object(trajectory.piece(content)) is not None
    text = orjson.dumps({"error": error}).decode() if is_json else f"Error: {error}"
    moved = edited(trajectory, [Edit(*content, text)])

    def changed(at: PlacedStep) -> list[Step]:
        if at.order != chosen.order or at.step.result is None:
            return [at.step]
        return [replace(at.step, result=replace(at.step.result, error=failure_in(text, (0, len(text)))))]

    span = (content[0], content[0] + len(text))
    after = _with_exit_code(with_steps(moved, changed), chosen.step)
    return Changed(trajectory=after, place=chosen.place(span), origin=chosen.place(content))


def _with_exit_code(trajectory: Trajectory, failed: Step) -> Trajectory:
    """The exit code of a command that now fails."""
    codes, call_id = trajectory.extra.get("exit_codes"), failed.call and failed.call.id
    if not isinstance(codes, dict) or codes.get(call_id) is None:
        return trajectory
    return replace(trajectory, extra={**trajectory.extra, "exit_codes": {**codes, call_id: 1}})


def dropped_call(trajectory: Trajectory, random: Random) -> Changed:
    """Remove a call that changes state, and its result. What the agent says about it later stays."""
    steps = Course(trajectory).steps
    last_message = max((at.order for at in steps if at.step.message is not None), default=-1)
    changing = [at for at in steps if at.step.call is not None and changes_state(at.step.call.name)]
    if not changing:
        raise NotApplicable("no call that changes state")
    claimed = [
        at
        for at in changing
        if at.order < last_message
        and (at.step.result is None or at.step.result.error is None)
        and (_keeps_text(at) or _has_next(trajectory, at))
    ]
    if not claimed:
        raise NotApplicable("no successful call that changes state with a later message")
    chosen = random.choice(claimed)
    begin, end = call_start(trajectory, chosen), chosen.step.end
    kept = _keeps_text(chosen)

    def changed(at: PlacedStep) -> list[Step]:
        if at.order < chosen.order:
            return [at.step]
        if at.order == chosen.order:
            return [replace(at.step, end=begin, call=None, result=None)] if kept else []
        moved = moved_by(at.step, begin - end)
        return [replace(moved, start=chosen.step.start) if at.order == chosen.order + 1 and not kept else moved]

    after = replace(with_steps(trajectory, changed), text=trajectory.text[:begin] + trajectory.text[end:])
    place = Place(turn=chosen.turn, interaction=chosen.interaction, agent_id=chosen.agent_id)
    return Changed(trajectory=after, place=place, origin=chosen.place((begin, end)))


def _keeps_text(at: PlacedStep) -> bool:
    """Whether the step has reasoning or a message, which stay."""
    return at.step.thought is not None or at.step.message is not None


def _has_next(trajectory: Trajectory, at: PlacedStep) -> bool:
    return at.number + 1 < len(trajectory.turns[at.turn].interactions[at.interaction].steps)


def swapped_tool(trajectory: Trajectory, random: Random) -> Changed:
    """Name another tool of the agent in a call."""
    calls = Course(trajectory).calls
    if not calls:
        raise NotApplicable("no call")
    random.shuffle(calls)
    called = sorted({(step.call.name, step.call.server) for step in trajectory.calls if step.call}, key=str)
    for chosen in calls:
        name, server = chosen.call.name, chosen.call.server
        given = [tool.name for agent in trajectory.agents if agent.id == chosen.agent_id for tool in agent.tools or ()]
        others = sorted({*given, *(other for other, of in called if of == server)} - {name})
        if others:
            return _swapped(trajectory, chosen, random.choice(others))
    raise NotApplicable("the agents have no other tool")


def _swapped(trajectory: Trajectory, chosen: PlacedStep, other: str) -> Changed:
    edits = [Edit(start, end, other) for start, end in _names(trajectory, chosen)]
    moved = edited(trajectory, edits)
    after = with_call(moved, chosen.order, lambda own: replace(own, name=other))
    now = Course(after).steps[chosen.order]
    return Changed(
        trajectory=after,
        place=now.place((call_start(after, now), now.step.end)),
        origin=chosen.place((call_start(trajectory, chosen), chosen.step.end)),
    )


def _names(trajectory: Trajectory, at: PlacedStep) -> Iterator[Span]:
    """Where the text around a call's arguments names its tool."""
    call, result = at.call, at.step.result
    end = at.step.end if result is None else result.content[0]
    named = re.compile(rf"(?<![\w.\-]){re.escape(call.name)}(?![\w.\-])")
    for start, stop in ((call_start(trajectory, at), call.raw[0]), (call.raw[1], end)):
        for match in named.finditer(trajectory.text, start, stop):
            yield match.span()

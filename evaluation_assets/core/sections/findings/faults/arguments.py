"""A wrong argument: a value that the agent was given, replaced by another of the same type."""

from dataclasses import replace
from random import Random
from typing import Any

from evaluation_assets.core.sections.findings.faults.editing import At, Edit, edited, located, with_call
from evaluation_assets.core.sections.findings.faults.operator import Changed, NotApplicable
from evaluation_assets.core.sections.findings.faults.values import (
    ValueType,
    has_value,
    occurrences,
    other_value,
    values_in,
    with_other,
)
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

_MOST_VALUES = 200
"""Values of a run that are tried."""


def wrong_argument(trajectory: Trajectory, random: Random) -> Changed:
    """Replace a value of one call, wherever the call has it. The value occurs before the call, the new one does not."""
    calls = [at for at in located(trajectory) if at.step.call is not None]
    if not calls:
        raise NotApplicable("no call")
    candidates: list[tuple[At, ValueType, str]] = [
        (at, type_, value) for at in calls for type_, value in _values(trajectory, at)
    ]
    random.shuffle(candidates)
    for at, type_, value in candidates[:_MOST_VALUES]:
        assert at.step.call is not None
        before = trajectory.text[: at.step.call.raw[0]]
        if not (has_value(before, value) or has_value(trajectory.task, value)):
            continue
        other = other_value(type_, value, random, trajectory.text)
        if other is not None and (changed := _replaced(trajectory, at, value, other)) is not None:
            return changed
    raise NotApplicable("no argument with a number, date, ID or name that occurs before its call")


def _values(trajectory: Trajectory, at: At) -> dict[tuple[ValueType, str], None]:
    assert at.step.call is not None
    arguments = trajectory.arguments(at.step.call)
    return dict.fromkeys(value for text in _texts(arguments) for value in values_in(text))


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [str(value)] if isinstance(value, str | int | float) and not isinstance(value, bool) else []


def _replaced(trajectory: Trajectory, at: At, value: str, other: str) -> Changed | None:
    call = at.step.call
    assert call is not None
    spans = [
        (call.raw[0] + each.start(), call.raw[0] + each.end()) for each in occurrences(_raw(trajectory, at), value)
    ]
    if not spans:
        return None  # the raw text has the value in another form
    changed = edited(trajectory, (Edit(start, end, other) for start, end in spans))
    if call.arguments is not None:
        arguments = _with_other(call.arguments, value, other)
        changed = with_call(changed, at.index, lambda own: replace(own, arguments=arguments))
    now = next(each.step.call for each in located(changed) if each.index == at.index)
    before: JsonObject | None = trajectory.arguments(call)
    if now is None or changed.arguments(now) in (None, before):
        return None
    start = spans[0][0]
    return Changed(
        trajectory=changed, place=at.place((start, start + len(other))), origin=at.place((start, start + len(value)))
    )


def _raw(trajectory: Trajectory, at: At) -> str:
    assert at.step.call is not None
    return trajectory.piece(at.step.call.raw)


def _with_other(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {key: _with_other(item, old, new) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_other(item, old, new) for item in value]
    if isinstance(value, str):
        return with_other(value, old, new)
    if isinstance(value, int | float) and not isinstance(value, bool) and str(value) == old:
        return type(value)(new)
    return value

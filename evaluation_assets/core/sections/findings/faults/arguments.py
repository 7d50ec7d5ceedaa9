"""A wrong argument: a value that the agent was given, replaced by another of the same type."""

from dataclasses import replace
from random import Random
from typing import Any

from evaluation_assets.core.sections.findings.evidence.course import Course, PlacedStep
from evaluation_assets.core.sections.findings.faults.editing import Edit, edited, with_call
from evaluation_assets.core.sections.findings.faults.operator import Changed, NotApplicable
from evaluation_assets.core.sections.findings.faults.values import (
    ValueType,
    has_value,
    occurrences,
    other_value,
    values_in,
    with_other,
)
from evaluation_assets.core.text.exact_json import is_number
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

_MOST_VALUES = 200
"""Values of a run that are tried."""


def wrong_argument(trajectory: Trajectory, random: Random) -> Changed:
    """Replace a value of one call, wherever the call has it. The value occurs before the call, the new one does not."""
    calls = Course(trajectory).calls
    if not calls:
        raise NotApplicable("no call")
    candidates: list[tuple[PlacedStep, ValueType, str]] = [
        (at, type_, value) for at in calls for type_, value in _values(trajectory, at)
    ]
    random.shuffle(candidates)
    for at, type_, value in candidates[:_MOST_VALUES]:
        before = trajectory.text[: at.call.raw[0]]
        if not (has_value(before, value) or has_value(trajectory.task, value)):
            continue
        other = other_value(type_, value, random, trajectory.text)
        if other is not None and (changed := _replaced(trajectory, at, value, other)) is not None:
            return changed
    raise NotApplicable("no argument with a number, date, ID or name that occurs before its call")


def _values(trajectory: Trajectory, at: PlacedStep) -> dict[tuple[ValueType, str], None]:
    arguments = trajectory.arguments(at.call)
    return dict.fromkeys(value for text in _texts(arguments) for value in values_in(text))


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [str(value)] if isinstance(value, str | int | float) and not isinstance(value, bool) else []


def _replaced(trajectory: Trajectory, at: PlacedStep, value: str, other: str) -> Changed | None:
    call, begin = at.call, at.call.raw[0]
    spans = [(begin + each.start(), begin + each.end()) for each in occurrences(at.arguments_text, value)]
    if not spans:
        return None  # the raw text has the value in another form
    changed = edited(trajectory, (Edit(start, end, other) for start, end in spans))
    if call.arguments is not None:
        arguments = _with_other(call.arguments, value, other)
        changed = with_call(changed, at.order, lambda own: replace(own, arguments=arguments))
    now = Course(changed).steps[at.order].step.call
    before: JsonObject | None = trajectory.arguments(call)
    if now is None or changed.arguments(now) in (None, before):
        return None
    start = spans[0][0]
    return Changed(
        trajectory=changed, place=at.place((start, start + len(other))), origin=at.place((start, start + len(value)))
    )


def _with_other(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {key: _with_other(item, old, new) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_other(item, old, new) for item in value]
    if isinstance(value, str):
        return with_other(value, old, new)
    if is_number(value) and str(value) == old:
        return type(value)(new)
    return value

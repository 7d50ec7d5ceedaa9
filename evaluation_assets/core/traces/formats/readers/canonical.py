"""The project's own format: one canonical trajectory per line, with its text. Writing and reading are lossless."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, fields
from functools import partial
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from evaluation_assets.core.text.faults import faults_of
from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, Sample, UnusableRecord
from evaluation_assets.core.traces.formats.isolation import each_record
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Span, Step, Trajectory

NAME = "canonical"
DESCRIPTION = "Trajectories as agent runs of this project write them: text, turns, interactions, steps with spans"
DETECTION = "records with text, turns, task_id and format"

_ADAPTER = TypeAdapter(Trajectory)
_FIELDS = tuple(field.name for field in fields(Trajectory) if field.name != "source")


def detect(sample: Sample) -> bool:
    """Whether the records are canonical trajectories."""
    return sample.has("id", "task_id", "format", "text", "turns")


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per record."""
    return each_record(files, partial(_trajectory_in, unmapped))


def _trajectory_in(unmapped: UnmappedFields, record: Record) -> Trajectory:
    """Parse the trajectory of a record and count its unmapped fields."""
    # Where a record of another file was read from says nothing about this one.
    data = {key: value for key, value in record.json_object().items() if key != "source"}
    trajectory = trajectory_of(orjson.dumps(data))  # not the raw bytes: they may contain NaN
    for path in _unknown(record.data, orjson.loads(line_of(trajectory)), ""):
        unmapped.count(path)
    return trajectory


def line_of(trajectory: Trajectory) -> bytes:
    """Serialise a trajectory to one line, without where it was read from."""
    return orjson.dumps({name: getattr(trajectory, name) for name in _FIELDS}, option=orjson.OPT_APPEND_NEWLINE)


def trajectory_of(line: bytes) -> Trajectory:
    """Parse the trajectory of a line.

    Raises:
        UnusableRecord: a field is missing or has the wrong type, or the steps do not tile the text.
    """
    try:
        trajectory = _ADAPTER.validate_json(line, strict=True)
    except ValidationError as problem:
        raise UnusableRecord("not_canonical", str(faults_of(problem)[0])) from None
    if not trajectory.text.strip() or not trajectory.task_id.strip():
        raise UnusableRecord("not_canonical", "text or task_id is blank")
    position = 0
    for step in trajectory.steps:
        if step.start != position or not position <= step.end <= len(trajectory.text):
            expected = f"expected to start at {position} and end by {len(trajectory.text)}"
            raise UnusableRecord("not_canonical", f"step {step.start}..{step.end}: {expected}")
        position = step.end
        for (start, end), first in _spans(step):
            if not first <= start <= end <= step.end:
                raise UnusableRecord("not_canonical", f"span {start}..{end} is not within its step")
    for number in _never_negative(trajectory):
        if number is not None and number < 0:
            raise UnusableRecord("not_canonical", f"trial, tokens, cost or duration is negative: {number}")
    if trajectory.trial.bit_length() > 63:
        raise UnusableRecord("not_canonical", "trial has more than 64 bits")
    return trajectory


def _spans(step: Step) -> Iterator[tuple[Span, int]]:
    """The spans of a step, with where each may start: of calls made together, only the first is within its step."""
    for span in (step.thought, step.message, step.result and step.result.content):
        if span is not None:
            yield span, step.start
    if step.call is not None:
        yield step.call.raw, 0


def _never_negative(trajectory: Trajectory) -> Iterator[float | None]:
    yield from (trajectory.trial, trajectory.duration_s)
    for step in trajectory.steps:
        yield step.latency_ms
    for usage in (trajectory.usage, *(step.usage for step in trajectory.steps)):
        if usage is not None:
            yield from astuple(usage)


def _unknown(given: Any, kept: Any, path: str) -> Iterator[str]:
    """Paths of fields that are in the record but not in the trajectory."""
    if given == kept:  # most of a record, compared without a look at each field
        return
    if isinstance(given, Mapping) and isinstance(kept, Mapping):
        for key, value in given.items():
            if key not in kept:
                yield f"{path}{key}"
            else:
                yield from _unknown(value, kept[key], f"{path}{key}.")
    elif isinstance(given, list) and isinstance(kept, list):
        for one, other in zip(given, kept, strict=False):
            yield from _unknown(one, other, f"{path.removesuffix('.')}[].")

"""One record, one trajectory or one rejection: what a reader breaks on stays the fault of one record."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import orjson

from evaluation_assets.core.formats.base import (
    SHOWN,
    DropFile,
    Record,
    Rejection,
    Sample,
    UnreadableDrop,
    UnusableRecord,
)
from evaluation_assets.core.formats.files.records import read_records
from evaluation_assets.core.formats.files.samples import own_files
from evaluation_assets.core.trajectories.model import Trajectory, to_json

_DEEPEST = 150
_TOLD = 300
"""Characters of an exception's message that a rejection tells."""
Made = TypeVar("Made")
RecordsOf = Callable[[DropFile], Iterator[Record | Rejection]]
"""How a format finds the records in one of its files."""


def each_record(
    files: Sequence[DropFile],
    trajectory_of: Callable[[Record], Trajectory],
    records_of: RecordsOf = read_records,
) -> Iterator[Trajectory | Rejection]:
    """One trajectory or one rejection a record, file after file."""
    for file in files:
        for record in records_of(file):
            yield record if isinstance(record, Rejection) else usable(record, trajectory_of)


def each_own_record(
    files: Sequence[DropFile],
    detect: Callable[[Sample], bool],
    name: str,
    trajectory_of: Callable[[Record], Trajectory],
    records_of: RecordsOf = read_records,
) -> Iterator[Trajectory | Rejection]:
    """As `each_record`, over the files that hold the format."""
    for file in own_files(files, detect, name):
        if isinstance(file, Rejection):
            yield file
        else:
            yield from each_record([file], trajectory_of, records_of)


def usable(record: Record, trajectory_of: Callable[[Record], Trajectory]) -> Trajectory | Rejection:
    """The trajectory of a record, or why there is none."""

    def stored(record: Record) -> Trajectory:
        trajectory = trajectory_of(record)
        _check_can_be_stored(trajectory)
        return trajectory

    return attempted(record, stored)


def attempted(record: Record, read: Callable[[Record], Made]) -> Made | Rejection:
    """What is made of a record, or why that is nothing.

    Every reader passes here, with all it does to one record. Records are untrusted, and a reader cannot foresee
    every value in every field: whatever it raises is the fault of this record, is told with it, and stops no other.
    Only a damaged file that a record refers to is more than the record's problem.
    """
    try:
        return read(record)
    except UnusableRecord as problem:
        return record.rejected(problem)
    except UnreadableDrop:
        raise
    except Exception as problem:  # noqa: BLE001 - see above
        return record.rejected(reader_failed(problem))


def reader_failed(problem: Exception) -> UnusableRecord:
    """What a reader raised that no reader should, as the problem of a record."""
    told = " ".join(str(problem)[:SHOWN].split())[:_TOLD]
    return UnusableRecord("reader_failed", f"{type(problem).__name__}: {told}")


def _check_can_be_stored(trajectory: Trajectory) -> None:
    """Refuse what no table can hold: half surrogate pairs, integers beyond 64 bits, values nested too deeply."""
    values = [trajectory.labels, trajectory.extra, *_tool_values(trajectory)]
    _check_depth(values)
    try:
        orjson.dumps(values)
        to_json(trajectory)
        trajectory.text.encode()
    except (TypeError, UnicodeEncodeError) as problem:
        raise UnusableRecord("bad_value", f"a value cannot be stored: {str(problem)[:_TOLD]}") from problem


def _check_depth(values: list[Any]) -> None:
    """Refuse what could be stored but not be read again: the JSON parser of stored trajectories ends at 200 levels."""
    for _ in range(_DEEPEST):
        values = [
            child
            for value in values
            if isinstance(value, dict | list)
            for child in (value.values() if isinstance(value, dict) else value)
            if isinstance(child, dict | list)
        ]
        if not values:
            return
    raise UnusableRecord("bad_json", f"values are nested more than {_DEEPEST} levels deep")


def _tool_values(trajectory: Trajectory) -> Iterator[Any]:
    yield from (step.call.arguments for step in trajectory.steps if step.call is not None)
    yield from (tool.parameters for agent in trajectory.agents for tool in agent.tools or ())

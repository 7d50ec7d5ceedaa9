"""Batches of runs that clients send to LangSmith: `post` has runs that begin, `patch` what is known at their end."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from evaluation_assets.core.traces.formats.base import Record
from evaluation_assets.core.traces.formats.conversation import joined
from evaluation_assets.core.traces.formats.times import as_utc
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, first_text, objects_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_TIMES = ("start_time", "end_time")
_BEFORE_ID = "Z"
"""Stands in a `dotted_order` between the time of a run and its ID."""


def is_batch(data: Any) -> bool:
    """Whether a value is a batch of runs."""
    runs = [run for part in ("post", "patch") for run in objects_in(at(data, part))]
    return bool(runs) and all("dotted_order" in run and "trace_id" in run for run in runs)


@dataclass(slots=True)
class _Trace:
    records: list[Record] = field(default_factory=list)
    runs: dict[str, JsonObject] = field(default_factory=dict)


class Batches:
    """Puts the runs of a file's batches together. A run may begin in one batch and end in a later one."""

    def __init__(self) -> None:
        self._traces: dict[str, _Trace] = {}

    def add(self, record: Record) -> None:
        """Add the runs of a batch."""
        for part in ("post", "patch"):
            for run in objects_in(at(record.data, part)):
                trace = self._traces.setdefault(str(run["trace_id"]), _Trace())
                if not trace.records or trace.records[-1] is not record:
                    trace.records.append(record)
                name = first_text(run, "id") or str(run["dotted_order"]).rpartition(_BEFORE_ID)[2]
                known = without_none(_timed(run))
                trace.runs[name] = {**trace.runs.get(name, {}), **known, "id": name}

    def traces(self, unmapped: UnmappedFields) -> Iterator[Record]:
        """Yield each trace as one record with `runs`; runs of which a part is missing are noted."""
        for trace in self._traces.values():
            runs = list(trace.runs.values())
            unmapped.note("unknown_part", "run without its beginning", sum("run_type" not in run for run in runs))
            unmapped.note("unknown_part", "run without its end", sum("end_time" not in run for run in runs))
            yield replace(joined(trace.records), data={"runs": runs})


def _timed(run: JsonObject) -> JsonObject:
    """A run whose times are texts; clients in JavaScript write milliseconds since 1970."""
    numbers = {key: value for key in _TIMES if isinstance(value := run.get(key), int | float)}
    return run | {key: as_utc(value / 1000) for key, value in numbers.items()}

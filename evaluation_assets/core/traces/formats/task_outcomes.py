"""Outcomes of runs by their tasks, in files of results beside those of the runs.

    {"task_id": "order-7", "trial": 1, "success": true}                        a line or item for each run
    {"results": [{"task_id": "order-7", "score": 1.0}], "accuracy": 0.5}       a list of them
    {"order-7": {"success": true}, "order-8": {"success": false}}              by task

The run is the one with this ID of its task, or whose file or folder is named after it or after its `trial_name`.
"""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, UnusableRecord
from evaluation_assets.core.traces.formats.context import Context, context_of
from evaluation_assets.core.traces.formats.files.json_values import as_line
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.repeated_records import TRIALS
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import first_text
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

_DEEPEST = 3


@dataclass(slots=True)
class TaskOutcomes:
    """The rows of files of results, by task and by trial, which is `None` where a row does not name it."""

    _rows: dict[tuple[str, int | None], list[tuple[DropFile, JsonObject]]] = field(default_factory=dict)
    _used: set[tuple[str, int | None]] = field(default_factory=set)

    def add(self, file: DropFile) -> bool:
        """Take the rows of a file, if it has nothing else."""
        found: list[tuple[str, int | None, JsonObject]] = []
        for record in read_records(file.unwatched):
            rows = [] if isinstance(record, Rejection) else list(_rows_in(record.data, _DEEPEST))
            if not rows:
                return False
            found += rows
        for task, trial, data in found:
            self._rows.setdefault((task, trial), []).append((file, data))
        return bool(found)

    def of(self, run: Trajectory) -> tuple[DropFile, JsonObject] | None:
        """The file and row of a run.

        A row that names no trial is of the first run of its task. Several rows of one run say something if they agree.
        """
        if not self._rows:
            return None
        source = "" if run.source is None else run.source.file
        names = (str(run.task_id), posixpath.basename(source).partition(".")[0], *source.split("/")[:-1])
        for key in dict.fromkeys((name, trial) for name in names for trial in (run.trial, None)):
            rows = self._rows.get(key, [])
            if key not in self._used and len({_said(data).success for _, data in rows}) == 1:
                self._used.add(key)
                return max(rows, key=lambda row: len(row[1]))
        return None

    def unused(self) -> Iterator[Rejection]:
        """A rejection of each row that is of no run, or of one that others are of, too."""
        for (task, _), rows in (each for each in self._rows.items() if each[0] not in self._used):
            why = f"no run of task {task!r}" if len(rows) == 1 else f"{len(rows)} outcomes of task {task!r}"
            for number, (file, data) in enumerate(rows, 1):
                yield Record(file.source, number, data, as_line(data)).rejected(
                    UnusableRecord("no_trajectory_text", why)
                )


def _rows_in(value: Any, depth: int) -> Iterator[tuple[str, int | None, JsonObject]]:
    """Rows with the task and trial that each is about; none of a value that has others, too."""
    if isinstance(value, list):
        rows = [list(_rows_in(item, 0)) for item in value]
        yield from (row for each in rows for row in each if all(rows))
        return
    if not isinstance(value, dict):
        return
    if (task := (said := _said(value)).task_id) is not None:
        if _has_outcome(said):
            trial = said.trial if any(name in value for name in TRIALS) else None
            yield first_text(value, "trial_name") or str(task), trial, value
        return
    by_task = {key: each for key, each in value.items() if isinstance(each, dict)}
    if by_task and len(by_task) == len(value) and all(_has_outcome(_said(each)) for each in by_task.values()):
        yield from ((key, None, {"task_id": key, **each}) for key, each in by_task.items())
    elif depth:
        inner = (list(_rows_in(each, depth - 1)) for each in value.values() if isinstance(each, dict | list))
        yield from next(filter(None, inner), [])


def _said(data: JsonObject) -> Context:
    return context_of(Fields(data))


def _has_outcome(said: Context) -> bool:
    return said.success is not None or any(isinstance(each, int | float) for each in said.labels.values())

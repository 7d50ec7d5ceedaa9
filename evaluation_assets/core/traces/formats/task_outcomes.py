"""Outcomes of runs by their tasks, in files of results beside those of the runs.

    {"task_id": "order-7", "trial": 1, "success": true}                        a line or item for each run
    {"results": [{"task_id": "order-7", "score": 1.0}], "accuracy": 0.5}       a list of them
    {"order-7": {"success": true}, "order-8": {"success": false}}              by task

A file is about the runs in its folder and below it, or else in the next folder above that has runs: a task may be in
the folders of several models, with results of each. The run of a row is the one with this ID of its task, or whose
file or folder is named after it or after its `trial_name`; of several, the one of its trial and model, or whose file
has the name of this one.
"""

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, UnreadableDrop, UnusableRecord
from evaluation_assets.core.traces.formats.context import Context, context_of
from evaluation_assets.core.traces.formats.files.json_values import as_line
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.outcome_matching import Place, Row, Run, Scopes, pairs
from evaluation_assets.core.traces.formats.repeated_records import TRIALS
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import first_text, list_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

_DEEPEST = 3


_OF_JUDGES = re.compile("judge|eval|grad(?:e|ing)|review|critic|verif", re.I)
"""Names of files whose model, cost and duration may be those of a judge."""
_STEPS = frozenset("action actions command content message observation role thought tool tool_name".split())
"""Fields of the steps of a run, which a file in a form that no format knows may have."""
_CHECKS = re.compile("check|assert|expect|gold|criteri|rubric", re.I)
"""Names of lists of what was to be done, which are no steps of a run."""


@dataclass(slots=True)
class TaskOutcomes:
    """The rows of files of results, and the runs that they are of."""

    _rows: list[Row] = field(default_factory=list)
    _files: dict[str, DropFile] = field(default_factory=dict)
    _of: dict[Place, list[Row]] = field(default_factory=dict)
    _places: Counter[tuple[str, int]] = field(default_factory=Counter)

    def __bool__(self) -> bool:
        return bool(self._rows)

    def add(self, file: DropFile) -> bool:
        """Take the rows of a file, if it has nothing else."""
        found: list[Row] = []
        for record in read_records(file.unwatched):
            if isinstance(record, Rejection) or has_steps(record.data):
                return False
            rows = list(_rows_in(record.data, _DEEPEST))
            if not rows:
                return False
            found += (_row(file.source, *row) for row in rows)
        self._rows += found
        self._files[file.source] = file
        return bool(found)

    def match(self, items: Iterable[Trajectory | Rejection]) -> None:
        """Find the run of each row among all runs of the drop."""
        places: Counter[tuple[str, int]] = Counter()
        self._of, self._places = {}, Counter()
        try:
            scopes = Scopes([Run.of(item, _place(item, places)) for item in items if isinstance(item, Trajectory)])
        except (UnreadableDrop, OSError):
            raise
        except Exception:  # noqa: BLE001  (the reader failed; the caller reads again, and reports it)
            for row in self._rows:
                row.why = "not all runs could be read that it may be of"
            return
        by_file: dict[str, list[Row]] = defaultdict(list)
        for row in self._rows:
            by_file[row.source].append(row)
        for rows in by_file.values():
            for row, run, is_shifted in pairs(rows, scopes):
                self._of.setdefault(run.place, []).append(row)
                if is_shifted:
                    row.data = {name: value for name, value in row.data.items() if name not in TRIALS}
        for place, rows in list(self._of.items()):
            if _contradict([_said(row.data) for row in rows]):
                del self._of[place]
                for row in rows:
                    row.why = f"{len(rows)} outcomes of task {row.task!r}"

    def of(self, run: Trajectory) -> list[tuple[DropFile, JsonObject]]:
        """The files and rows of the next run, the longest first."""
        rows = self._of.get(_place(run, self._places), [])
        return [(self._files[row.source], row.data) for row in sorted(rows, key=lambda row: -len(row.data))]

    def unused(self) -> Iterator[Rejection]:
        """A rejection of each row that is of no run, may be of several, or contradicts another."""
        numbers: Counter[str] = Counter()
        for row in (row for row in self._rows if row.why):
            numbers[row.source] += 1
            record = Record(row.source, numbers[row.source], row.data, as_line(row.data))
            yield record.rejected(UnusableRecord("no_trajectory_text", row.why))


def has_steps(value: Any, depth: int = 4) -> bool:
    """Whether there is a list of steps in a value, as of a run in a form that no format knows."""
    named = value.items() if isinstance(value, dict) else enumerate(list_in(value))
    inner = [each for name, each in named if not _CHECKS.search(str(name))]
    if isinstance(value, list) and sum(not _STEPS.isdisjoint(item) for item in objects_in(value)) > 1:
        return True
    return depth > 0 and any(has_steps(each, depth - 1) for each in inner if isinstance(each, dict | list))


def is_of_judge(source: str) -> bool:
    """Whether a file is named after a judge, whose model, cost and duration are not those of the run."""
    return _OF_JUDGES.search(posixpath.basename(source)) is not None


def _place(run: Trajectory, seen: Counter[tuple[str, int]]) -> Place:
    file, line = ("", 0) if run.source is None else (run.source.file, run.source.line)
    seen[file, line] += 1
    return file, line, seen[file, line]


def _row(source: str, task: str, data: JsonObject, model: str | None) -> Row:
    said = _said(data)
    stated = None if is_of_judge(source) else said.model or model
    trial = said.trial if any(data.get(name) is not None for name in TRIALS) else None
    return Row(source, (*filter(None, [first_text(data, "trial_name")]), task), trial, stated, data)


def _rows_in(value: Any, depth: int, model: str | None = None) -> Iterator[tuple[str, JsonObject, str | None]]:
    """Rows with the task and model that each is about; none of a value that has others, too."""
    if isinstance(value, list):
        rows = [list(_rows_in(item, 0, model)) for item in value]
        yield from (row for each in rows for row in each if all(rows))
        return
    if not isinstance(value, dict):
        return
    said = _said(value)
    if said.task_id is not None:
        if _has_outcome(said):
            yield str(said.task_id), value, model
        return
    by_task = {key: each for key, each in value.items() if isinstance(each, dict)}
    if by_task and len(by_task) == len(value) and all(_has_outcome(_said(each)) for each in by_task.values()):
        yield from ((key, {"task_id": key, **each}, model) for key, each in by_task.items())
    elif depth:
        for each in value.values():
            yield from _rows_in(each, depth - 1, said.model or model)


def _contradict(said: list[Context]) -> bool:
    """Whether rows of one run have different outcomes or scores."""
    labels: defaultdict[str, list[Any]] = defaultdict(list)
    for each in said:
        for name, value in each.labels.items():
            labels[name].append(value)
    outcomes = {each.success for each in said} - {None}
    return len(outcomes) > 1 or any(value != values[0] for values in labels.values() for value in values)


def _said(data: JsonObject) -> Context:
    return context_of(Fields(data))


def _has_outcome(said: Context) -> bool:
    return said.success is not None or any(isinstance(each, int | float) for each in said.labels.values())

"""Which run each row of a file of results is of, by its task, model and trial; none if it may be of several."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from evaluation_assets.core.traces.formats.list_prices import is_same_model
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

_TRIAL = re.compile(
    r"(trial|run|attempt|seed|sample|epoch|rep|repeat|iter|iteration|rollout|try)?[-_ .#]?(\d{1,4})", re.I
)
"""A folder or file of one trial; without a word, it is in the folder of the task."""
_BY_ID, _BY_FILE, _BY_FOLDER = range(3)
"""How a run is known to be of a task, the surest first."""

Place = tuple[str, int, int]
"""The file and line of a run, and its number among the runs of the line."""


@dataclass(frozen=True, slots=True)
class Run:
    """What is known of a run before its outcome."""

    place: Place
    task_id: str
    trial: int
    models: frozenset[str]

    @staticmethod
    def of(run: Trajectory, place: Place) -> "Run":
        """What is known of a trajectory."""
        models = frozenset(agent.model for agent in run.agents if agent.model)
        return Run(place, str(run.task_id), run.trial, models)

    @property
    def folders(self) -> list[str]:
        """The names of its folders."""
        return self.place[0].split("/")[:-1]

    @property
    def names(self) -> Iterator[tuple[str, int]]:
        """The tasks that it may be of, and by what."""
        yield self.task_id, _BY_ID
        file = posixpath.basename(self.place[0])
        yield from ((file[:at], _BY_FILE) for at, sign in enumerate(file) if sign == ".")
        yield from ((folder, _BY_FOLDER) for folder in self.folders)

    def trial_by_path(self, task: str) -> int | None:
        """The trial that a folder or the file is named after, apart from the one named after the task."""
        parts = [*self.folders, posixpath.basename(self.place[0]).partition(".")[0]]
        at = parts.index(task) if task in parts else -1
        found = [(place, match) for place, part in enumerate(parts) if (match := _TRIAL.fullmatch(part)) is not None]
        return next(
            (int(match[2]) for place, match in reversed(found) if place > at or (match[1] and place < at)), None
        )


@dataclass(slots=True, eq=False)
class Row:
    """A row of a file of results. `names` are those of its trial and its task; `why` says why it is of no run."""

    source: str
    names: tuple[str, ...]
    trial: int | None
    model: str | None
    data: JsonObject
    why: str = ""
    runs: dict[int, list[Run]] = field(default_factory=dict)
    """The runs of its task and model, by their trials."""

    @property
    def task(self) -> str:
        """The task that it is about."""
        return self.names[-1]


def pairs(rows: Sequence[Row], scopes: "Scopes") -> Iterator[tuple[Row, Run, bool]]:
    """The run of each row of one file, and whether the file numbers the trials otherwise than the runs do."""
    for row in rows:
        row.runs = _by_trial(scopes.runs_of(row), row.task)
    of_task: dict[tuple[str, str | None], set[int]] = defaultdict(set)
    for row in rows:
        of_task[row.task, row.model].update([] if row.trial is None else [row.trial])
    stated = {trial for row in rows for trial in row.runs}
    told = {row.trial for row in rows if row.trial is not None and row.runs}
    shift = bool(min(told, default=0)) - bool(min(stated, default=0))  # numbered from 0 or 1
    for row in rows:
        trials = of_task[row.task, row.model]
        found = _found(row, trials, shift, is_stated=any(stated))
        if found is not None:
            yield row, found, bool(row.trial) and shift != 0


def _found(row: Row, trials: set[int], shift: int, *, is_stated: bool) -> Run | None:
    """The run of a row; `None`, with the reason in the row, if none or several may be."""
    candidates = [run for each in row.runs.values() for run in each]
    if not candidates:
        row.why = f"no run of task {row.task!r}"
    elif row.trial is None or (len(candidates) == 1 and len(trials) == 1 and not is_stated):
        if len(candidates) == 1:
            return candidates[0]
        row.why = f"{len(candidates)} runs of task {row.task!r}, and no trial that says which"
    elif shift and {trial - shift for trial in trials} != row.runs.keys():
        row.why = f"the trials of task {row.task!r} are numbered otherwise than its runs"
    elif not is_stated:
        row.why = f"the runs of task {row.task!r} state no trials"
    else:
        found = row.runs.get(row.trial - shift, [])
        if len(found) == 1:
            return found[0]
        row.why = f"{len(found) or 'no'} run{'s' * (len(found) > 1)} of trial {row.trial} of task {row.task!r}"
    return None


def _by_trial(runs: Sequence[Run], task: str) -> dict[int, list[Run]]:
    """The runs of a task by the trials that they state, or else that their folders or files are named after."""
    trials = [run.trial for run in runs]
    named = [run.trial_by_path(task) for run in runs]
    if not any(trials) and len(set(named)) == len(runs):
        trials = [each for each in named if each is not None]
        trials = trials if len(trials) == len(runs) else [0] * len(runs)
    found: dict[int, list[Run]] = defaultdict(list)
    for run, trial in zip(runs, trials, strict=True):
        found[trial].append(run)
    return dict(found)


class Scopes:
    """The runs that files of results may be about.

    They are in the folder of a file or below it, or else in the next folder above that has runs.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self._in_folder: dict[str, list[Run]] = defaultdict(list)
        for run in runs:
            folders = run.folders
            for depth in range(len(folders) + 1):
                self._in_folder["/".join(folders[:depth])].append(run)
        self._named: dict[str, dict[tuple[str, int], list[Run]]] = {}

    def runs_of(self, row: Row) -> list[Run]:
        """The runs of the task of a row and of its model."""
        folder = posixpath.dirname(row.source)
        while folder and folder not in self._in_folder:
            folder = posixpath.dirname(folder)
        if (named := self._named.get(folder)) is None:
            named = self._named[folder] = defaultdict(list)
            for run in self._in_folder.get(folder, []):
                for name in dict.fromkeys(run.names):
                    named[name].append(run)
        ways = ((name, way) for name in row.names for way in (_BY_ID, _BY_FILE, _BY_FOLDER))
        found = next((named[way] for way in ways if way in named), [])
        if row.model is not None:
            found = _of_model(found, row.model)
        name = posixpath.basename(row.source)
        stem = name.partition(".")[0]
        of_name = [run for run in found if stem in run.folders or name == posixpath.basename(run.place[0])]
        return of_name if of_name and len(found) > 1 else found


def _of_model(runs: Sequence[Run], model: str) -> list[Run]:
    """The runs of a model, by their path or as they state it; else those that state none."""
    short = model.rpartition("/")[2]
    exact = [run for run in runs if model in run.models or not {model, short}.isdisjoint(run.folders)]
    alike = [run for run in runs if any(is_same_model(each, model) for each in run.models)]
    return exact or alike or [run for run in runs if not run.models]

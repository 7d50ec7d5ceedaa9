"""Tasks that agents were given, with the runs that passed: those of a drop, or those that a failure group affects.

And the runs of a drop, for suites to be held against them.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from evaluation_assets.core.gating.evaluated_drops import without_damaged
from evaluation_assets.core.pipeline.chosen_runs import trajectories_of
from evaluation_assets.core.pipeline.failure_groups import EvaluatedRuns, evaluated_runs
from evaluation_assets.core.suites.calls import run_of
from evaluation_assets.core.suites.drafts import RecordedTask
from evaluation_assets.core.suites.recorded_expectations import recorded_case
from evaluation_assets.core.suites.recorded_runs import RecordedRun
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of

_Key = tuple[str, str]
"""ID of a task, and its suite, else words of one of its runs: sources number different tasks alike."""

_IDENTITY = ("trajectory_id", "task_id", "task")


def tasks_of_drop(home: Installation, drop: str) -> list[RecordedTask]:
    """The tasks of a drop that a run passed.

    Raises:
        DamagedTable: a table of the drop is damaged.
    """
    tasks: dict[_Key, RecordedTask] = {}
    runs = evaluated_runs(home, drop)
    _read(home, drop, _passing(runs), tasks, lambda task_id, _: (task_id, drop), have_passed=True)
    return _told_apart(tasks)


def tasks_of_group(
    home: Installation, members: Iterable[Mapping[str, Any]], damaged: Callable[[str], object]
) -> list[RecordedTask]:
    """The tasks of these rows of `grouped_findings`, with the passing runs of all drops that are not among them.

    A drop with a damaged table is reported and skipped.
    """
    affected: dict[str, set[str]] = defaultdict(set)
    for member in members:
        affected[member["drop"]].add(member["trajectory_id"])
    tasks: dict[_Key, RecordedTask] = {}
    known: dict[_Key, _Key] = {}

    def add_affected(drop: str) -> None:
        _read(home, drop, affected[drop], tasks, _key_in(home, drop, known), have_passed=False)

    def add_passing(drop: str) -> None:
        key, rows = _key_in(home, drop, known), home.table(drop, "raw_trajectories").rows(_IDENTITY)
        same = {row["trajectory_id"] for row in rows if key(row["task_id"], row["task"]) in tasks} - affected[drop]
        if passing := same & _passing(evaluated_runs(home, drop)):
            _read(home, drop, passing, tasks, key, have_passed=True)

    list(without_damaged(affected, add_affected, damaged))
    list(without_damaged(home.drops_with("findings"), add_passing, damaged))
    return _told_apart(tasks)


def runs_of_drop(home: Installation, drop: str) -> list[RecordedRun]:
    """All runs of a drop, as far as a suite is held against them.

    Raises:
        DamagedTable: a table of the drop is damaged.
    """
    passing = _passing(evaluated_runs(home, drop))
    measured = home.table(drop, "tool_use_results").rows(["trajectory_id", "category"])
    categories = {row["trajectory_id"]: row["category"] for row in measured}
    return [
        RecordedRun(
            task_id=run.task_id,
            task=run.task,
            tools=tuple(step.call.name for step in run.calls if step.call),
            answer=run.final_answer,
            has_passed=run.id in passing,
            category=categories.get(run.id),
        )
        for run in map(trajectory_of, home.table(drop, "raw_trajectories").rows(TREE_AND_TEXT))
    ]


def _passing(runs: EvaluatedRuns) -> set[str]:
    return {run for run, succeeded in runs.successes.items() if succeeded}


def _read(
    home: Installation,
    drop: str,
    wanted: Collection[str],
    tasks: dict[_Key, RecordedTask],
    key: Callable[[str, str], _Key],
    *,
    have_passed: bool,
) -> None:
    for run in trajectories_of(home, drop, wanted, "raw_trajectories"):
        task = RecordedTask(
            id=run.task_id,
            message=run.task,
            reference=run.reference_answer,
            n_turns=len(run.turns),
            recorded=recorded_case(run),
        )
        task = tasks.setdefault(key(run.task_id, run.task), task)
        (task.passing if have_passed else task.failing).append(run_of(run))


def _key_in(home: Installation, drop: str, known: dict[_Key, _Key]) -> Callable[[str, str], _Key]:
    """The keys of the tasks of a drop. `known` has those of drops before by the words of their runs, and gets these.

    Runs of one task in a drop may begin with other words each, as simulated users do.
    """
    if suite := evaluated_runs(home, drop).suite:
        return lambda task_id, _: (task_id, suite)
    worded: dict[str, dict[_Key, None]] = defaultdict(dict)
    for row in home.table(drop, "raw_trajectories").rows(_IDENTITY):
        worded[row["task_id"]][_by_words(row["task_id"], row["task"])] = None
    keys: dict[str, _Key] = {}
    for task_id, own in worded.items():
        keys[task_id] = next((known[each] for each in own if each in known), next(iter(own)))
        known.update(dict.fromkeys(own, keys[task_id]))
    return lambda task_id, task: keys.get(task_id) or _by_words(task_id, task)


def _by_words(task_id: str, task: str) -> _Key:
    return task_id, " ".join(task.split())


def _told_apart(tasks: Mapping[_Key, RecordedTask]) -> list[RecordedTask]:
    """The tasks, each with an ID of its own; a run is then found by the words of its task."""
    used: set[str] = set()
    for (name, words), task in tasks.items():
        task.id = name if name not in used else f"{name} ({digest(words)[:8]})"
        used.add(task.id)
    return list(tasks.values())

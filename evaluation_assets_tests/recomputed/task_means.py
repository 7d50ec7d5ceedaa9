"""Figures of the gate and the history, computed again from the mean of each task.

They compare the drop with other drops, whose files are not read again: what is recomputed are the means over tasks,
from the rows of `task_metrics` and the values in the baseline file. Only the outcomes of the drop are read again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf
from statistics import fmean
from typing import Any, Self

import numpy as np

from evaluation_assets.core.gating.evaluated_drops import baseline_for, metrics_of, without_damaged
from evaluation_assets.core.gating.linked_history import Shift
from evaluation_assets.core.gating.task_metrics import OUTCOMES, RELATIVE, SUCCESS
from evaluation_assets.core.scoring.intervals import mean_of_tasks, share_of_tasks
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.recomputed.figure import Figures, at_place

ByTask = Mapping[str, float]
ByMetric = Mapping[str, ByTask]


@dataclass(frozen=True, slots=True)
class TaskMeans:
    """The metrics of tasks by metric: of the drop and of each drop in its history, and of its baseline, if any.

    `offsets` are what a bridge to the baseline subtracts, by metric; `shifts` what bridges subtract in the history, by
    metric and drop. Both are as the report states them.
    """

    drop: str
    of_drops: Mapping[str, ByMetric]
    baseline: ByMetric | None
    offsets: Mapping[str, float]
    shifts: Mapping[tuple[str, str], Shift]

    @classmethod
    def of(cls, home: Installation, drop: str, report: Mapping[str, Any]) -> Self:
        """Read the metrics of the drops in a report. A drop whose table is gone or damaged is left out.

        Raises:
            InvalidBaseline: the file of the baseline cannot be read.
        """
        in_history = {point["drop"] for trend in report["history"] for point in trend["points"]}
        stored = [name for name in sorted({drop, *in_history}) if home.table(name, "task_metrics").exists]

        def left_out(_: str) -> None:
            """Its figures are missing then, and differ from the report's."""

        of_drops = {
            metrics.drop: {
                name: {task: each.value for task, each in values.items()} for name, values in metrics.metrics.items()
            }
            for metrics in without_damaged(stored, lambda name: metrics_of(home, name), left_out)
        }
        gate = report["gate"]
        accepted = None if gate is None or gate["baseline"] is None else baseline_for(home, drop, gate["suite"])
        baseline = None if accepted is None else {name: each.values for name, each in accepted.metrics.items()}
        bridge = None if gate is None else gate["comparability"].get("linked")
        shifts = {
            (trend["metric"], point["drop"]): Shift(**point["subtracted"])
            for trend in report["history"]
            for point in trend["points"]
            if point.get("subtracted") is not None
        }
        offsets = {} if bridge is None else {name: each["mean"] for name, each in bridge["offsets"].items()}
        return cls(drop, of_drops, baseline, offsets, shifts)


def gate_figures(means: TaskMeans, outcomes: ByTask) -> Figures:
    """The means of both sides over their common tasks. `outcomes` are those of the drop's files, by task."""
    if means.baseline is None:
        return
    current = {**means.of_drops.get(means.drop, {}), SUCCESS: outcomes}
    for metric in sorted({*means.baseline, *current}):
        before, now = means.baseline.get(metric, {}), current.get(metric, {})
        tasks = sorted(before.keys() & now.keys())
        offset = means.offsets.get(metric, 0.0)
        paired = [(before[task], now[task] - offset) for task in tasks]
        found: dict[str, float] = {"n_tasks": len(tasks)}
        if len(tasks) > 1:
            found["baseline"] = fmean(old for old, _ in paired)
            found["current"] = fmean(new for _, new in paired)
            found["difference"] = _difference(metric, paired)
        yield from at_place(("drop", "gate", "metrics", metric), found)


def history_figures(means: TaskMeans, outcomes: ByTask) -> Figures:
    """The mean of each metric over the tasks of each drop, with its interval."""
    for drop, metrics in means.of_drops.items():
        own = {**metrics, SUCCESS: outcomes} if drop == means.drop else metrics
        for metric, by_task in own.items():
            if metric in RELATIVE or not by_task:
                continue
            of_tasks = list(by_task.values())
            found = share_of_tasks(of_tasks, inf) if metric in OUTCOMES else mean_of_tasks(of_tasks)
            mean = found.mean
            low = None if found.low is None else max(found.low, 0.0)
            high = None if found.high is None else min(found.high, 1.0)
            if (shift := means.shifts.get((metric, drop))) is not None:
                mean, low, high = shift.moved(mean, low, high)
            place = ("drop", "history", metric, "points", drop)
            yield from at_place(place, {"mean": mean, "ci_low": low, "ci_high": high})


def _difference(metric: str, paired: list[tuple[float, float]]) -> float:
    before, now = np.array(paired).T
    if metric in RELATIVE:
        return exp(float((np.log(now) - np.log(before)).mean())) - 1
    return float((now - before).mean())

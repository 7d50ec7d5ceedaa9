"""Score history, drift and leaderboard of a suite."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

import numpy as np

from evaluation_assets.core.gating.baselines import Baseline, comparability_key, scored_with
from evaluation_assets.core.gating.drift import Drift, drift, night
from evaluation_assets.core.gating.task_metrics import FINDING, RELATIVE, DropMetrics, estimate_of, lower_is_better
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.lake.tables import SESSION_HISTORY
from evaluation_assets.core.scoring.intervals import mean_of_tasks
from evaluation_assets.core.sections.sessions.analysis import PANEL
from evaluation_assets.core.system.by_key import by_key

_SAME = 9
"""Decimals to which means are equal: sums of the same values in another order differ in the last ones."""


def history_rows(metrics: DropMetrics, evaluated_at: str) -> Iterator[Row]:
    """Rows of `score_history`: each metric's mean over tasks with its 95% interval."""
    key = comparability_key(scored_with(metrics))
    for name, values in metrics.metrics.items():
        if not values or name.startswith(FINDING):  # the table `findings` of each drop has all kinds
            continue
        trials = sum(value.trials for value in values.values())
        estimate = estimate_of(name, [value.value for value in values.values()], trials)
        yield {
            "drop": metrics.drop,
            "suite": metrics.suite,
            "agent": metrics.agent,
            "agent_version": metrics.agent_version,
            "evaluated_at": evaluated_at,
            "metric": name,
            "mean": estimate.mean,
            "std_error": estimate.std_error,
            "ci_low": estimate.low,
            "ci_high": estimate.high,
            "n": estimate.n,
            "comparability_key": key,
        }


def session_history_rows(analyses: Stored, metrics: DropMetrics, evaluated_at: str) -> Iterator[Row]:
    """Rows of `session_history`: the panel's analyses, from rows of `session_analyses`."""
    added = {"evaluated_at": evaluated_at, "comparability_key": comparability_key(scored_with(metrics))}
    names = [name for name in SESSION_HISTORY.schema.names if name not in added]
    for row in analyses.rows([*names, "analyst"]):
        if row["analyst"] == PANEL:
            yield {**{name: row[name] for name in names}, **added}


def with_earlier(earlier: Iterable[Row], rows: Iterable[Row]) -> Iterator[Row]:
    """The rows of a history, after the earlier ones to keep: those under other comparability keys."""
    new = iter(rows)
    first = list(islice(new, 1))
    keys = {row["comparability_key"] for row in first}
    return chain((row for row in earlier if row["comparability_key"] not in keys), first, new)


def drift_since(baseline: Baseline, drops: Sequence[DropMetrics], metric: str, alpha: float) -> Drift:
    """Drift of a metric over the comparable drops of the baseline's agent since the last promoted one.

    `drops` are ordered oldest first; all count where no promoted one is among them.
    """
    if metric not in baseline.metrics:
        return drift([], alpha)
    before = baseline.metrics[metric].values
    promoted, agents = {run.content for run in baseline.runs}, {run.agent for run in baseline.runs}
    since = max((at + 1 for at, drop in enumerate(drops) if drop.content in promoted), default=0)
    nights: list[float] = []
    for drop in drops[since:]:
        if drop.agent not in agents or scored_with(drop) != baseline.comparability:
            continue
        now = drop.metric(metric)
        common = [task for task in before if task in now]
        sign = -1 if lower_is_better(metric) else 1
        values = [
            float(np.log(before[task] / now[task].value))
            if metric in RELATIVE
            else sign * (now[task].value - before[task])
            for task in common
        ]
        if (z := night(values, len(baseline.runs))) is not None:
            nights.append(z)
    return drift(nights, alpha)


def leaderboard(drops: Sequence[DropMetrics], metric: str) -> list[Row]:
    """Rank agents and versions of one suite on the tasks that they have in common, best first.

    Drops of one version are averaged per task; a drop whose agent or version is unknown is ranked on its own. Only
    drops with the comparability key of the last drop count. Equal means share a rank. `difference` is the paired
    difference to the best of the ranking, with its 95% interval.
    """
    if not drops:
        return []
    key = scored_with(drops[-1])
    runs = by_key((drop.version, drop) for drop in drops if scored_with(drop) == key and drop.metrics.get(metric))
    if not runs:
        return []
    means = {who: _task_means(own, metric) for who, own in runs.items()}
    common = sorted(set.intersection(*(set(values) for values in means.values())))
    if not common:
        return []
    sign = 1 if lower_is_better(metric) else -1
    estimates = {who: estimate_of(metric, [values[task] for task in common]) for who, values in means.items()}
    ranking = sorted(estimates, key=lambda who: (sign * estimates[who].mean, [part or "" for part in who]))
    best = means[ranking[0]]
    equal = [round(estimates[who].mean, _SAME) for who in ranking]
    return [
        {
            "suite": drops[-1].suite,
            "metric": metric,
            "rank": 1 + equal.index(round(estimates[who].mean, _SAME)),
            "agent": who[0],
            "agent_version": who[1],
            "model": who[2],
            "drops": [drop.drop for drop in runs[who]],
            "mean": estimates[who].mean,
            "ci_low": estimates[who].low,
            "ci_high": estimates[who].high,
            "n_tasks": len(common),
            "n_drops": len(runs[who]),
            **_behind([means[who][task] - best[task] for task in common]),
            "comparability_key": comparability_key(key),
        }
        for who in ranking
    ]


def _task_means(drops: Sequence[DropMetrics], metric: str) -> Mapping[str, float]:
    collected: dict[str, list[float]] = {}
    for drop in drops:
        for task, value in drop.metrics[metric].items():
            collected.setdefault(task, []).append(value.value)
    return {task: sum(values) / len(values) for task, values in collected.items()}


def _behind(differences: Sequence[float]) -> Row:
    estimate = mean_of_tasks(differences)
    return {"difference": estimate.mean, "difference_low": estimate.low, "difference_high": estimate.high}

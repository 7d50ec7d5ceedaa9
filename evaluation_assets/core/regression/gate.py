"""Is a drop worse than its baseline? The answer, and how sure it is.

A verdict is `pass` (shown not to be worse by the margin or more), `warn` (worse, but by less than the margin; or single
tasks fell), `fail` (worse), `inconclusive` (too little is known; it says how many tasks would decide) or
`incomparable` (another question was asked, or by other judges; it says which part differs).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log1p, sqrt
from statistics import fmean

import numpy as np
from pydantic import BaseModel, ConfigDict

from evaluation_assets.core.regression.baselines import Baseline, comparability_key, scored_with
from evaluation_assets.core.regression.metrics import RELATIVE, DropMetrics, TaskValue
from evaluation_assets.core.regression.settings import DEFAULT_METRICS, GateSettings, GateVerdict
from evaluation_assets.core.regression.statistics import (
    Evidence,
    compare_outcomes,
    compare_scores,
    holm,
    smallest_drop,
    tasks_needed,
)
from evaluation_assets.core.scoring.intervals import clustered

_GRAVITY: tuple[GateVerdict, ...] = ("fail", "incomparable", "inconclusive", "warn", "pass")
"""A drop's verdict is the gravest there is."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class MetricComparison(_Model):
    """One metric over the `n_tasks` tasks that have it on both sides.

    `baseline` and `current` are means over these tasks. `difference` is current minus baseline; for cost and latency
    the relative change (0.1: ten per cent more), and more is worse. The interval has confidence `1 - 2 alpha`.
    `p_adjusted` is `p_regression` adjusted for the number of gating metrics. `tasks_needed` would show or rule out a
    drop of the margin with the configured power, `smallest_drop` is what these tasks show with it.
    """

    metric: str
    gates: bool
    baseline: float | None = None
    current: float | None = None
    difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    p_regression: float | None = None
    p_adjusted: float | None = None
    p_non_inferior: float | None = None
    n_tasks: int = 0
    tasks_needed: int | None = None
    smallest_drop: float | None = None
    method: str | None = None
    verdict: GateVerdict
    reason: str


class FallenTask(_Model):
    """A task that lost much in every trial. `current` is the mean of its trials.

    `beyond_noise`: it lost more than three times what tasks of this pair of runs usually go up or down.
    """

    task_id: str
    metric: str
    baseline: float
    current: float
    beyond_noise: bool


class Difference(_Model):
    """A part of the comparability key that is not the same; `None` where it does not exist."""

    baseline: str | None
    current: str | None


class Comparability(_Model):
    """Whether both runs asked the same of the same judges. `differs` is by part."""

    baseline_key: str | None
    current_key: str
    differs: dict[str, Difference]


class GateOutcome(_Model):
    """The gate's answer about a drop.

    `reworded_tasks` have the same id and other words, as tasks with a simulated user do; they are compared.
    """

    drop: str
    baseline: str | None
    suite: str | None
    verdict: GateVerdict
    rule: str
    reasons: list[str]
    metrics: list[MetricComparison]
    fallen_tasks: list[FallenTask]
    only_in_baseline: list[str]
    only_in_current: list[str]
    reworded_tasks: list[str]
    judges_kept_out: dict[str, str]
    comparability: Comparability


@dataclass(frozen=True, slots=True)
class _Pairs:
    """A metric's values of the tasks that have it on both sides; `known` tasks have it on at least one."""

    metric: str
    tasks: Sequence[str]
    baseline: np.ndarray
    current: np.ndarray
    known: int

    @property
    def outcomes(self) -> bool:
        return bool(np.isin(self.baseline, (0, 1)).all() and np.isin(self.current, (0, 1)).all())


def decide(baseline: Baseline | None, current: DropMetrics, settings: GateSettings) -> GateOutcome | None:
    """The gate. `None` where there is neither a baseline nor a floor to hold a drop against."""
    if baseline is None and not settings.floors:
        return None
    own = {name: {task: value.value for task, value in values.items()} for name, values in current.metrics.items()}
    floors = _below_floors(own, settings.floors)
    if baseline is None:
        return _outcome(None, current, settings, floors, [], [], {}, {})
    tasks = _Tasks.of(baseline.tasks, current.tasks)
    differs = _differences(baseline, current)
    if tasks.unpaired_share > settings.max_unpaired:
        differs["tasks"] = Difference(
            baseline=f"{len(baseline.tasks)} tasks",
            current=f"{len(current.tasks)}, {len(tasks.common)} of them the same",
        )
    if differs:
        return _outcome(baseline, current, settings, floors, [], [], differs, tasks.lists())
    comparisons = _compare_all(baseline, own, tasks.common, settings)
    fallen = [
        each
        for comparison in comparisons
        if comparison.gates and comparison.metric not in RELATIVE
        for each in _fallen(
            comparison.metric,
            baseline.metrics[comparison.metric].values if comparison.metric in baseline.metrics else {},
            current.metrics.get(comparison.metric, {}),
            tasks.common,
            settings.fallen_drop,
        )
    ]
    return _outcome(baseline, current, settings, floors, comparisons, fallen, {}, tasks.lists())


@dataclass(frozen=True, slots=True)
class _Tasks:
    common: list[str]
    reworded: list[str]
    only_baseline: list[str]
    only_current: list[str]

    @classmethod
    def of(cls, baseline: Mapping[str, str], current: Mapping[str, str]) -> "_Tasks":
        both = sorted(baseline.keys() & current.keys())
        return cls(
            common=both,
            reworded=[task for task in both if baseline[task] != current[task]],
            only_baseline=sorted(baseline.keys() - current.keys()),
            only_current=sorted(current.keys() - baseline.keys()),
        )

    @property
    def unpaired_share(self) -> float:
        unpaired = len(self.only_baseline) + len(self.only_current)
        return unpaired / (unpaired + len(self.common)) if unpaired else 0.0

    def lists(self) -> dict[str, list[str]]:
        return {
            "only_in_baseline": self.only_baseline,
            "only_in_current": self.only_current,
            "reworded_tasks": self.reworded,
        }


def _differences(baseline: Baseline, current: DropMetrics) -> dict[str, Difference]:
    before = baseline.comparability | {"suite name": baseline.suite}
    now = scored_with(current) | ({} if current.suite is None else {"suite name": current.suite})
    return {
        part: Difference(baseline=before.get(part), current=now.get(part))
        for part in sorted(before.keys() | now.keys())
        if before.get(part) != now.get(part)
    }


def _compare_all(
    baseline: Baseline, current: Mapping[str, Mapping[str, float]], tasks: Sequence[str], settings: GateSettings
) -> list[MetricComparison]:
    before = {name: metric.values for name, metric in baseline.metrics.items()}
    present = [name for name in {**before, **current} if before.get(name) or current.get(name)]
    if settings.metrics is None:
        gating = [name for name in DEFAULT_METRICS if name in present]
    else:
        gating = list(settings.metrics)
    pairs = {
        name: _pairs(name, before.get(name, {}), current.get(name, {}), tasks)
        for name in dict.fromkeys([*gating, *present])
    }
    evidence = {name: _evidence(each, settings) for name, each in pairs.items() if len(each.tasks) >= 2}
    tested = [name for name in gating if name in evidence]
    adjusted = dict(zip(tested, holm([float(evidence[name].p_regression) for name in tested]), strict=True))
    return [
        _comparison(each, evidence.get(name), adjusted.get(name), name in gating, settings)
        for name, each in pairs.items()
    ]


def _pairs(metric: str, baseline: Mapping[str, float], current: Mapping[str, float], tasks: Sequence[str]) -> _Pairs:
    both = [task for task in tasks if task in baseline and task in current]
    return _Pairs(
        metric,
        both,
        np.array([baseline[task] for task in both], float),
        np.array([current[task] for task in both], float),
        sum(task in baseline or task in current for task in tasks),
    )


def _differences_of(pairs: _Pairs) -> np.ndarray:
    """One difference a task, higher is better; of cost and latency the logarithm of the ratio."""
    if pairs.metric in RELATIVE:
        return np.log(pairs.baseline) - np.log(pairs.current)
    return pairs.current - pairs.baseline


def _margin(metric: str, settings: GateSettings) -> float:
    return log1p(settings.relative_delta) if metric in RELATIVE else settings.delta


def _evidence(pairs: _Pairs, settings: GateSettings) -> Evidence:
    margin = _margin(pairs.metric, settings)
    differences = _differences_of(pairs)
    if settings.task_family is not None:
        _, error, degrees = clustered(differences, _families(pairs.tasks, settings.task_family))
        if degrees > 0:
            return compare_scores(differences, margin, settings.alpha, std_error=error, degrees=degrees)
    if pairs.outcomes:
        lost, gained = (differences < 0).sum(), (differences > 0).sum()
        return compare_outcomes(lost, gained, len(pairs.tasks), margin, settings.alpha)
    return compare_scores(differences, margin, settings.alpha)


def _families(tasks: Sequence[str], pattern: str) -> list[str]:
    """Each task's family: what the expression finds in its id; a task in which it finds nothing is its own."""
    found = [re.search(pattern, task) for task in tasks]
    return [
        f"task {task}" if match is None else match.group(1 if match.re.groups else 0)
        for task, match in zip(tasks, found, strict=True)
    ]


def _comparison(
    pairs: _Pairs, evidence: Evidence | None, adjusted: float | None, gates: bool, settings: GateSettings
) -> MetricComparison:
    name, n = pairs.metric, len(pairs.tasks)
    if evidence is None:
        reason = f"{name} is not known on both sides" if n == 0 else f"{name} is known for one task only"
        return MetricComparison(metric=name, gates=gates, n_tasks=n, verdict="inconclusive", reason=reason)
    differences = _differences_of(pairs)
    spread = float(differences.std(ddof=1))
    margin = _margin(name, settings)
    needed = tasks_needed(spread, margin, settings.alpha, settings.power) if spread > 0 else n
    visible = smallest_drop(spread / sqrt(n), n - 1, settings.alpha, settings.power)
    p_adjusted = float(evidence.p_regression) if adjusted is None else adjusted
    verdict, reason = _verdict(pairs, evidence, p_adjusted, needed, settings)
    relative = name in RELATIVE
    interval = (float(evidence.low), float(evidence.high))
    return MetricComparison(
        metric=name,
        gates=gates,
        baseline=fmean(pairs.baseline),
        current=fmean(pairs.current),
        difference=_as_change(float(evidence.effect)) if relative else float(evidence.effect),
        ci_low=_as_change(interval[1]) if relative else interval[0],
        ci_high=_as_change(interval[0]) if relative else interval[1],
        p_regression=float(evidence.p_regression),
        p_adjusted=p_adjusted,
        p_non_inferior=float(evidence.p_non_inferior),
        n_tasks=n,
        tasks_needed=needed,
        smallest_drop=exp(visible) - 1 if relative else visible,
        method=_method(pairs, settings),
        verdict=verdict,
        reason=reason,
    )


def _as_change(log_ratio: float) -> float:
    """A difference of logarithms, higher is better, as the relative change of the metric."""
    return exp(-log_ratio) - 1


def _method(pairs: _Pairs, settings: GateSettings) -> str:
    if settings.task_family is not None:
        return "paired t-test, tasks clustered by family"
    if pairs.outcomes:
        return "McNemar's exact test, interval of Agresti and Min"
    return "paired t-test of log ratios" if pairs.metric in RELATIVE else "paired t-test"


def _verdict(
    pairs: _Pairs, evidence: Evidence, p_adjusted: float, needed: int, settings: GateSettings
) -> tuple[GateVerdict, str]:
    name, n, margin = pairs.metric, len(pairs.tasks), _margin(pairs.metric, settings)
    if n < pairs.known * (1 - settings.max_unpaired):
        return "inconclusive", f"{name} is known on both sides for {n} of {pairs.known} tasks"
    if settings.rule == "tolerance":
        return _by_tolerance(pairs, settings)
    effect = float(evidence.effect)
    change = f"{_as_change(effect):+.1%}" if name in RELATIVE else f"{effect:+.3f}"
    if n < settings.min_tasks:
        return "inconclusive", f"{name} {change} on {n} tasks; at least {settings.min_tasks} are needed"
    if np.array_equal(pairs.baseline, pairs.current):
        return "pass", f"{name} is the same on each of {n} tasks"
    worse, near = p_adjusted <= settings.alpha, float(evidence.p_non_inferior) <= settings.alpha
    limit = f"{settings.relative_delta:.0%}" if name in RELATIVE else f"{settings.delta:g}"
    if near and not worse:
        return "pass", f"{name} {change} on {n} tasks; worse by {limit} is ruled out"
    if worse and not near and effect <= -margin:
        return "fail", f"{name} {change} on {n} tasks (p {p_adjusted:.2g})"
    if worse:
        return "warn", f"{name} {change} on {n} tasks is a drop (p {p_adjusted:.2g}), within the margin of {limit}"
    return "inconclusive", f"{name} {change} on {n} tasks decides nothing; about {needed} tasks would"


def _by_tolerance(pairs: _Pairs, settings: GateSettings) -> tuple[GateVerdict, str]:
    before, now = fmean(pairs.baseline), fmean(pairs.current)
    relative = pairs.metric in RELATIVE
    limit = before * (1 + settings.relative_delta) if relative else before - settings.tolerance
    beyond = now > limit if relative else now < limit
    words = f"{pairs.metric} {now:.3f}, baseline {before:.3f}, limit {limit:.3f}"
    return ("fail" if beyond else "pass"), words


def _fallen(
    metric: str,
    baseline: Mapping[str, float],
    current: Mapping[str, TaskValue],
    tasks: Sequence[str],
    drop: float,
) -> list[FallenTask]:
    both = [task for task in tasks if task in baseline and task in current]
    differences = np.array([current[task].value - baseline[task] for task in both])
    # 1.4826 times the median deviation is the standard deviation of noise that a few fallen tasks cannot widen.
    noise = 3 * 1.4826 * float(np.median(np.abs(differences - np.median(differences)))) if both else 0.0
    fallen = [
        FallenTask(
            task_id=task,
            metric=metric,
            baseline=baseline[task],
            current=current[task].value,
            beyond_noise=baseline[task] - current[task].best > noise,
        )
        for task in both
        if baseline[task] - current[task].best >= drop - 1e-9
    ]
    return sorted(fallen, key=lambda each: (each.current - each.baseline, each.task_id))


def _below_floors(current: Mapping[str, Mapping[str, float]], floors: Mapping[str, float]) -> list[tuple[str, bool]]:
    """For each floor what is to be said, and whether the metric is known and lies below."""
    found: list[tuple[str, bool]] = []
    for metric, floor in sorted(floors.items()):
        values = current.get(metric)
        if not values:
            found.append((f"{metric} is unknown; it has to be at least {floor:g}", False))
        elif (mean := fmean(values.values())) < floor:
            found.append((f"{metric} {mean:.4g} over {len(values)} tasks is below its floor of {floor:g}", True))
    return found


def _outcome(
    baseline: Baseline | None,
    current: DropMetrics,
    settings: GateSettings,
    floors: Sequence[tuple[str, bool]],
    comparisons: list[MetricComparison],
    fallen: list[FallenTask],
    differs: dict[str, Difference],
    task_lists: Mapping[str, list[str]],
) -> GateOutcome:
    reasons = [words for words, _ in floors]
    verdicts: set[GateVerdict] = set()
    for _, below in floors:
        verdicts.add("fail" if below else "inconclusive")
    if differs:
        verdicts.add("incomparable")
        reasons += [_difference_in_words(part, each) for part, each in differs.items()]
    gating = [each for each in comparisons if each.gates]
    verdicts |= {each.verdict for each in gating}
    reasons += [each.reason for each in gating if each.verdict != "pass"]
    if baseline is not None and not differs and not gating:
        verdicts.add("inconclusive")
        reasons.append("no gating metric exists on either side")
    if serious := {each.task_id for each in fallen if each.beyond_noise}:
        verdicts.add("warn")
        reasons.append(f"{_counted(len(serious), 'task')} fell by {settings.fallen_drop:g} or more, beyond noise")
    sides = ("only_in_baseline", "only_in_current")
    unpaired = {name: task_lists[name] for name in sides if task_lists.get(name) and not differs}
    if unpaired:
        verdicts.add("warn")
        reasons += [
            f"{_counted(len(tasks), 'task')} not compared: {name.replace('_', ' ')}" for name, tasks in unpaired.items()
        ]
    notes: list[str] = []
    if reworded := task_lists.get("reworded_tasks", []):
        notes.append(f"{_counted(len(reworded), 'task')} with the same id and other words than in the baseline")
    notes += [f"judge {judge} is kept out: {why}" for judge, why in current.kept_out.items()]
    parts = scored_with(current)
    return GateOutcome(
        drop=current.drop,
        baseline=None if baseline is None else baseline.name,
        suite=current.suite,
        verdict=_gravest(verdicts),
        rule=settings.rule,
        reasons=(reasons or [each.reason for each in gating] or ["every floor is held"]) + notes,
        metrics=comparisons,
        fallen_tasks=fallen,
        only_in_baseline=task_lists.get("only_in_baseline", []),
        only_in_current=task_lists.get("only_in_current", []),
        reworded_tasks=reworded,
        judges_kept_out=dict(current.kept_out),
        comparability=Comparability(
            baseline_key=None if baseline is None else baseline.comparability_key,
            current_key=comparability_key(parts),
            differs=differs,
        ),
    )


def _gravest(verdicts: Iterable[GateVerdict]) -> GateVerdict:
    found: GateVerdict = "pass"
    for verdict in verdicts:
        if _GRAVITY.index(verdict) < _GRAVITY.index(found):
            found = verdict
    return found


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _difference_in_words(part: str, difference: Difference) -> str:
    if difference.current is None:
        return f"{part} was in the baseline and is not now"
    if difference.baseline is None:
        return f"{part} is new since the baseline"
    return f"{part} differs: {difference.baseline} in the baseline, {difference.current} now"

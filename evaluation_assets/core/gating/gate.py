"""Is a drop worse than its baseline? The answer, and how sure it is.

A verdict is `pass` (no regression found; it says which decrease would have been), `warn` (worse, but by less than the
margin; or single tasks fell or are missing), `fail` (worse, or too many tasks are missing), `inconclusive` (too few
tasks to find even a large decrease; it says how many would do) or `incomparable` (another question was asked, or by
other judges; it says which part differs).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log1p
from statistics import fmean
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from evaluation_assets.core.gating.baselines import (
    SERVED,
    Baseline,
    BaselineMetric,
    comparability_key,
    gating_metrics,
    scored_with,
)
from evaluation_assets.core.gating.changed_judges import JUDGE_AGAIN, changed_judges, unknown_change
from evaluation_assets.core.gating.paired_tests import (
    Evidence,
    classify,
    compare_outcomes,
    compare_scores,
    holm,
    tasks_needed,
    warning_level,
)
from evaluation_assets.core.gating.settings import GateSettings, GateVerdict
from evaluation_assets.core.gating.single_tasks import benjamini_hochberg, p_outcomes, p_scores
from evaluation_assets.core.gating.task_metrics import (
    OUTCOMES,
    RELATIVE,
    WITHOUT_JUDGES,
    DropMetrics,
    TaskValue,
)
from evaluation_assets.core.scoring.intervals import clustered

_GRAVITY: tuple[GateVerdict, ...] = ("fail", "incomparable", "inconclusive", "warn", "pass")
"""A drop's verdict is the gravest there is."""

_NOTHING_GATES = "no metric gates: record outcomes, add a suite or a model judge, or name metrics in gate.yaml"

_ROUNDING = 1e-9
"""A mean of 0.7999999999999999 keeps a floor of 0.8."""

_NAMED = 20
"""Most tasks that a reason names; the lists hold all of them."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class MetricComparison(_Model):
    """One metric over the `n_tasks` tasks that have it on both sides.

    `baseline` and `current` are means over these tasks. `difference` is current minus baseline; for cost and latency
    the relative change (0.1: ten per cent more), and more is worse. The interval has confidence `1 - 2 alpha`.
    `p_adjusted` is `p_regression` adjusted for the number of gating metrics. `tasks_needed` would show or rule out a
    decrease of the margin with the configured power, `smallest_drop` is the smallest decrease these tasks show with it.
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


class ChangedTask(_Model):
    """A task that fell, or rose, by much in every trial. Both sides are means of its trials.

    `beyond_noise`: further than noise goes, with the false discovery rate held over all tasks and gating metrics.
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

    `only_in_baseline` are the tasks that are missing. `reworded_tasks` have the same ID and another prompt, as tasks
    with a simulated user do; they are compared. `judges_changed` have moved on the canary clips, or are served by
    another version of their model: then nothing is said about the agent, and the run is blocked.
    """

    drop: str
    baseline: str | None
    suite: str | None
    verdict: GateVerdict
    rule: str
    reasons: list[str]
    metrics: list[MetricComparison]
    fallen_tasks: list[ChangedTask]
    improved_tasks: list[ChangedTask] = []
    only_in_baseline: list[str]
    only_in_current: list[str]
    reworded_tasks: list[str]
    judges_kept_out: dict[str, str]
    judges_changed: list[str] = []
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
    moved = [] if baseline is None else _changed_judges(baseline, current)
    # A floor of the scores of a judge that has changed says nothing about the agent.
    held = {name: values for name, values in own.items() if not moved or name in WITHOUT_JUDGES}
    limits = _beyond_limits(held, settings.floors)
    if baseline is None:
        return _outcome(None, current, settings, limits, _Tasks(), {}, [], [], [])
    tasks = _Tasks.of(baseline.tasks, current.tasks)
    differs = _differences(baseline, current)
    if not tasks.common:
        differs["tasks"] = Difference(
            baseline=f"{len(baseline.tasks)} tasks", current=f"{len(current.tasks)}, none of them the same"
        )
    unknown = [words for words, asked in _unknown_changes(baseline, current) if asked]
    if differs or moved or unknown:
        outcome = _outcome(baseline, current, settings, limits, tasks, differs, [], [], [], [*moved, *unknown])
        return outcome.model_copy(update={"judges_changed": moved})
    comparisons = _compare_all(baseline, own, tasks.common, settings)
    gating = [each.metric for each in comparisons if each.gates and each.metric not in RELATIVE]
    fallen, improved = (
        _changed(direction, gating, baseline.metrics, current.metrics, tasks.common, settings)
        for direction in ("fell", "rose")
    )
    return _outcome(baseline, current, settings, limits, tasks, {}, comparisons, fallen, improved)


@dataclass(frozen=True, slots=True)
class _Tasks:
    common: Sequence[str] = ()
    reworded: Sequence[str] = ()
    only_baseline: Sequence[str] = ()
    only_current: Sequence[str] = ()

    @classmethod
    def of(cls, baseline: Mapping[str, str], current: Mapping[str, str]) -> "_Tasks":
        both = sorted(baseline.keys() & current.keys())
        return cls(
            common=both,
            reworded=[task for task in both if baseline[task] != current[task]],
            only_baseline=sorted(baseline.keys() - current.keys()),
            only_current=sorted(current.keys() - baseline.keys()),
        )


def _differences(baseline: Baseline, current: DropMetrics) -> dict[str, Difference]:
    before = baseline.comparability | {"suite name": baseline.suite}
    now = scored_with(current) | ({} if current.suite is None else {"suite name": current.suite})
    return {
        part: Difference(baseline=before.get(part), current=now.get(part))
        for part in sorted(before.keys() | now.keys())
        if before.get(part) != now.get(part) and not part.startswith(SERVED)
    }


def _changed_judges(baseline: Baseline, current: DropMetrics) -> list[str]:
    """Why a judge is not what it was: its provider names another version, or its scores of the canary clips moved."""
    before, now = baseline.comparability, current.comparability
    served = [
        f"judge changed: {part.removeprefix(SERVED)} is served as {now[part]}, was {before[part]}; {JUDGE_AGAIN}"
        for part in sorted(before.keys() & now.keys())
        if part.startswith(SERVED) and before[part] != now[part]
    ]
    moved = changed_judges(baseline.canaries, current.canaries)
    return served + [change.words for change in moved if change.judge not in current.kept_out]


def _unknown_changes(baseline: Baseline, current: DropMetrics) -> list[tuple[str, bool]]:
    """Of which judges of both sides it is not known whether they changed, and whether they were asked."""
    found = (
        unknown_change(judge, before, current.canaries.get(judge, {}), current.canaries_asked.get(judge, 0))
        for judge, before in sorted(baseline.canaries.items())
        if f"judge {judge}" in current.comparability and judge not in current.kept_out
    )
    return [each for each in found if each is not None]


def _compare_all(
    baseline: Baseline, current: Mapping[str, Mapping[str, float]], tasks: Sequence[str], settings: GateSettings
) -> list[MetricComparison]:
    before = {name: metric.values for name, metric in baseline.metrics.items()}
    present = [name for name in {**before, **current} if before.get(name) or current.get(name)]
    wanted = gating_metrics(settings, baseline.comparability)
    gating = [name for name in wanted if settings.metrics is not None or name in present]
    pairs = {
        name: _pairs(name, before.get(name, {}), current.get(name, {}), tasks)
        for name in dict.fromkeys([*gating, *present])
    }
    tested = [name for name in gating if len(pairs[name].tasks) >= 2]
    evidence = {
        name: _evidence(each, settings, len(tested) if name in tested else 1)
        for name, each in pairs.items()
        if len(each.tasks) >= 2
    }
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


def _evidence(pairs: _Pairs, settings: GateSettings, metrics: int) -> Evidence:
    """`metrics`: over how many the p-value is going to be adjusted."""
    margin, alpha, power = _margin(pairs.metric, settings), settings.alpha, settings.power
    differences = _differences_of(pairs)
    if settings.task_family is not None:
        _, error, degrees = clustered(differences, _families(pairs.tasks, settings.task_family))
        if degrees > 0:
            return compare_scores(differences, margin, alpha, power, metrics=metrics, std_error=error, degrees=degrees)
    if pairs.outcomes:
        lost, gained = (differences < 0).sum(), (differences > 0).sum()
        return compare_outcomes(lost, gained, len(pairs.tasks), margin, alpha, power, metrics=metrics)
    return compare_scores(differences, margin, alpha, power, metrics=metrics)


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
    p_adjusted = float(evidence.p_regression) if adjusted is None else adjusted
    verdict, reason = _verdict(pairs, evidence, p_adjusted, spread, settings)
    relative = name in RELATIVE
    low, high = float(evidence.low), float(evidence.high)
    return MetricComparison(
        metric=name,
        gates=gates,
        baseline=fmean(pairs.baseline),
        current=fmean(pairs.current),
        difference=_as_change(float(evidence.effect)) if relative else float(evidence.effect),
        ci_low=_as_change(high) if relative else max(low, -1.0),
        ci_high=_as_change(low) if relative else min(high, 1.0),
        p_regression=float(evidence.p_regression),
        p_adjusted=p_adjusted,
        p_non_inferior=float(evidence.p_non_inferior),
        n_tasks=n,
        tasks_needed=needed,
        smallest_drop=_as_size(name, float(evidence.detectable)),
        method=_method(pairs, settings),
        verdict=verdict,
        reason=reason,
    )


def _as_change(log_ratio: float) -> float:
    """A difference of logarithms, higher is better, as the relative change of the metric."""
    return exp(-log_ratio) - 1


def _as_size(metric: str, decrease: float) -> float:
    """A decrease as people read it: in score units, of cost and latency the share by which they are more."""
    return exp(decrease) - 1 if metric in RELATIVE else min(decrease, 1.0)


def _method(pairs: _Pairs, settings: GateSettings) -> str:
    if settings.task_family is not None:
        return "paired t-test, tasks clustered by family"
    if pairs.outcomes:
        return "exact unconditional test (Suissa and Shuster), interval of Agresti and Min"
    return "paired t-test of log ratios" if pairs.metric in RELATIVE else "paired t-test"


def _verdict(
    pairs: _Pairs, evidence: Evidence, p_adjusted: float, spread: float, settings: GateSettings
) -> tuple[GateVerdict, str]:
    name, n, margin = pairs.metric, len(pairs.tasks), _margin(pairs.metric, settings)
    if n < pairs.known * (1 - settings.max_unpaired):
        return "inconclusive", f"{name} is known on both sides for {n} of {pairs.known} tasks"
    if settings.rule == "tolerance":
        return _by_tolerance(pairs, settings)
    relative = name in RELATIVE
    effect = float(evidence.effect)
    change = f"{_as_change(effect):+.1%}" if relative else f"{effect:+.3f}"
    if n < settings.min_tasks:
        return "inconclusive", f"{name} {change} on {n} tasks; at least {settings.min_tasks} are needed"
    if np.array_equal(pairs.baseline, pairs.current):
        return "pass", f"{name} is the same on each of {n} tasks"
    undetected = log1p(settings.relative_max_undetected) if relative else settings.max_undetected
    verdict: GateVerdict = classify(
        evidence, p_adjusted, False, margin=margin, max_undetected=undetected, alpha=settings.alpha
    ).item()

    def size(decrease: float) -> str:
        shown = _as_size(name, decrease)
        return f"{'an increase' if relative else 'a decrease'} of {f'{shown:.0%}' if relative else f'{shown:.3f}'}"

    shows = f"{size(float(evidence.detectable))} would have been found ({settings.power:.0%} power)"
    if verdict == "fail":
        return verdict, f"{name} {change} on {n} tasks (p {p_adjusted:.2g})"
    if verdict == "warn":
        limit = f"{settings.relative_delta:.0%}" if relative else f"{settings.delta:g}"
        return (
            verdict,
            f"{name} {change} on {n} tasks is a regression (p {p_adjusted:.2g}) within the margin of {limit}",
        )
    if verdict == "pass":
        return verdict, f"{name} {change} on {n} tasks: no regression found; {shows}"
    needed = tasks_needed(spread, undetected, settings.alpha, settings.power)
    return verdict, (
        f"{name} {change} on {n} tasks is not significant, but only {shows}; "
        f"about {max(needed, n + 1)} tasks are needed to find {size(undetected)}"
    )


def _by_tolerance(pairs: _Pairs, settings: GateSettings) -> tuple[GateVerdict, str]:
    before, now = fmean(pairs.baseline), fmean(pairs.current)
    relative = pairs.metric in RELATIVE
    limit = before * (1 + settings.relative_delta) if relative else before - settings.tolerance
    beyond = now > limit if relative else now < limit
    words = f"{pairs.metric} {now:.3f}, baseline {before:.3f}, limit {limit:.3f}"
    return ("fail" if beyond else "pass"), words


def _changed(
    direction: Literal["fell", "rose"],
    metrics: Sequence[str],
    baseline: Mapping[str, BaselineMetric],
    current: Mapping[str, Mapping[str, TaskValue]],
    tasks: Sequence[str],
    settings: GateSettings,
) -> list[ChangedTask]:
    """The tasks that went this way by `fallen_drop` or more in every trial, furthest first."""
    sign = 1.0 if direction == "fell" else -1.0
    found: list[ChangedTask] = []
    p_values: list[np.ndarray] = []
    for metric in metrics:
        if metric not in baseline or metric not in current:
            continue
        before, now = baseline[metric], current[metric]
        both = [task for task in tasks if task in before.values and task in now]
        if not both:
            continue
        values = np.array([[before.values[task], now[task].value] for task in both]).T
        trials = np.array([[before.trials.get(task, 1), now[task].trials] for task in both]).T
        if metric in OUTCOMES or np.isin(values, (0, 1)).all():
            worse, better = (0, 1) if direction == "fell" else (1, 0)
            p_values.append(p_outcomes(values[worse], trials[worse], values[better], trials[better]))
        else:
            p_values.append(p_scores(sign * (values[1] - values[0])))
        found += [
            ChangedTask(
                task_id=task,
                metric=metric,
                baseline=before.values[task],
                current=now[task].value,
                beyond_noise=False,
            )
            for task in both
        ]
    adjusted = benjamini_hochberg(np.concatenate(p_values)) if p_values else np.array([])
    changed: list[ChangedTask] = []
    for each, p in zip(found, adjusted, strict=True):
        nearest = current[each.metric][each.task_id]
        moved = sign * (each.baseline - (nearest.best if direction == "fell" else nearest.worst))
        if moved >= settings.fallen_drop - 1e-9:
            changed.append(each.model_copy(update={"beyond_noise": bool(p <= warning_level(settings.alpha))}))
    return sorted(changed, key=lambda each: (sign * (each.current - each.baseline), each.task_id))


def _beyond_limits(
    current: Mapping[str, Mapping[str, float]], floors: Mapping[str, float]
) -> list[tuple[str, GateVerdict]]:
    """For each limit that is not kept, or cannot be checked, what is to be said. Cost and latency may not be above."""
    found: list[tuple[str, GateVerdict]] = []
    for metric, limit in sorted(floors.items()):
        values = current.get(metric)
        at_most = metric in RELATIVE
        if not values:
            found.append(
                (f"{metric} is unknown; it has to be at {'most' if at_most else 'least'} {limit:g}", "inconclusive")
            )
            continue
        mean = fmean(values.values())
        if mean > limit + _ROUNDING if at_most else mean < limit - _ROUNDING:
            words = "above its limit" if at_most else "below its floor"
            found.append((f"{metric} {mean:.4g} over {len(values)} tasks is {words} of {limit:g}", "fail"))
    return found


def _outcome(
    baseline: Baseline | None,
    current: DropMetrics,
    settings: GateSettings,
    limits: Sequence[tuple[str, GateVerdict]],
    tasks: _Tasks,
    differs: dict[str, Difference],
    comparisons: list[MetricComparison],
    fallen: list[ChangedTask],
    improved: list[ChangedTask],
    of_judges: Sequence[str] = (),
) -> GateOutcome:
    """`of_judges`: why the judges, changed or unknown to be the same, allow no comparison."""
    findings: list[tuple[str, GateVerdict]] = [(words, "incomparable") for words in of_judges]
    findings.extend(limits)
    if baseline is not None and tasks.only_baseline and not differs.keys() & {"suite", "suite name"}:
        findings.append(_missing(tasks.only_baseline, len(baseline.tasks), settings.max_missing))
    for part, each in differs.items():
        findings.append((_difference_in_words(part, each), "incomparable"))
    gating = [each for each in comparisons if each.gates]
    findings.extend((each.reason, each.verdict) for each in gating if each.verdict != "pass")
    if baseline is not None and not differs and not of_judges and not gating:
        findings.append((_NOTHING_GATES, "inconclusive"))
    if serious := {each.task_id for each in fallen if each.beyond_noise}:
        words = f"{_counted(len(serious), 'task')} fell by {settings.fallen_drop:g} or more, beyond noise"
        findings.append((words, "warn"))
    notes: list[str] = []
    if tasks.only_current and not differs:
        notes.append(f"{_counted(len(tasks.only_current), 'task')} not compared: not in the baseline")
    if tasks.reworded:
        notes.append(
            f"{_counted(len(tasks.reworded), 'task')} with the same ID and another prompt than in the baseline"
        )
    notes += [f"judge {judge} is kept out: {why}" for judge, why in current.kept_out.items()]
    if baseline is not None:
        notes += [words for words, asked in _unknown_changes(baseline, current) if not asked]
    parts = scored_with(current)
    reasons = [words for words, _ in sorted(findings, key=lambda finding: _GRAVITY.index(finding[1]))]
    return GateOutcome(
        drop=current.drop,
        baseline=None if baseline is None else baseline.name,
        suite=current.suite,
        verdict=_gravest(verdict for _, verdict in findings),
        rule=settings.rule,
        reasons=(reasons or [each.reason for each in gating] or ["every floor is held"]) + notes,
        metrics=comparisons,
        fallen_tasks=fallen,
        improved_tasks=improved,
        only_in_baseline=list(tasks.only_baseline),
        only_in_current=list(tasks.only_current),
        reworded_tasks=list(tasks.reworded),
        judges_kept_out=dict(current.kept_out),
        comparability=Comparability(
            baseline_key=None if baseline is None else baseline.comparability_key,
            current_key=comparability_key(parts),
            differs=differs,
        ),
    )


def _missing(tasks: Sequence[str], total: int, tolerated: float) -> tuple[str, GateVerdict]:
    """Tasks that were removed, could not be read or did not run. A run that loses them must not look better for it."""
    more = f" and {len(tasks) - _NAMED} more" if len(tasks) > _NAMED else ""
    words = f"{len(tasks)} of {total} tasks are missing: {', '.join(tasks[:_NAMED])}{more}"
    if len(tasks) > tolerated * total + 1e-9:
        return f"{words} (tolerated: {tolerated:.0%})", "fail"
    return words, "warn"


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

"""Compare the metrics of a drop with those of its baseline: statistics and verdict of each metric."""

from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from evaluation_assets.core.gating import wording
from evaluation_assets.core.gating.baselines import Baseline, gating_metrics
from evaluation_assets.core.gating.bridges import combined_error
from evaluation_assets.core.gating.families import FEW, error_over_families, families_of, suspected_families
from evaluation_assets.core.gating.outcome import MetricComparison, Offset
from evaluation_assets.core.gating.paired_tests import (
    Evidence,
    Noise,
    classify,
    compare_outcomes,
    compare_scores,
    holm,
    tasks_needed,
    tasks_to_pass,
    tasks_to_show,
)
from evaluation_assets.core.gating.pairs import Pairs, pairs_of
from evaluation_assets.core.gating.settings import GateSettings, GateVerdict
from evaluation_assets.core.gating.task_metrics import FINDING

Offsets = Mapping[str, Offset]
"""What was subtracted from the current values, by metric."""

_NONE: Offsets = {}


def compare_metrics(
    baseline: Baseline,
    current: Mapping[str, Mapping[str, float]],
    settings: GateSettings,
    tasks: Sequence[str],
    offsets: Offsets = _NONE,
) -> list[MetricComparison]:
    """Compare every metric that either run has, over these tasks. Gating metrics come first; their p is adjusted.

    Of findings, `current` has what can be compared.
    """
    before = {
        name: metric.values
        for name, metric in baseline.metrics.items()
        if not name.startswith(FINDING) or name in current
    }
    before |= {
        name: dict.fromkeys(baseline.tasks, 0.0) for name in current if name.startswith(FINDING) and name not in before
    }
    present = [name for name in {**before, **current} if before.get(name) or current.get(name)]
    wanted = gating_metrics(settings, baseline.comparability)
    gating = [name for name in wanted if settings.metrics is not None or name in present]
    pairs = {
        name: pairs_of(name, before.get(name, {}), current.get(name, {}), tasks)
        for name in dict.fromkeys([*gating, *present])
    }
    tested = [name for name in gating if len(pairs[name].tasks) >= 2]
    evidence = {
        name: _evidence(each, settings, len(tested) if name in tested else 1, offsets.get(name))
        for name, each in pairs.items()
        if len(each.tasks) >= 2
    }
    adjusted = dict(zip(tested, holm([float(evidence[name].p_regression) for name in tested]), strict=True))
    return [
        _comparison(
            each,
            evidence.get(name),
            adjusted.get(name),
            settings.alpha / max(1, len(tested)),
            name in gating,
            settings,
            offsets.get(name),
        )
        for name, each in pairs.items()
    ]


def _evidence(pairs: Pairs, settings: GateSettings, metrics: int, offset: Offset | None) -> Evidence:
    """Test one metric. `metrics` is the number of metrics over which its p-value will be adjusted."""
    margin, alpha, power = pairs.margin(settings), settings.alpha, settings.power
    differences = pairs.differences
    if (own := _error(pairs, settings, offset)) is not None:
        error, degrees = own
        if pairs.are_unchanged_outcomes and offset is None:
            return compare_outcomes(0, 0, round(degrees) + 1, margin, alpha, power, metrics=metrics)
        return compare_scores(differences, margin, alpha, power, metrics=metrics, std_error=error, degrees=degrees)
    if pairs.are_outcomes:
        lost, gained = (differences < 0).sum(), (differences > 0).sum()
        return compare_outcomes(lost, gained, len(pairs.tasks), margin, alpha, power, metrics=metrics)
    return compare_scores(differences, margin, alpha, power, metrics=metrics)


def _error(pairs: Pairs, settings: GateSettings, offset: Offset | None) -> tuple[float, float] | None:
    """Standard error and degrees of freedom, that of the offset included; `None` if tasks are independent without."""
    of_families = error_over_families(pairs, settings)
    if offset is None:
        return of_families
    n = len(pairs.tasks)
    own = of_families or (float(pairs.differences.std(ddof=1)) / n**0.5, n - 1)
    return combined_error([own, (offset.std_error, offset.n_tasks - 1)])


def _comparison(
    pairs: Pairs,
    evidence: Evidence | None,
    adjusted: float | None,
    level: float,
    gates: bool,
    settings: GateSettings,
    offset: Offset | None,
) -> MetricComparison:
    name, n = pairs.metric, len(pairs.tasks)
    if evidence is None:
        reason = wording.too_little_known(name, n)
        return MetricComparison(metric=name, gates=gates, n_tasks=n, verdict="inconclusive", reason=reason)
    p_adjusted = float(evidence.p_regression) if adjusted is None else adjusted
    verdict, reason = _verdict(pairs, evidence, p_adjusted, level, settings, offset)
    low, high = sorted(pairs.as_change(float(end)) for end in (evidence.low, evidence.high))
    return MetricComparison(
        metric=name,
        gates=gates,
        baseline=fmean(pairs.baseline),
        current=fmean(pairs.current),
        difference=pairs.as_change(float(evidence.effect)),
        ci_low=low if pairs.is_relative else max(low, -1.0),
        ci_high=high if pairs.is_relative else min(high, 1.0),
        p_regression=float(evidence.p_regression),
        p_adjusted=p_adjusted,
        p_non_inferior=float(evidence.p_non_inferior),
        mean_difference=pairs.mean_difference,
        note=_note(pairs, settings) if gates else None,
        n_tasks=n,
        tasks_needed=_tasks_needed(pairs, settings),
        smallest_drop=None if pairs.cannot_fall else pairs.as_size(float(evidence.detectable)),
        method=_method(pairs, settings) + ("" if offset is None else ", with the error of the bridge"),
        verdict=verdict,
        reason=reason,
    )


def _tasks_needed(pairs: Pairs, settings: GateSettings) -> int:
    margin, spread = pairs.margin(settings), float(pairs.differences.std(ddof=1))
    if pairs.are_unchanged_outcomes:
        return tasks_to_show(margin, settings.alpha)
    return tasks_needed(spread, margin, settings.alpha, settings.power) if spread > 0 else len(pairs.tasks)


def _note(pairs: Pairs, settings: GateSettings) -> str | None:
    if settings.task_family is not None:
        families = len(set(families_of(pairs.tasks, settings.task_family)))
        return wording.few_families(families) if families < min(FEW, len(pairs.tasks)) else None
    suspected = suspected_families(pairs)
    return None if suspected is None else wording.correlated(suspected)


def _method(pairs: Pairs, settings: GateSettings) -> str:
    if settings.task_family is not None:
        return "paired t-test, tasks clustered by family"
    if pairs.are_outcomes:
        return "exact unconditional test (Suissa and Shuster), interval of Agresti and Min"
    return "paired t-test of log ratios" if pairs.is_relative else "paired t-test"


def _verdict(
    pairs: Pairs, evidence: Evidence, p_adjusted: float, level: float, settings: GateSettings, offset: Offset | None
) -> tuple[GateVerdict, str]:
    n = len(pairs.tasks)
    if n < pairs.known * (1 - settings.max_unpaired):
        p_at_best = _p_at_best(pairs, level, settings, offset)
        if p_at_best is None or n < settings.min_tasks:
            return "inconclusive", wording.unpaired(pairs)
        return "fail", wording.worse_at_best(pairs, float(evidence.effect), p_at_best)
    if settings.rule == "tolerance":
        return _by_tolerance(pairs, settings)
    if n < settings.min_tasks:
        return "inconclusive", wording.too_few_tasks(pairs, float(evidence.effect), settings.min_tasks)
    if pairs.cannot_fall:
        return "pass", wording.cannot_fall(pairs)
    margin, undetected = pairs.margin(settings), pairs.max_undetected(settings)
    verdict: GateVerdict = classify(
        evidence, p_adjusted, False, margin=margin, max_undetected=undetected, alpha=settings.alpha
    ).item()
    if np.array_equal(pairs.baseline, pairs.current):
        needed = None if verdict == "pass" else tasks_to_show(undetected, settings.alpha)
        return verdict, wording.unchanged(pairs, evidence, needed, settings)
    if verdict != "inconclusive":
        return verdict, wording.tested(verdict, pairs, evidence, p_adjusted, settings)
    noise = _noise(pairs, settings, offset)
    needed = tasks_to_pass(noise, undetected, level, settings.power, 1 - settings.alpha, n + 1)
    return verdict, wording.undecided(pairs, evidence, noise, needed, settings)


def _p_at_best(pairs: Pairs, level: float, settings: GateSettings, offset: Offset | None) -> float | None:
    """The p-value of a decrease that fails even if all tasks improved that have the outcome in one run only.

    `None` if it does not fail then, and where that is not known: for scores, and by the rule of the tolerance.
    """
    if pairs.at_best is None or settings.rule == "tolerance":
        return None
    metrics = round(settings.alpha / level)
    evidence = _evidence(pairs.at_best, settings, metrics, offset)
    p_adjusted = min(1.0, float(evidence.p_regression) * metrics)
    margin, undetected = pairs.margin(settings), pairs.max_undetected(settings)
    verdict = classify(evidence, p_adjusted, False, margin=margin, max_undetected=undetected, alpha=settings.alpha)
    return p_adjusted if verdict.item() == "fail" else None


def _noise(pairs: Pairs, settings: GateSettings, offset: Offset | None) -> Noise:
    differences = pairs.differences
    error = _error(pairs, settings, offset)
    if error is not None:
        return Noise(error[0] * len(differences) ** 0.5)
    changed = float((differences != 0).mean()) if pairs.are_outcomes else None
    return Noise(float(differences.std(ddof=1)), changed)


def _by_tolerance(pairs: Pairs, settings: GateSettings) -> tuple[GateVerdict, str]:
    before, now = fmean(pairs.baseline), fmean(pairs.current)
    tolerance = settings.tolerance if pairs.lower_is_better else -settings.tolerance
    limit = before * (1 + settings.relative_delta) if pairs.is_relative else before + tolerance
    beyond = now > limit if pairs.lower_is_better else now < limit
    return ("fail" if beyond else "pass"), wording.with_tolerance(pairs, limit)

"""Error rates and power of the gate on a suite, simulated by resampling the suite's history.

Runs of the same agent and version under the same judges differ only by noise. Pairs of such runs give the rate of
false alarms; the same pairs with an injected decrease give the power.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

import numpy as np

from evaluation_assets.core.gating.paired_tests import classify, compare_outcomes, compare_scores, warning_level
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.gating.single_tasks import benjamini_hochberg, p_outcomes, p_scores
from evaluation_assets.core.gating.task_metrics import OUTCOMES

Values = Mapping[str, float]
"""A metric of one run, by task."""

_SIMULATIONS = 2000
"""For each injected effect."""

_SEED = 0


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of simulated comparisons by verdict, for one injected effect. The test of single tasks is included."""

    effect: float
    fails: float
    warns: float
    passes: float
    inconclusive: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Error rates and power of the gate on one metric of a suite.

    Attributes:
        source: what was resampled. `runs`: repeated runs of one version. `versions`: single runs of several versions,
            if none ran twice; changes between versions then count as noise.
        smallest_decrease: the smallest decrease that fails the gate with the configured power; `None` if no decrease
            up to 1 does.
        tolerance_false_alarms: the rate of false alarms of the rule `tolerance`.
        pairs: number of pairs of original runs, without resampling.
        pairs_failed: how many of these fail. A share well above the simulated rate means that the tasks of a run are
            correlated.
    """

    metric: str
    n_tasks: int
    n_runs: int
    source: Literal["runs", "versions"]
    rates: tuple[Rates, ...]
    smallest_decrease: float | None
    tolerance_false_alarms: float
    pairs: int
    pairs_failed: int


def calibrate(
    metric: str,
    repeated: Sequence[Sequence[Values]],
    settings: GateSettings,
    *,
    trials: int = 1,
) -> Calibration | None:
    """Simulate the gate on one metric. `None` if there are fewer than two comparable runs.

    Args:
        metric: name of the metric.
        repeated: the runs of each version. Versions are compared with each other only if none ran twice.
        settings: settings of the gate.
        trials: trials per task and run.
    """
    twice = [runs for runs in repeated if len(runs) > 1]
    groups = twice or [[runs[0] for runs in repeated]]
    tables = [table for runs in groups if (table := _table(runs)) is not None]
    if not tables:
        return None
    random = np.random.default_rng(_SEED)
    base, current = _drawn(tables, random)
    uniform = random.random(base.shape)
    effects = (0.0, settings.delta / 2, settings.delta, 2 * settings.delta)
    before, after = _as_they_were(tables)
    gate = BatchGate(metric, trials, settings)
    failed = [gate.verdicts(one[None], other[None])[0] == "fail" for one, other in zip(before, after, strict=True)]
    return Calibration(
        metric=metric,
        n_tasks=base.shape[1],
        n_runs=sum(len(table) for table in tables),
        source="runs" if twice else "versions",
        rates=tuple(gate.rates(base, _worse(current, effect, uniform), effect) for effect in effects),
        smallest_decrease=gate.smallest_decrease(base, current, uniform),
        tolerance_false_alarms=float((current.mean(axis=1) < base.mean(axis=1) - settings.tolerance).mean()),
        pairs=len(failed),
        pairs_failed=int(sum(failed)),
    )


def _table(runs: Sequence[Values]) -> np.ndarray | None:
    """Values as an array of runs x tasks, over the tasks that all runs have."""
    common = sorted(set.intersection(*(set(run) for run in runs))) if len(runs) > 1 else []
    return np.array([[run[task] for task in common] for run in runs]) if len(common) > 1 else None


def _drawn(tables: Sequence[np.ndarray], random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Simulated comparisons without a change: tasks drawn with replacement, and two different runs for each task."""
    size = min(table.shape[1] for table in tables)
    base, current = np.empty((_SIMULATIONS, size)), np.empty((_SIMULATIONS, size))
    for index in range(_SIMULATIONS):
        table = tables[int(random.integers(len(tables)))]
        tasks = random.integers(table.shape[1], size=size)
        first = random.integers(len(table), size=size)
        second = (first + random.integers(1, len(table), size=size)) % len(table)
        base[index], current[index] = table[first, tasks], table[second, tasks]
    return base, current


def _as_they_were(tables: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """All ordered pairs of original runs."""
    pairs = [(table[one], table[other]) for table in tables for one, other in permutations(range(len(table)), 2)]
    return [before for before, _ in pairs], [after for _, after in pairs]


def _is_outcomes(base: np.ndarray, current: np.ndarray) -> bool:
    return bool(np.isin(base, (0, 1)).all() and np.isin(current, (0, 1)).all())


def _worse(current: np.ndarray, effect: float, uniform: np.ndarray) -> np.ndarray:
    """The current runs with an injected effect: scores are shifted; of outcomes, passes are turned into failures."""
    if effect == 0:
        return current
    if not np.isin(current, (0, 1)).all():
        return current - effect
    rate = current.mean()
    return np.where(uniform < (min(1.0, effect / rate) if rate > 0 else 0.0), 0.0, current)


@dataclass(frozen=True, slots=True)
class BatchGate:
    """The gate on one metric, vectorised over comparisons (tasks are the last axis)."""

    metric: str
    trials: int
    settings: GateSettings

    def verdicts(self, base: np.ndarray, current: np.ndarray) -> np.ndarray:
        """The verdict of each comparison."""
        settings, size = self.settings, base.shape[1]
        differences = current - base
        if size < settings.min_tasks:
            return np.full(len(base), "inconclusive")
        if _is_outcomes(base, current):
            lost, gained = (differences < 0).sum(axis=1), (differences > 0).sum(axis=1)
            evidence = compare_outcomes(lost, gained, size, settings.delta, settings.alpha, settings.power)
        else:
            evidence = compare_scores(differences, settings.delta, settings.alpha, settings.power)
        verdicts = classify(
            evidence,
            evidence.p_regression,
            (differences == 0).all(axis=1) & (base == 0).all(axis=1),
            margin=settings.delta,
            max_undetected=settings.max_undetected,
            alpha=settings.alpha,
        )
        return np.where((verdicts == "pass") & self.has_fallen(base, current), "warn", verdicts)

    def has_fallen(self, base: np.ndarray, current: np.ndarray) -> np.ndarray:
        """Which comparisons have a single task that fell significantly."""
        if self.metric in OUTCOMES or _is_outcomes(base, current):
            p_values = p_outcomes(base, self.trials, current, self.trials)
        else:
            p_values = p_scores(current - base)
        fell = base - current >= self.settings.fallen_drop - 1e-9
        return np.any(fell & (benjamini_hochberg(p_values) <= warning_level(self.settings.alpha)), axis=-1)

    def rates(self, base: np.ndarray, current: np.ndarray, effect: float) -> Rates:
        """Shares of the comparisons by verdict."""
        verdicts = self.verdicts(base, current)
        fails, warns, passes, inconclusive = (
            float((verdicts == verdict).mean()) for verdict in ("fail", "warn", "pass", "inconclusive")
        )
        return Rates(effect, fails, warns, passes, inconclusive)

    def smallest_decrease(self, base: np.ndarray, current: np.ndarray, uniform: np.ndarray) -> float | None:
        """The smallest decrease that fails with the configured power, to three decimals, by bisection."""

        def power(effect: float) -> float:
            return float((self.verdicts(base, _worse(current, effect, uniform)) == "fail").mean())

        low, high = 0.0, 1.0
        if power(high) < self.settings.power:
            return None
        while high - low > 0.0005:
            middle = (low + high) / 2
            low, high = (low, middle) if power(middle) >= self.settings.power else (middle, high)
        return round(high, 3)

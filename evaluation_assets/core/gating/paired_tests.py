"""Statistical tests of the gate. Differences are `current - baseline`, one per task; higher is better.

All functions are vectorised: they take one comparison (last axis: tasks) or a stack of them, so that the calibration
runs the same code as the gate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, inf, log, log1p, sqrt
from typing import Any

import numpy as np
import scipy

Floats = np.ndarray | float

POWER = 0.8


@dataclass(frozen=True, slots=True)
class Evidence:
    """Results of the paired tests. Each field is a number, or an array with one number per comparison.

    `p_regression` is the p-value of the null hypothesis "no decrease", `p_non_inferior` that of "a decrease of the
    margin or more". The interval inverts the two one-sided tests, so its confidence is `1 - 2 alpha`. `detectable` is
    the decrease that is detectable with these tasks and the configured power; if no outcome changed, the decrease that
    loses at least one task with the probability `1 - alpha`.
    """

    effect: Any
    low: Any
    high: Any
    p_regression: Any
    p_non_inferior: Any
    detectable: Any


def compare_scores(
    differences: np.ndarray,
    margin: float,
    alpha: float,
    power: float = POWER,
    *,
    metrics: int = 1,
    std_error: float | None = None,
    degrees: float | None = None,
) -> Evidence:
    """One-sided paired t-tests.

    Args:
        differences: one per task.
        margin: largest tolerated decrease.
        alpha: significance level of each test.
        power: power for `detectable`.
        metrics: number of metrics over which p-values will be adjusted; `detectable` is at the level `alpha / metrics`.
        std_error: standard error to use if tasks are correlated; the default is that of independent tasks.
        degrees: degrees of freedom of `std_error`.
    """
    size = differences.shape[-1]
    effect = differences.mean(axis=-1)
    error = differences.std(axis=-1, ddof=1) / np.sqrt(size) if std_error is None else np.asarray(std_error)
    freedom = size - 1 if degrees is None else degrees
    with np.errstate(divide="ignore", invalid="ignore"):
        p_regression = scipy.special.stdtr(freedom, effect / error)
        p_non_inferior = scipy.special.stdtr(freedom, -(effect + margin) / error)
    constant = ~(error > 1e-12)
    half = scipy.special.stdtrit(freedom, 1 - alpha) * error
    visible = scipy.special.stdtrit(freedom, 1 - alpha / metrics) + scipy.special.stdtrit(freedom, power)
    return Evidence(
        effect,
        effect - half,
        effect + half,
        np.where(constant, np.where(effect < -1e-12, 0.0, 1.0), p_regression),
        np.where(constant, np.where(effect <= -margin + 1e-12, 1.0, 0.0), p_non_inferior),
        visible * error,
    )


def compare_outcomes(
    lost: Floats, gained: Floats, tasks: int, margin: float, alpha: float, power: float = POWER, *, metrics: int = 1
) -> Evidence:
    """Tests of paired outcomes, given how many tasks were lost and gained since the baseline.

    `p_regression` is the exact unconditional test on McNemar's statistic: Suissa and Shuster, Biometrics 47 (1991). It
    keeps its level like McNemar's conditional test and has more power. Interval and non-inferiority add half a task to
    both counts: Agresti and Min, Statistics in Medicine 24 (2005). If no task changed, `p_non_inferior` is exact: the
    probability that no task is lost if the true share of lost tasks is the margin; so is `detectable`. The interval is
    clipped to -1..1.
    """
    lost, gained = np.asarray(lost, float), np.asarray(gained, float)
    size = tasks + 2
    shift = (gained - lost) / size
    error = np.sqrt(lost + gained + 1 - (gained - lost) ** 2 / size) / size
    half = scipy.special.ndtri(1 - alpha) * error
    p_non_inferior = np.where(lost + gained > 0, scipy.special.ndtr(-(shift + margin) / error), (1 - margin) ** tasks)
    return Evidence(
        (gained - lost) / tasks,
        np.maximum(shift - half, -1),
        np.minimum(shift + half, 1),
        np.vectorize(_p_lost, otypes=[float])(lost, gained, tasks),
        p_non_inferior,
        np.where(
            lost + gained > 0,
            np.vectorize(_detectable_loss, otypes=[float])(lost + gained, tasks, alpha / metrics, power),
            1 - alpha ** (1 / tasks),
        ),
    )


def tasks_to_show(decrease: float, alpha: float) -> int:
    """The number of tasks of which a decrease loses at least one with the probability `1 - alpha`."""
    return 1 if decrease >= 1 else ceil(log(alpha) / log1p(-decrease) - 1e-9)


_SHARES = np.concatenate([np.geomspace(0.001, 0.1, 60), np.linspace(0.1, 1, 91)[1:]])
"""Grid of the nuisance parameter, the share of tasks that change. The exact test takes the maximum p-value over it."""


@lru_cache(maxsize=16)
def _changed(tasks: int) -> np.ndarray:
    """The distribution of the number of changed tasks, for every share in the grid."""
    return np.stack([_binomial(tasks, share) for share in _SHARES])


def _binomial(n: int, share: float) -> np.ndarray:
    k = np.arange(n + 1)
    ways = scipy.special.gammaln(n + 1) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(n - k + 1)
    return np.exp(ways + scipy.special.xlogy(k, share) + scipy.special.xlog1py(n - k, -share))


def _beyond(z: float, tasks: int, share_lost: float) -> np.ndarray:
    """For every number of changed tasks, the probability that `(lost - gained) / sqrt(changed)` is at least `z` > 0."""
    changed = np.arange(tasks + 1)
    least = np.maximum(np.ceil((changed + z * np.sqrt(changed)) / 2 - 1e-9), 1)
    return np.where(least <= changed, scipy.special.betainc(least, np.maximum(changed - least, 0) + 1, share_lost), 0.0)


@lru_cache(maxsize=4096)
def _p_of(z: float, tasks: int) -> float:
    return min(1.0, float((_changed(tasks) @ _beyond(z, tasks, 0.5)).max()))


def _p_lost(lost: float, gained: float, tasks: int) -> float:
    return _p_of((lost - gained) / sqrt(lost + gained), tasks) if lost > gained else 1.0


@lru_cache(maxsize=256)
def _critical(tasks: int, alpha: float) -> float:
    """The smallest significant statistic; infinite if not even the loss of all tasks is significant."""
    low, high = 0.0, sqrt(tasks)
    if _p_of(high, tasks) > alpha:
        return inf
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if _p_of(middle, tasks) <= alpha else (middle, high)
    return high


@lru_cache(maxsize=4096)
def _detectable_loss(changed: float, tasks: int, alpha: float, power: float) -> float:
    """The decrease that is significant with this power if `changed` tasks change by chance, half in each direction."""
    z, gains = _critical(tasks, alpha), changed / (2 * tasks)
    if z == inf:
        return 1.0
    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        share = min(1.0, 2 * gains + middle)
        reached = float(_binomial(tasks, share) @ _beyond(z, tasks, (share + middle) / (2 * share)))
        low, high = (low, middle) if reached >= power else (middle, high)
    return high


def classify(
    evidence: Evidence,
    p_adjusted: Floats,
    cannot_fall: Any,
    *,
    margin: float,
    max_undetected: float,
    alpha: float,
) -> np.ndarray:
    """The verdict of each comparison: `fail`, `warn`, `pass` or `inconclusive`.

    `fail`: a significant decrease of the margin or more. `warn`: a smaller decrease, significant at `warning_level`.
    `pass`: no significant decrease, and none was possible, or a decrease of the margin is ruled out, or a decrease of
    `max_undetected` would have been detected.
    """
    p_adjusted = np.asarray(p_adjusted)
    beyond = (p_adjusted <= alpha) & (evidence.effect <= -margin + 1e-12)
    seen = cannot_fall | (evidence.p_non_inferior <= alpha) | (evidence.detectable <= max_undetected)
    return np.select([beyond, p_adjusted <= warning_level(alpha), seen], ["fail", "warn", "pass"], "inconclusive")


def warning_level(alpha: float) -> float:
    """Significance level of each of the two reasons to warn (a small decrease, single tasks); together `alpha`."""
    return alpha / 2


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm-adjusted p-values. Source: Holm, Scandinavian Journal of Statistics 6 (1979)."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


@dataclass(frozen=True, slots=True)
class Noise:
    """How far the tasks of an unchanged agent differ between two runs.

    `spread` is the standard deviation of a task's difference, larger where tasks are correlated; for outcomes that are
    not, `changed` is the share of tasks whose outcome changed.
    """

    spread: float
    changed: float | None = None


_MOST_EXACT = 1000
"""Tasks for which the exact test is planned with; beyond, the normal approximation takes its place."""


def tasks_to_pass(noise: Noise, decrease: float, alpha: float, power: float, confidence: float, least: int) -> int:
    """The number of tasks, at least `least`, with which a run that did not change is likely to pass.

    It passes if a decrease of `decrease` is detectable at the level `alpha` with `power`. Whether it is depends on how
    many tasks happen to differ in that run: `confidence` is the probability that few enough do.
    """

    def is_likely(tasks: int) -> bool:
        if noise.changed is None or tasks > _MOST_EXACT:
            largest = noise.spread * sqrt(scipy.special.chdtri(tasks - 1, 1 - confidence) / (tasks - 1))
            quantiles = scipy.special.stdtrit(tasks - 1, 1 - alpha) + scipy.special.stdtrit(tasks - 1, power)
            return float(quantiles) * largest / sqrt(tasks) <= decrease
        most = round(float(scipy.special.bdtrik(confidence, tasks, noise.changed)) + 0.5)
        return _detectable_loss(float(min(most, tasks)), tasks, alpha, power) <= decrease

    low, high = least - 1, max(2 * least, 4)
    while not is_likely(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_likely(middle) else (middle, high)
    return high


def tasks_needed(spread: float, margin: float, alpha: float, power: float) -> int:
    """Number of tasks needed to detect, or rule out, a decrease of the margin with the given power.

    `spread` is the standard deviation of a task's difference. `n = ((z_alpha + z_power) * spread / margin)^2 + 2`; the
    2 corrects for Student's t instead of the normal distribution.
    """
    z = float(scipy.special.ndtri(1 - alpha) + scipy.special.ndtri(power))
    return ceil((z * spread / margin) ** 2 - 1e-9) + 2

"""The tests of the gate. Differences are `current - baseline`, one a task, and higher is better.

All functions take one comparison (last axis: tasks) or many of them stacked, so that the simulation that measures the
gate's error rates runs the very same code.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, nan
from typing import Any

import numpy as np
from scipy import special

Floats = np.ndarray | float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What paired tasks say. Each field is a number, or an array with one number a comparison.

    `p_regression` is the p-value of "no drop", `p_non_inferior` that of "a drop of the margin or more". The interval
    has confidence `1 - 2 alpha`: its ends are the two one-sided tests turned round.
    """

    effect: Any
    low: Any
    high: Any
    p_regression: Any
    p_non_inferior: Any


def compare_scores(
    differences: np.ndarray, margin: float, alpha: float, *, std_error: float | None = None, degrees: int | None = None
) -> Evidence:
    """One-sided paired t-tests. `std_error` and `degrees` replace the ones of independent tasks where tasks cluster."""
    size = differences.shape[-1]
    effect = differences.mean(axis=-1)
    error = differences.std(axis=-1, ddof=1) / np.sqrt(size) if std_error is None else np.asarray(std_error)
    freedom = size - 1 if degrees is None else degrees
    with np.errstate(divide="ignore", invalid="ignore"):
        p_regression = special.stdtr(freedom, effect / error)
        p_non_inferior = special.stdtr(freedom, -(effect + margin) / error)
    constant = ~(error > 1e-12)
    half = special.stdtrit(freedom, 1 - alpha) * error
    return Evidence(
        effect,
        effect - half,
        effect + half,
        np.where(constant, np.where(effect < -1e-12, 0.0, 1.0), p_regression),
        np.where(constant, np.where(effect <= -margin + 1e-12, 1.0, 0.0), p_non_inferior),
    )


def compare_outcomes(lost: Floats, gained: Floats, tasks: int, margin: float, alpha: float) -> Evidence:
    """Paired outcomes: how many tasks were lost and gained since the baseline.

    `p_regression` is McNemar's exact test. Interval and non-inferiority add half a task to both counts: Agresti and
    Min, Statistics in Medicine 24 (2005). Without any change `p_non_inferior` is exact: the chance that no task is
    lost where the margin is the true share that is.
    """
    lost, gained = np.asarray(lost, float), np.asarray(gained, float)
    p_regression = np.where(lost > 0, special.betainc(np.maximum(lost, 1), gained + 1, 0.5), 1.0)
    size = tasks + 2
    shift = (gained - lost) / size
    error = np.sqrt(lost + gained + 1 - (gained - lost) ** 2 / size) / size
    half = special.ndtri(1 - alpha) * error
    p_non_inferior = np.where(lost + gained > 0, special.ndtr(-(shift + margin) / error), (1 - margin) ** tasks)
    return Evidence((gained - lost) / tasks, shift - half, shift + half, p_regression, p_non_inferior)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for their number. Source: Holm, Scandinavian Journal of Statistics 6 (1979)."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def tasks_needed(spread: float, margin: float, alpha: float, power: float) -> int:
    """Tasks with which a drop of the margin is seen, or its absence shown, with the given power.

    `spread` is the standard deviation of a task's difference. `n = ((z_alpha + z_power) * spread / margin)^2 + 2`; the
    2 stands for the step from the normal distribution to Student's t.
    """
    z = float(special.ndtri(1 - alpha) + special.ndtri(power))
    return ceil((z * spread / margin) ** 2 - 1e-9) + 2


def smallest_drop(std_error: float, degrees: int, alpha: float, power: float) -> float:
    """The drop that is called one with the given power: `(t_alpha + t_power) * SE`."""
    if degrees < 1:
        return nan
    return float(special.stdtrit(degrees, 1 - alpha) + special.stdtrit(degrees, power)) * std_error

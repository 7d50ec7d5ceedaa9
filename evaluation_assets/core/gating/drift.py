"""Detect drift of a suite over many nightly runs against one baseline.

Testing every night multiplies false alarms: at 5% per night, four of five months have one. The e-process allows a test
every night and keeps the probability of a false alarm over all nights at `alpha` or less. CUSUM detects a small
permanent shift sooner, without that guarantee.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
import scipy

CUSUM_SLACK = 0.5
CUSUM_LIMIT = 5.0
_TILTS = np.array([0.5, 1.0, 1.5, 2.0])
_CONFIDENCE = 0.95
"""The baseline is replaced by its lower bound of this confidence: noise in it would otherwise alarm every night."""

_SAME = 1e-12
_LEAST_TAIL = 1e-300


@dataclass(frozen=True, slots=True)
class Drift:
    """A suite's nights since its baseline, oldest first.

    `z` is each night's effect as a normal quantile; `cusum` and `e_values` are the two charts. `alarm` is `e_process`
    if any night's e-value reached its limit, even if later nights were better; otherwise `cusum` if the last night's
    sum reached its limit; otherwise `None`.
    """

    z: tuple[float, ...]
    cusum: tuple[float, ...]
    e_values: tuple[float, ...]
    alarm: Literal["e_process", "cusum"] | None


def night(differences: Sequence[float] | np.ndarray, baseline_runs: int) -> float | None:
    """One night's `z` from the paired differences `current - baseline` of its tasks; `None` for fewer than two tasks.

    The variance of a difference has two parts: the share `runs / (runs + 1)` is noise of the night, and
    `1 / (runs + 1)` is noise of the baseline, which is the mean of `baseline_runs` runs. The effect in standard errors
    follows Student's t, whose tails are heavy with few tasks: `z` is the normal quantile of the same probability. Where
    all tasks have moved by the same amount, one that has not is added, since the standard error would be 0.
    """
    values = np.asarray(differences, float)
    if len(values) < 2:
        return None
    if float(values.std(ddof=1)) < _SAME:
        if abs(float(values.mean())) < _SAME:
            return 0.0
        values = np.append(values, 0.0)
    degrees = len(values) - 1
    error = float(values.std(ddof=1)) / sqrt(len(values))
    of_baseline, of_night = error / sqrt(baseline_runs + 1), error * sqrt(baseline_runs / (baseline_runs + 1))
    lower = float(scipy.special.stdtrit(degrees, _CONFIDENCE)) * of_baseline
    return _normal((float(values.mean()) + lower) / of_night, degrees)


def _normal(ratio: float, degrees: int) -> float:
    """The normal quantile of the probability that Student's t has below `ratio`."""
    tail = float(scipy.special.ndtri(max(float(scipy.special.stdtr(degrees, -abs(ratio))), _LEAST_TAIL)))
    return tail if ratio < 0 else -tail


def drift(z: Sequence[float], alpha: float) -> Drift:
    """Both charts over the nights' `z`.

    CUSUM: `s = max(0, s - z - 0.5)`, limit 5 (Page, Biometrika 41, 1954). E-process: mean over k of
    `exp(sum(-k z - k^2 / 2))`, a test martingale while no night's expectation is below the baseline; limit `1 / alpha`
    by Ville's inequality.
    """
    total, sums = 0.0, []
    for value in z:
        total = max(0.0, total - value - CUSUM_SLACK)
        sums.append(total)
    exponents = np.cumsum(-_TILTS[:, None] * np.asarray(z, float) - _TILTS[:, None] ** 2 / 2, axis=1)
    e_values = np.exp(np.minimum(exponents, 700.0)).mean(axis=0)
    alarm: Literal["e_process", "cusum"] | None = None
    if len(e_values) and e_values.max() >= 1 / alpha:
        alarm = "e_process"
    elif sums and sums[-1] >= CUSUM_LIMIT:
        alarm = "cusum"
    return Drift(tuple(z), tuple(sums), tuple(float(value) for value in e_values), alarm)

"""Confidence intervals of means and rates. The unit is the task, not the step or trial."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy import special

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `n` clusters with standard error and two-sided interval; both are `None` for a single value."""

    mean: float
    std_error: float | None
    low: float | None
    high: float | None
    n: int


def wilson(successes: float, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Interval of a rate. Source: Wilson, JASA 22 (1927); its coverage is good from 10 observations on."""
    z = float(special.ndtri(0.5 + confidence / 2))
    rate = successes / n
    centre = rate + z * z / (2 * n)
    half = z * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return min(rate, max(0.0, (centre - half) / scale)), max(rate, min(1.0, (centre + half) / scale))


def clustered(values: Sequence[float] | np.ndarray, clusters: Sequence[Hashable]) -> tuple[float, float, int]:
    """Mean, its standard error and the degrees of freedom for values correlated within clusters.

    `SE = sqrt(G / (G - 1) * sum_g (sum_i (x_gi - mean))^2) / n` with `G` clusters. Source: Miller, Adding Error Bars
    to Evals (2024), section 2.2, with the finite-sample factor of the CR1 estimator.
    """
    numbers = np.asarray(values, float)
    position = {cluster: index for index, cluster in enumerate(dict.fromkeys(clusters))}
    mean = float(numbers.mean())
    if len(position) < 2:
        return mean, float("nan"), 0
    members = np.fromiter((position[cluster] for cluster in clusters), int, len(clusters))
    sums = np.bincount(members, numbers - mean)
    size = len(position)
    return mean, sqrt(size / (size - 1) * float((sums**2).sum())) / len(numbers), size - 1


def mean_of_tasks(values: Sequence[float]) -> Estimate:
    """Mean of one value per task. Outcomes (only 0 and 1) get Wilson's interval, scores get Student's t interval."""
    n = len(values)
    mean, error, degrees = clustered(values, range(n))
    if n < 2:
        return Estimate(mean, None, None, None, n)
    if set(values) <= {0.0, 1.0}:
        return Estimate(mean, error, *wilson(sum(values), n), n)
    half = float(special.stdtrit(degrees, 0.5 + CONFIDENCE / 2)) * error
    return Estimate(mean, error, mean - half, mean + half, n)

"""Confidence intervals of means and rates. The unit is the task, not the step or trial."""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist, fmean

import numpy as np
import scipy

CONFIDENCE = 0.95

MIN_CLUSTERS = 5
"""Means over fewer tasks are reported without an interval: their standard error is itself a guess."""

_NO_VARIATION = 1e-9


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `n` clusters with standard error and two-sided interval; both are `None` for a single value."""

    mean: float
    std_error: float | None
    low: float | None
    high: float | None
    n: int


def wilson(successes: float, n: float, degrees: float | None = None) -> tuple[float, float]:
    """95% interval of a rate. Source: Wilson, JASA 22 (1927); its coverage is good from 10 observations on.

    With `degrees`, `n` is an estimate, and the quantile is that of Student's t.
    """
    quantile = 0.5 + CONFIDENCE / 2
    z = NormalDist().inv_cdf(quantile) if degrees is None else float(scipy.special.stdtrit(degrees, quantile))
    rate = successes / n
    centre = rate + z * z / (2 * n)
    half = z * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return min(rate, max(0.0, (centre - half) / scale)), max(rate, min(1.0, (centre + half) / scale))


def rate_interval(outcomes_by_task: Collection[Sequence[bool]]) -> tuple[float, float]:
    """95% interval of the share of trials with the outcome true: Wilson's, with the effective number of trials.

    That is `rate * (1 - rate) / SE^2` with the standard error of `clustered`, at most the number of trials, and the
    quantile of Student's t. Source: Dean and Pagano, Journal of Survey Statistics and Methodology 3 (2015), modified
    Wilson interval; a plain t interval covers a rate of 0.95 in 54% with ten tasks of four trials. It is at least the
    effective number of tasks, `(sum m)^2 / sum m^2` with `m` trials of each task (Kish, Survey Sampling, 1965, section
    8.2), which holds where the trials of a task agree, and below five, where the standard error is itself a guess.
    """
    sizes = [len(outcomes) for outcomes in outcomes_by_task]
    trials = sum(sizes)
    share = sum(map(sum, outcomes_by_task)) / trials
    tasks = trials**2 / sum(size**2 for size in sizes)
    values = [float(outcome) for outcomes in outcomes_by_task for outcome in outcomes]
    _, error, _ = clustered(values, [task for task, size in enumerate(sizes) for _ in range(size)])
    return _wilson_over_tasks(share, error, tasks, trials)


def share_interval(shares: Sequence[float], trials: float) -> tuple[float, float]:
    """95% interval of the mean of one share for each task, such as pass^k: as `rate_interval`, whose it is for pass^1.

    `trials` is the number of trials that all shares are from. A plain t interval covers a pass^2 of 0.055 in 68% with
    ten tasks of four trials, this one in 98%.
    """
    mean, error, _ = clustered(shares, range(len(shares)))
    return _wilson_over_tasks(mean, error, len(shares), trials)


def _wilson_over_tasks(share: float, error: float, tasks: float, trials: float) -> tuple[float, float]:
    """Wilson's interval with the effective number of trials: at least that of tasks, at most that of trials."""
    if tasks < MIN_CLUSTERS or error < _NO_VARIATION:
        return wilson(share * tasks, tasks)
    effective = min(trials, share * (1 - share) / error**2)
    if effective <= tasks:
        return wilson(share * tasks, tasks)
    return wilson(share * effective, effective, degrees=tasks - 1)


def half_width(std_error: float, degrees: float) -> float:
    """Half the width of Student's 95% interval of a mean."""
    return float(scipy.special.stdtrit(degrees, 0.5 + CONFIDENCE / 2)) * std_error


def clustered(values: Sequence[float] | np.ndarray, clusters: Sequence[Hashable]) -> tuple[float, float, int]:
    """Mean, its standard error and the degrees of freedom for values correlated within clusters.

    `SE = sqrt(G / (G - 1) * sum_g (sum_i (x_gi - mean))^2) / n` with `G` clusters. Source: Miller, Adding Error Bars
    to Evals (2024), section 2.2, with the finite-sample factor of the CR1 estimator.
    """
    return mean_of_clustered_means([(values, clusters)])


Clustered = tuple[Sequence[float] | np.ndarray, Sequence[Hashable]]
"""Values, and the cluster of each."""


def mean_of_clustered_means(groups: Sequence[Clustered]) -> tuple[float, float, int]:
    """Mean of the groups' means, with standard error and degrees of freedom as `clustered`.

    Groups share clusters, for instance criteria of the same clips. The deviations of values from the mean of their
    group, divided by the size of the group, are summed by cluster over all groups.
    """
    position: dict[Hashable, int] = {}
    for _, clusters in groups:
        for cluster in clusters:
            position.setdefault(cluster, len(position))
    sums, means = np.zeros(len(position)), []
    for values, clusters in groups:
        numbers = np.asarray(values, float)
        means.append(float(numbers.mean()))
        members = np.fromiter((position[cluster] for cluster in clusters), int, len(clusters))
        sums += np.bincount(members, (numbers - means[-1]) / len(numbers), len(position))
    mean, size = fmean(means), len(position)
    if size < 2:
        return mean, float("nan"), 0
    return mean, sqrt(size / (size - 1) * float((sums**2).sum())) / len(groups), size - 1


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided 95% interval of a mean, 0..1, over `n` clusters; ends are `None` if there is none to give."""

    low: float | None
    high: float | None
    n: int


def interval_of_mean(groups: Sequence[Clustered]) -> Interval:
    """The interval of a mean of scores, or of a mean of groups' means, over tasks.

    Student's t with cluster-robust standard errors, clipped to 0..1. If all values are 0 or 1, `rate_interval`: where
    all are 1, it holds for scores in between too, as their mean is not below the share of ones. None below
    `MIN_CLUSTERS` tasks, and none for other scores that do not vary: a width of 0 would claim certainty.
    """
    mean, error, degrees = mean_of_clustered_means(groups)
    n = degrees + 1 if degrees else len({cluster for _, clusters in groups for cluster in clusters})
    if n < MIN_CLUSTERS:
        return Interval(None, None, n)
    outcomes = _outcomes(*groups[0]) if len(groups) == 1 else None
    if outcomes is not None:
        return Interval(*rate_interval(outcomes), n)
    if error < _NO_VARIATION:
        return Interval(None, None, n)
    half = half_width(error, degrees)
    return Interval(max(0.0, mean - half), min(1.0, mean + half), n)


def _outcomes(values: Sequence[float] | np.ndarray, clusters: Sequence[Hashable]) -> list[list[bool]] | None:
    """The outcomes of each cluster; `None` if any value is neither 0 nor 1."""
    if not set(np.unique(values)) <= {0.0, 1.0}:
        return None
    by_cluster: dict[Hashable, list[bool]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        by_cluster.setdefault(cluster, []).append(bool(value))
    return list(by_cluster.values())


def sampled_mean(values: Sequence[float], clusters: Sequence[Hashable], population: int) -> Estimate:
    """Mean of a population from a sample of its clusters, all values of a cluster being in the sample or none.

    With `g` sampled clusters of `G` in the population and `d_i = (mean without cluster i - mean)^2`, the standard error
    is the jackknife, `sqrt((1 - g / G) * (g - 1) / g * sum_i d_i)`. Degrees of freedom are Satterthwaite's,
    `(sum_i d_i)^2 / sum_i d_i^2 - 1`, because few clusters can carry most of the variance. Without variation there is
    no interval, unless all clusters are sampled. Source: Lohr, Sampling: Design and Analysis (3rd ed., 2021), sections
    4.1 (ratio of a cluster sample) and 9.3 (jackknife).

    Args:
        values: Sampled values.
        clusters: The cluster of each value, for instance its trajectory.
        population: Number of clusters in the population, sampled or not.
    """
    numbers = np.asarray(values, float)
    position = {cluster: index for index, cluster in enumerate(dict.fromkeys(clusters))}
    members = np.fromiter((position[cluster] for cluster in clusters), int, len(clusters))
    size = len(position)
    sums, weight = np.bincount(members, numbers), np.bincount(members)
    mean = float(sums.sum() / weight.sum())
    if size < 2:
        return Estimate(mean, None, None, None, size)
    without = (sums.sum() - sums) / (weight.sum() - weight)
    squares = (without - mean) ** 2
    unseen = max(0.0, 1 - size / population)
    error = sqrt(unseen * (size - 1) / size * float(squares.sum()))
    if unseen and error < _NO_VARIATION:
        return Estimate(mean, error, None, None, size)
    spread = float((squares**2).sum())
    degrees = max(1.0, float(squares.sum()) ** 2 / spread - 1) if spread else size - 1
    half = half_width(error, degrees)
    return Estimate(mean, error, mean - half, mean + half, size)


def mean_of_tasks(values: Sequence[float]) -> Estimate:
    """Mean of one value per task with Student's t interval.

    None below `MIN_CLUSTERS` tasks, and none for values that do not vary: a width of 0 would claim certainty.
    """
    n = len(values)
    mean, error, degrees = clustered(values, range(n))
    if n < MIN_CLUSTERS or error < _NO_VARIATION:
        return Estimate(mean, error if n > 1 else None, None, None, n)
    half = half_width(error, degrees)
    return Estimate(mean, error, mean - half, mean + half, n)


def share_of_tasks(shares: Sequence[float], trials: float) -> Estimate:
    """Mean of one share for each task, from so many trials, with `share_interval`."""
    mean, error, _ = clustered(shares, range(len(shares)))
    return Estimate(mean, error if len(shares) > 1 else None, *share_interval(shares, trials), len(shares))

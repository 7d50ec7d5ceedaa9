"""Reliability of judges and panels: agreement beyond chance, and the effective number of judges.

Agreement between judges is not validity: models of different providers make the same errors. Only human labels show
validity.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, sqrt
from statistics import fmean, variance
from typing import Any

import numpy as np
import scipy

from evaluation_assets.core.scoring.agreement import krippendorff_alpha
from evaluation_assets.core.scoring.intervals import MIN_CLUSTERS

_RESAMPLES = 1000
_SEED = 0
_LEAST_SUBJECTS = 10
Statistic = float | None


@dataclass(frozen=True, slots=True)
class Components:
    """Two-way analysis of variance of subjects x judges.

    `icc_single` is the reliability of one judge, `icc_panel` that of the mean of this panel, both for absolute
    agreement: ICC(2,1) and ICC(2,k) of Shrout and Fleiss, Psychological Bulletin 86 (1979). `None` without variation.
    """

    icc_single: Statistic
    icc_panel: Statistic
    n_subjects: int
    n_judges: int


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> Statistic:
    """Cohen's kappa: agreement of two raters beyond chance; `None` if both always give the same single category.

    Source: Cohen, Educational and Psychological Measurement 20 (1960).
    """
    n = len(first)
    if n == 0:
        return None
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    expected = sum(first.count(category) * second.count(category) for category in set(first)) / n**2
    return (observed - expected) / (1 - expected) if expected < 1 else None


def kappa_interval(
    first: Sequence[Hashable], second: Sequence[Hashable], clusters: Sequence[Hashable] | None = None
) -> tuple[Statistic, Statistic]:
    """95% interval of kappa: a Bayesian bootstrap over clusters; undefined below 10 subjects or 5 clusters.

    `clusters` holds the task of each subject; by default each is its own. In each draw a cluster has an exponential
    weight (Rubin, Annals of Statistics 9, 1981), and the pairs of categories share the weight of one more cluster of
    mean size. Without it, raters that agree on all subjects would have an interval of width 0.
    """
    if len(first) < _LEAST_SUBJECTS:
        return None, None
    categories = {category: index for index, category in enumerate(dict.fromkeys([*first, *second]))}
    size = len(categories)
    cells = [categories[a] * size + categories[b] for a, b in zip(first, second, strict=True)]
    members, count = _numbered(clusters, len(first))
    if count < MIN_CLUSTERS or size < 2:
        return None, None
    pairs = members * size * size + np.array(cells)
    tables = np.bincount(pairs, minlength=count * size * size).reshape(count, size * size)
    random = np.random.default_rng(_SEED)
    drawn = random.exponential(size=(_RESAMPLES, count)) @ tables
    drawn += random.gamma(1 / size**2, size=drawn.shape) * (len(first) / count)
    shares = (drawn / drawn.sum(axis=1, keepdims=True)).reshape(-1, size, size)
    return _percentiles(_kappas(shares))


def kappa_difference(
    truth: Sequence[bool],
    before: Sequence[bool],
    after: Sequence[bool],
    clusters: Sequence[Hashable],
) -> tuple[Statistic, Statistic]:
    """95% interval of the kappa of `after` with the truth less that of `before`, over the same subjects.

    A Bayesian bootstrap over clusters as in `kappa_interval`. One more cluster of mean size is added in which as many
    verdicts change for the better as for the worse, as Agresti and Min do for pairs of outcomes (Statistics in Medicine
    24, 2005). Without it, three changes that happen to be for the better would always lie above 0: in simulations
    without an effect the interval was above 0 in up to 30%, with it in up to 5%. Undefined below 10 subjects or 5
    clusters.
    """
    members, count = _numbered(clusters, len(truth))
    if len(truth) < _LEAST_SUBJECTS or count < MIN_CLUSTERS:
        return None, None
    cells = np.array([4 * t + 2 * b + a for t, b, a in zip(truth, before, after, strict=True)], int)
    tables = np.bincount(members * 8 + cells, minlength=count * 8).reshape(count, 8)
    random = np.random.default_rng(_SEED)
    drawn = random.exponential(size=(_RESAMPLES, count)) @ tables
    differing = [1, 2, 5, 6]
    drawn[:, differing] += random.gamma(1 / len(differing), size=(_RESAMPLES, len(differing))) * (len(truth) / count)
    shares = (drawn / drawn.sum(axis=1, keepdims=True)).reshape(-1, 2, 2, 2)
    with np.errstate(invalid="ignore"):
        differences = _kappas(shares.sum(axis=2)) - _kappas(shares.sum(axis=3))
    return _percentiles(np.nan_to_num(differences))


def _kappas(shares: np.ndarray) -> np.ndarray:
    """Kappa of tables of the shares of truth and verdict."""
    expected = (shares.sum(axis=1) * shares.sum(axis=2)).sum(axis=1)
    return (np.trace(shares, axis1=1, axis2=2) - expected) / (1 - expected)


def _numbered(clusters: Sequence[Hashable] | None, n: int) -> tuple[np.ndarray, int]:
    """The number of the cluster of each of `n` subjects, and how many clusters there are."""
    if clusters is None:
        return np.arange(n), n
    numbers = {cluster: index for index, cluster in enumerate(dict.fromkeys(clusters))}
    return np.array([numbers[cluster] for cluster in clusters], int), len(numbers)


def alpha_of(ratings: np.ndarray) -> Statistic:
    """Krippendorff's alpha (interval metric) of an array of subjects x raters, with NaN for missing scores."""
    counts = (~np.isnan(ratings)).sum(axis=1)
    ratings, counts = ratings[counts >= 2], counts[counts >= 2]
    if not len(ratings):
        return None
    ratings = ratings - np.nanmean(ratings)  # changes nothing but the rounding
    within = np.nansum((ratings - np.nanmean(ratings, axis=1, keepdims=True)) ** 2, axis=1)
    return krippendorff_alpha(
        int(counts.sum()),
        float(np.nansum(ratings)),
        float(np.nansum(ratings**2)),
        float((2 * counts * within / (counts - 1)).sum()),
    )


def alpha_interval(ratings: np.ndarray, clusters: Sequence[Hashable] | None = None) -> tuple[Statistic, Statistic]:
    """95% bootstrap interval of alpha over clusters; undefined below 10 subjects or 5 clusters, and without variation.

    `clusters` holds the task of each subject; by default each is its own.
    """
    members, count = _numbered(clusters, len(ratings))
    if len(ratings) < _LEAST_SUBJECTS or count < MIN_CLUSTERS:
        return None, None
    random = np.random.default_rng(_SEED)
    of_cluster = [np.flatnonzero(members == cluster) for cluster in range(count)]
    drawn = (random.integers(count, size=count) for _ in range(_RESAMPLES))
    alphas = [alpha_of(ratings[np.concatenate([of_cluster[cluster] for cluster in each])]) for each in drawn]
    low, high = _percentiles([alpha for alpha in alphas if alpha is not None])
    return (None, None) if low == high else (low, high)


def _percentiles(values: Sequence[float] | np.ndarray) -> tuple[Statistic, Statistic]:
    if not len(values):
        return None, None
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def components(ratings: np.ndarray) -> Components:
    """Variance components of subjects x judges; subjects with a missing score are omitted."""
    whole = ratings[~np.isnan(ratings).any(axis=1)]
    n, k = whole.shape
    if n < 2 or k < 2:
        return Components(None, None, n, k)
    grand = whole.mean()
    subjects = k * ((whole.mean(axis=1) - grand) ** 2).sum() / (n - 1)
    judges = n * ((whole.mean(axis=0) - grand) ** 2).sum() / (k - 1)
    rest = whole - whole.mean(axis=1, keepdims=True) - whole.mean(axis=0, keepdims=True) + grand
    error = (rest**2).sum() / ((n - 1) * (k - 1))
    single = subjects + (k - 1) * error + k * (judges - error) / n
    panel = subjects + (judges - error) / n
    return Components(
        float((subjects - error) / single) if single > 1e-12 else None,
        float((subjects - error) / panel) if panel > 1e-12 else None,
        n,
        k,
    )


def one_way_icc(groups: Sequence[Sequence[float]]) -> Statistic:
    """ICC(1): the share of the variance of single values that is between groups, for instance of trials between tasks.

    From the one-way analysis of variance, with groups of different sizes; `None` without variation. It can be below 0.
    Source: Shrout and Fleiss, Psychological Bulletin 86 (1979).
    """
    if (found := _variances(_sums(groups))) is None:
        return None
    total = found.between + (found.typical - 1) * found.within
    return (found.between - found.within) / total if total > 1e-12 else None


def one_way_icc_interval(groups: Sequence[Sequence[float]]) -> tuple[Statistic, Statistic]:
    """95% interval of `one_way_icc`; undefined below 10 groups, and without variation in any.

    Two intervals together: by the distribution F (Shrout and Fleiss), which is too short where a few groups differ much
    from all others, and by the jackknife over groups of the logarithm of F (Arvesen, Annals of Mathematical Statistics
    40, 1969), which is where there are few such groups. Percentiles of resampled groups are too short there, too.
    """
    by_group = _sums(groups)
    found = _variances(by_group)
    if found is None or len(groups) < _LEAST_SUBJECTS or found.within <= 1e-12:
        return None, None
    ratio, quantile = found.between / found.within, scipy.special.fdtri
    low = ratio / float(quantile(found.groups - 1, found.rest, 0.975))
    high = ratio * float(quantile(found.rest, found.groups - 1, 0.975))
    without = [_variances(np.delete(by_group, position, axis=1)) for position in range(len(groups))]
    ratios = np.array([each.between / each.within for each in without if each is not None and each.within > 1e-12])
    if len(ratios) == len(groups) and ratio > 0 and (ratios > 0).all():
        spread = float(np.log(ratios).std()) * sqrt(len(groups) - 1)
        reach = exp(float(scipy.special.stdtrit(len(groups) - 1, 0.975)) * spread)
        low, high = min(low, ratio / reach), max(high, ratio * reach)
    return (low - 1) / (low + found.typical - 1), (high - 1) / (high + found.typical - 1)


@dataclass(frozen=True, slots=True)
class _Variances:
    """Mean squares between and within groups, the typical size of a group, and degrees of freedom within groups."""

    between: float
    within: float
    typical: float
    groups: int
    rest: int


def _sums(groups: Sequence[Sequence[float]]) -> np.ndarray:
    """By group, the number of values, their sum and the sum of their squares."""
    return np.array([(len(group), sum(group), sum(value * value for value in group)) for group in groups], float).T


def _variances(by_group: np.ndarray) -> _Variances | None:
    sizes, sums, squares = by_group
    n, count = int(sizes.sum()), len(sizes)
    if count < 2 or n <= count:
        return None
    of_groups = float((sums**2 / sizes).sum())
    return _Variances(
        between=(of_groups - float(sums.sum()) ** 2 / n) / (count - 1),
        within=(float(squares.sum()) - of_groups) / (n - count),
        typical=float((n - (sizes**2).sum() / n) / (count - 1)),
        groups=count,
        rest=n - count,
    )


def effective_judges(scores: np.ndarray, labels: Sequence[float]) -> float | None:
    """Effective number of independent judges in a panel, given human labels of the same subjects.

    Kish's `k / (1 + (k - 1) r)`, where `r` is the mean correlation between the judges' residuals after regression on
    the label. The correlation of raw errors would make independent judges look dependent. Noisy labels increase `r`,
    so the result is a lower bound. `None` if labels or residuals do not vary.
    """
    whole = ~np.isnan(scores).any(axis=1)
    ratings, truth = scores[whole], np.asarray(labels, float)[whole]
    k = ratings.shape[1]
    if k < 2 or len(truth) < 4:
        return None
    design = np.column_stack([np.ones(len(truth)), truth])
    residuals = ratings - design @ np.linalg.lstsq(design, ratings, rcond=None)[0]
    if (residuals.std(axis=0) < 1e-9).any():
        return None
    correlation = float(np.asarray(np.corrcoef(residuals.T))[np.triu_indices(k, 1)].mean())
    return k / (1 + (k - 1) * max(correlation, 0.0))


def retest_std(repeated: Iterable[Sequence[float]]) -> float | None:
    """Within-subject standard deviation of a judge's repeated verdicts.

    The square root of the mean variance over subjects judged more than once; `None` if there are none. Source: Bland
    and Altman, Measurement error, British Medical Journal 313 (1996).
    """
    variances = [variance(scores) for scores in repeated if len(scores) > 1]
    return sqrt(fmean(variances)) if variances else None


def influence(scores: Mapping[str, Sequence[float | None]]) -> dict[str, float | None]:
    """Influence of each judge on the panel: mean of all judges minus mean of the others, over their common subjects.

    Args:
        scores: by judge, one score per subject; `None` if missing.
    """
    moved: dict[str, float | None] = {}
    for judge, own in scores.items():
        differences = []
        for index, score in enumerate(own):
            others = [values[index] for name, values in scores.items() if name != judge]
            known = [value for value in others if value is not None]
            if score is not None and known:
                differences.append((score + sum(known)) / (len(known) + 1) - fmean(known))
        moved[judge] = fmean(differences) if differences else None
    return moved


def table_of(scores: Mapping[str, Sequence[Any]]) -> np.ndarray:
    """Scores as an array of subjects x judges, with NaN for missing scores."""
    return np.array([[np.nan if value is None else value for value in own] for own in scores.values()], float).T

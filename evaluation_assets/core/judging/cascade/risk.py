"""Test whether accepted verdicts are wrong too often: p-values over clusters, and the order they are tested in."""

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
import scipy

_BETS = np.array([0.25, 0.5, 0.75, 0.95])
"""Shares of the largest bet that cannot go bankrupt."""


def p_value(is_accepted: np.ndarray, is_wrong: np.ndarray, cluster: np.ndarray, *, alpha: float, largest: int) -> float:
    """The p-value of "more than `alpha` of the accepted verdicts are wrong", from subjects in independent clusters.

    With `S_c` the sum of `wrong - alpha` over the accepted subjects of cluster `c`, the hypothesis says that the mean
    of `S_c` over clusters is positive. `prod(1 - bet * S_c)` is then an e-value for every bet up to `1 / max(S_c)`, so
    the mean over a grid of bets is one too, and the inverse of its largest value as clusters are added one by one is
    a p-value (Ville), however subjects of one cluster are correlated. Source: Waudby-Smith and Ramdas, Estimating means
    of bounded random variables by betting (JRSS B, 2024), with diversified bets ("dKelly").

    Args:
        is_accepted: By subject, whether a stage accepted a verdict.
        is_wrong: By subject, whether that verdict differs from the label.
        cluster: By subject, the number of its cluster, from 0, in an order that says nothing about the clusters. Every
            cluster counts, also without an accepted subject.
        alpha: The tolerated share.
        largest: Subjects of any cluster, drawn or not, of which verdicts can be accepted. What a cluster counts for
            must not depend on its size: if larger ones counted for less, the error of small clusters would be tested.

    Raises:
        ValueError: more are accepted of a cluster.
    """
    if np.bincount(cluster, is_accepted).max() > largest:
        raise ValueError(
            f"more than {largest} verdicts of a cluster are accepted, so that a bet could lose more than all"
        )
    excess = np.bincount(cluster, np.where(is_accepted, is_wrong - alpha, 0.0)) / ((1 - alpha) * largest)
    wealth = np.log1p(-_BETS[:, None] * excess).cumsum(axis=1)
    return float(min(1.0, np.exp(-scipy.special.logsumexp(wealth, axis=0, b=1 / len(_BETS)).max())))


def fixed_sequence(p_values: Iterable[float], delta: float) -> int:
    """How many hypotheses, tested in this order until one is kept, are refused.

    The chance of refusing any true one is at most `delta`.

    Source: Angelopoulos, Bates, Candès, Jordan and Lei, Learn then Test (2021), fixed-sequence testing. The order must
    not depend on the subjects that the p-values are of.
    """
    refused = 0
    for p in p_values:
        if p > delta:
            break
        refused += 1
    return refused


def fewest_clusters(alpha: float, delta: float) -> int:
    """Clusters below which even accepted verdicts without an error show nothing."""
    growth = np.log1p(_BETS * alpha / (1 - alpha))
    return next(count for count in itertools.count(1) if np.exp(count * growth).mean() >= 1 / delta)


def order_of_testing(p_values: Sequence[float]) -> range:
    """Positions from the smallest p-value, found on other subjects, to the last, most permissive one.

    Source: Laufer-Goldshtein, Fisch, Barzilay and Jaakkola, Efficiently controlling multiple risks with Pareto testing
    (2023): hypotheses that are likely to be refused come first.
    """
    return range(int(np.argmin(p_values)), len(p_values))

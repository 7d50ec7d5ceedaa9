"""How a score of runs is related to whether they succeeded."""

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import scipy

from evaluation_assets.core.scoring.intervals import CONFIDENCE, MIN_CLUSTERS, mean_of_clustered_means

FEWEST = 5
"""Runs that succeeded, and that failed, from which on a relation is stated."""

_NO_VARIATION = 1e-9


@dataclass(frozen=True, slots=True)
class Relation:
    """The chance that a run that succeeded scores above one that failed, with its 95% interval over tasks.

    Ties count half, so 0.5 is chance. The interval is `None` with fewer than five tasks, and where no pair differs from
    another: a width of 0 would claim certainty.
    """

    auroc: float
    low: float | None
    high: float | None
    n_succeeded: int
    n_failed: int


def relation(scores: Sequence[float], outcomes: Sequence[bool], tasks: Sequence[Hashable]) -> Relation | None:
    """The relation of scores to outcomes; `None` with fewer than five runs that succeeded or that failed.

    The AUROC is the mean placement of the scores of one class among those of the other. Its standard error is that of
    both means, clustered by task (Obuchowski, Biometrics 53, 1997); the quantile is Student's t.
    """
    listed = list(zip(scores, outcomes, tasks, strict=True))
    won = [(score, task) for score, outcome, task in listed if outcome]
    lost = [(score, task) for score, outcome, task in listed if not outcome]
    if min(len(won), len(lost)) < FEWEST:
        return None
    above = _placements([score for score, _ in won], [score for score, _ in lost])
    below = [1 - each for each in _placements([score for score, _ in lost], [score for score, _ in won])]
    groups = [(above, [task for _, task in won]), (below, [task for _, task in lost])]
    auroc, error, degrees = mean_of_clustered_means(groups)
    if degrees + 1 < MIN_CLUSTERS or error < _NO_VARIATION:
        return Relation(auroc, None, None, len(won), len(lost))
    # Both means are the AUROC: its error is that of their sum, twice that of their mean.
    half = 2 * error * float(scipy.special.stdtrit(degrees, 0.5 + CONFIDENCE / 2))
    return Relation(auroc, max(0.0, auroc - half), min(1.0, auroc + half), len(won), len(lost))


def _placements(scores: Sequence[float], others: Sequence[float]) -> list[float]:
    """For each score, the share of the others below it; equal ones count half."""
    ranked = sorted(others)
    return [(bisect_left(ranked, score) + bisect_right(ranked, score)) / 2 / len(ranked) for score in scores]

"""How a score of runs is related to whether they succeeded."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from evaluation_assets.core.scoring.intervals import MIN_CLUSTERS, half_width, mean_of_clustered_means

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
    values, has_won = np.asarray(scores, float), np.asarray(outcomes, bool)
    won, lost = values[has_won], values[~has_won]
    if min(len(won), len(lost)) < FEWEST:
        return None
    groups = [
        (_placements(won, lost), list(compress(tasks, has_won))),
        (1 - _placements(lost, won), list(compress(tasks, ~has_won))),
    ]
    auroc, error, degrees = mean_of_clustered_means(groups)
    if degrees + 1 < MIN_CLUSTERS or error < _NO_VARIATION:
        return Relation(auroc, None, None, len(won), len(lost))
    # Both means are the AUROC: its error is that of their sum, twice that of their mean.
    half = half_width(2 * error, degrees)
    return Relation(auroc, max(0.0, auroc - half), min(1.0, auroc + half), len(won), len(lost))


def _placements(scores: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each score, the share of the others below it; equal ones count half."""
    ranked = np.sort(others)
    return (np.searchsorted(ranked, scores, "left") + np.searchsorted(ranked, scores, "right")) / 2 / len(ranked)

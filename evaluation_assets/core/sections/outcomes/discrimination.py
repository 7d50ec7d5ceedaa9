"""AUROC with a lower bound that counts runs of one task as dependent."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Auroc:
    """The chance that a run that succeeded scores above one that failed, with its one-sided 95% lower bound."""

    value: float
    low: float


def auroc(scores: Sequence[np.ndarray], succeeded: np.ndarray, tasks: np.ndarray) -> Auroc:
    """The mean AUROC of several scorings of the same runs, with a bound clustered by task.

    Both outcomes must occur. Source: Obuchowski, Nonparametric analysis of clustered ROC curve data (Biometrics 53,
    1997), with Student's t for as many tasks as there are, less one.
    """
    placed = np.mean([_placements(each, succeeded) for each in scores], axis=0)
    value = float(placed[succeeded].mean())
    _, task = np.unique(tasks, return_inverse=True)
    count = int(task.max()) + 2
    # One more task, of usual size, whose runs are ranked by chance: without it, a few runs that happen to be ranked
    # right leave no variance, and a bound of 1.
    weights = np.append(np.ones(len(placed)), [len(placed) / (count - 1) / 2] * 2)
    placed, task = np.append(placed, [0.5, 0.5]), np.append(task, [count - 1] * 2)
    is_won = np.append(succeeded, [True, False])
    deviations, shrunk = np.zeros(len(placed)), 0.0
    for side in (is_won, ~is_won):
        mean = float(np.average(placed[side], weights=weights[side]))
        deviations[side] = weights[side] * (placed[side] - mean) / weights[side].sum()
        shrunk += mean / 2
    variance = count / (count - 1) * float((np.bincount(task, deviations) ** 2).sum())
    quantile = float(scipy.special.stdtrit(count - 1, CONFIDENCE))
    return Auroc(value, min(value, max(0.0, shrunk - quantile * sqrt(variance))))


def _placements(scores: np.ndarray, succeeded: np.ndarray) -> np.ndarray:
    """By run, the share of runs of the other outcome that it is on the right side of; ties count half."""
    won, lost = np.sort(scores[succeeded]), np.sort(scores[~succeeded])
    below = (np.searchsorted(lost, scores, "left") + np.searchsorted(lost, scores, "right")) / (2 * len(lost))
    above = 1 - (np.searchsorted(won, scores, "left") + np.searchsorted(won, scores, "right")) / (2 * len(won))
    return np.where(succeeded, below, above)

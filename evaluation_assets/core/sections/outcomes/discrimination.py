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
    count = int(task.max()) + 1
    if count < 2:
        return Auroc(value, 0.0)
    deviations = placed - value
    won = np.bincount(task, np.where(succeeded, deviations, 0.0), count) / succeeded.sum()
    lost = np.bincount(task, np.where(succeeded, 0.0, deviations), count) / (~succeeded).sum()
    variance = count / (count - 1) * float(((won + lost) ** 2).sum())
    quantile = float(scipy.special.stdtrit(count - 1, CONFIDENCE))
    return Auroc(value, max(0.0, value - quantile * sqrt(variance)))


def _placements(scores: np.ndarray, succeeded: np.ndarray) -> np.ndarray:
    """By run, the share of runs of the other outcome that it is on the right side of; ties count half."""
    won, lost = np.sort(scores[succeeded]), np.sort(scores[~succeeded])
    below = (np.searchsorted(lost, scores, "left") + np.searchsorted(lost, scores, "right")) / (2 * len(lost))
    above = 1 - (np.searchsorted(won, scores, "left") + np.searchsorted(won, scores, "right")) / (2 * len(won))
    return np.where(succeeded, below, above)

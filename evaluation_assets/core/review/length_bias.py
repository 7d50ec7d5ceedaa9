"""Length bias: how much a judge's score rises when what it judges is twice as long and no better."""

from collections.abc import Hashable, Sequence
from math import log2, sqrt

import numpy as np

from evaluation_assets.core.scoring.intervals import MIN_CLUSTERS, half_width
from evaluation_assets.core.system.configuration import Section

_LEAST = 10
"""Fewer answers say nothing."""

_NO_VARIATION = 1e-9


class LengthSlope(Section):
    """The rise of a score, 0..1, for each doubling of the length, with its 95% interval.

    `basis` is what it is from, `labels` or `padding`, or why there is none.
    """

    slope: float | None
    low: float | None
    high: float | None
    basis: str


def no_slope(reason: str) -> LengthSlope:
    """Nothing can be said."""
    return LengthSlope(slope=None, low=None, high=None, basis=reason)


def slope_at_equal_label(
    scores: Sequence[float], labels: Sequence[float], lengths: Sequence[float], tasks: Sequence[Hashable]
) -> LengthSlope:
    """The slope from answers that people labelled: scores are regressed on the logarithm of the length and the label.

    The interval is Student's t with the jackknife over tasks, which stays wide enough where tasks are few (Bell and
    McCaffrey, Survey Methodology 28, 2002).

    Args:
        scores: Of the judge, 0..1.
        labels: Of people, 0..1.
        lengths: Characters of each answer, at least 1.
        tasks: The task of each answer.
    """
    members = np.unique(np.array([str(task) for task in tasks]), return_inverse=True)[1]
    count = int(members.max()) + 1 if len(members) else 0
    if len(scores) < _LEAST or count < MIN_CLUSTERS:
        return no_slope(
            f"{len(scores)} labelled answers of {count} tasks; at least {_LEAST} of {MIN_CLUSTERS} are needed"
        )
    columns = np.column_stack([np.ones(len(scores)), labels, np.log2(lengths)])
    if _left_of_length(columns) < _NO_VARIATION:
        return no_slope("answers with equal labels have equal lengths")
    values = np.asarray(scores, float)
    slope = _slope(columns, values)
    without = np.array([_slope(columns[members != each], values[members != each]) for each in range(count)])
    error = sqrt((count - 1) / count * float(((without - slope) ** 2).sum()))
    half = half_width(error, count - 1)
    return LengthSlope(slope=slope, low=slope - half, high=slope + half, basis="labels")


def slope_of_padding(pairs: Sequence[tuple[float, float, float]]) -> LengthSlope:
    """The slope from texts that were made longer, and are otherwise the same.

    Args:
        pairs: Of each text the score as it is, the score of the longer one, and how many times longer that is.
    """
    if len(pairs) < MIN_CLUSTERS:
        return no_slope(f"{len(pairs)} padded clips have two scores; at least {MIN_CLUSTERS} are needed")
    rises = np.array([(after - before) / log2(times) for before, after, times in pairs])
    slope = float(rises.mean())
    half = half_width(float(rises.std(ddof=1)) / sqrt(len(rises)), len(rises) - 1)
    return LengthSlope(slope=slope, low=slope - half, high=slope + half, basis="padding")


def _left_of_length(columns: np.ndarray) -> float:
    """The variance of the length that the label does not explain."""
    others, length = columns[:, :2], columns[:, 2]
    return float((length - others @ np.linalg.lstsq(others, length, rcond=None)[0]).var())


def _slope(columns: np.ndarray, values: np.ndarray) -> float:
    return float(np.linalg.lstsq(columns, values, rcond=None)[0][2])

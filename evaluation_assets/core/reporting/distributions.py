"""Descriptive statistics of scores over subjects."""

from collections.abc import Sequence
from statistics import fmean, median, pstdev

from pydantic import BaseModel, ConfigDict

TENTHS = 10


class Statistic(BaseModel):
    """A criterion over subjects, 0..1. Statistics are over the `n_scored` of `n_total` subjects with a score.

    `tenths` counts the scores in each tenth of the scale, 1.0 in the last; empty if a value is not on the scale.
    """

    model_config = ConfigDict(frozen=True)

    mean: float | None
    std: float | None
    min: float | None
    median: float | None
    max: float | None
    n_scored: int
    n_total: int
    tenths: list[int] = []


def statistic(values: Sequence[float | None]) -> Statistic:
    """Describe the values that are not missing; all figures are `None` if all are missing."""
    known = [value for value in values if value is not None]
    if not known:
        return Statistic(mean=None, std=None, min=None, median=None, max=None, n_scored=0, n_total=len(values))
    return Statistic(
        mean=fmean(known),
        std=pstdev(known),
        min=min(known),
        median=median(known),
        max=max(known),
        n_scored=len(known),
        n_total=len(values),
        tenths=_tenths(known),
    )


def _tenths(scores: Sequence[float]) -> list[int]:
    if min(scores) < 0 or max(scores) > 1:
        return []
    counts = [0] * TENTHS
    for score in scores:
        counts[min(int(score * TENTHS), TENTHS - 1)] += 1
    return counts

"""Descriptive statistics of scores over subjects."""

from collections.abc import Hashable, Sequence
from statistics import fmean, median, pstdev

from pydantic import BaseModel, ConfigDict

from evaluation_assets.core.scoring.intervals import interval_of_mean

TENTHS = 10

RANKED_SHARE = 0.5
"""Share of subjects from which on a mean is ranked among others.

Below it, most subjects are not in the mean. Criteria that apply to some subjects only, such as those about failures,
would lead a list of the lowest whatever most subjects are like.
"""


class Statistic(BaseModel):
    """A criterion over subjects, 0..1. Statistics are over the `n_scored` of `n_total` subjects with a score.

    `ci_low` and `ci_high` are the 95% interval of the mean over the `n_tasks` tasks of the subjects; `None` with fewer
    than five tasks, and if the scores do not vary, unless all are 0 or 1.
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
    ci_low: float | None = None
    ci_high: float | None = None
    n_tasks: int | None = None
    tenths: list[int] = []

    @property
    def is_ranked(self) -> bool:
        """Whether enough subjects were scored to compare the mean with those of other criteria."""
        return self.n_scored > 0 and self.n_scored >= RANKED_SHARE * self.n_total


def statistic(values: Sequence[float | None], tasks: Sequence[Hashable] | None = None) -> Statistic:
    """Describe the values that are not missing; all figures are `None` if all are missing.

    Args:
        values: one per subject.
        tasks: the task of each value, for the interval; without it there is none.
    """
    known = [value for value in values if value is not None]
    if not known:
        return Statistic(mean=None, std=None, min=None, median=None, max=None, n_scored=0, n_total=len(values))
    interval = None
    if tasks is not None:
        own = [task for value, task in zip(values, tasks, strict=True) if value is not None]
        interval = interval_of_mean([(known, own)])
    return Statistic(
        mean=fmean(known),
        std=pstdev(known),
        min=min(known),
        median=median(known),
        max=max(known),
        n_scored=len(known),
        n_total=len(values),
        ci_low=None if interval is None else interval.low,
        ci_high=None if interval is None else interval.high,
        n_tasks=None if interval is None else interval.n,
        tenths=_tenths(known),
    )


def _tenths(scores: Sequence[float]) -> list[int]:
    if min(scores) < 0 or max(scores) > 1:
        return []
    counts = [0] * TENTHS
    for score in scores:
        counts[min(int(score * TENTHS), TENTHS - 1)] += 1
    return counts

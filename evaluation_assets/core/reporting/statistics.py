"""Describe values of which some may be missing."""

from collections.abc import Sequence
from statistics import fmean, median, pstdev

from evaluation_assets.core.reporting.report import Statistic


def statistic(values: Sequence[float | None]) -> Statistic:
    """Describe the values that are there; all figures are `None` when there is none."""
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
    )

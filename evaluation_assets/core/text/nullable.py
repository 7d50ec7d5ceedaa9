"""Null-aware means and sums: missing values are skipped; without any value the result is `None`."""

from collections.abc import Collection, Iterable, Sequence
from statistics import fmean
from typing import TypeVar

N = TypeVar("N", int, float)

_UNDECIDED = 0.5


def mean_of(values: Iterable[float | None]) -> float | None:
    """Mean of the values that are there; `None` without any."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def mean_label(labels: Sequence[float]) -> float | None:
    """Mean of what people said of one subject; `None` if it is one half because they contradict each other.

    One half is a pass, so that a contradiction would count as one.
    """
    mean = fmean(labels)
    return None if mean == _UNDECIDED and min(labels) < mean else mean


def sum_of(values: Iterable[N | None]) -> N | None:
    """Sum of the values that are there; `None` without any."""
    known = [value for value in values if value is not None]
    return sum(known[1:], start=known[0]) if known else None


def whole_sum_of(values: Collection[N | None]) -> N | None:
    """Sum of all values; `None` if one of them is missing, as the sum of the others is no total, and without any."""
    return None if None in values else sum_of(values)

"""Null-aware means and sums: missing values are skipped; without any value the result is `None`."""

from collections.abc import Iterable
from statistics import fmean
from typing import TypeVar

N = TypeVar("N", int, float)


def mean_of(values: Iterable[float | None]) -> float | None:
    """Mean of the values that are there; `None` without any."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def sum_of(values: Iterable[N | None]) -> N | None:
    """Sum of the values that are there; `None` without any."""
    known = [value for value in values if value is not None]
    return sum(known[1:], start=known[0]) if known else None

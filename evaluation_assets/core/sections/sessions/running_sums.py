"""Means and standard deviations of stretches of a series, each in constant time, and exactly rounded."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import isqrt


class RunningSums:
    """Sums of a series of numbers and of their squares, as whole numbers of a common unit.

    So means and deviations are those of `statistics.fmean` and `statistics.pstdev`, to the last bit.
    """

    def __init__(self, series: Sequence[float]) -> None:
        fractions = [Fraction(value) for value in series]
        self._unit = max((fraction.denominator for fraction in fractions), default=1)  # all are powers of two
        whole = [fraction.numerator * (self._unit // fraction.denominator) for fraction in fractions]
        self._sums = list(accumulate(whole, initial=0))
        self._squares = list(accumulate((value * value for value in whole), initial=0))

    def mean(self, start: int, end: int) -> float:
        """Mean of `series[start:end]`."""
        return (self._sums[end] - self._sums[start]) / self._unit / (end - start)

    def deviation(self, start: int, end: int) -> float:
        """Standard deviation of `series[start:end]`, as of a population."""
        count = end - start
        total = self._sums[end] - self._sums[start]
        squares = self._squares[end] - self._squares[start]
        return _root(squares * count - total * total, (count * self._unit) ** 2)


def _root(numerator: int, denominator: int) -> float:
    """The square root of a fraction, correctly rounded."""
    if numerator == 0:
        return 0.0
    shift = max(0, (denominator.bit_length() - numerator.bit_length() + 1) // 2 + 64)
    scaled = (numerator << 2 * shift) // denominator
    root = isqrt(scaled)
    # An odd last bit, far below those of a float, says that the root is not exact.
    inexact = root * root * denominator != numerator << 2 * shift
    return (root | inexact) / (1 << shift)

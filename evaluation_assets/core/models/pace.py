"""Paces of starts: so many requests or tokens a second, in one process or shared by several."""

from collections.abc import Callable

CATCH_UP_S = 0.05
"""Starts that were missed by less than this, because a timer was late, are made up for."""

WINDOW_S = 1.0
"""A process reserves starts for so long at most: what it does not use of that, no other process can use."""

Reserve = Callable[[float, float], float]
"""Reserves seconds of a pace after settling seconds that are owed (negative: that were not used). Returns in how many
seconds, from now on, the reserved time ends."""


class Pace:
    """So much a second, evenly, in one process."""

    def __init__(self, per_second: float, due: float = 0.0) -> None:
        self.per_second = per_second
        self.due = due
        """When the next start may be, on the clock of `take`."""

    def next(self, wanted: float, now: float) -> float:
        """When the next start may be; `wanted` is the size of all starts that wait."""
        del wanted, now
        return self.due

    def take(self, amount: float, now: float) -> None:
        """Count a start of this size."""
        self.due = max(self.due, now - CATCH_UP_S) + amount / self.per_second

    def correct(self, amount: float) -> None:
        """A start was this much larger than it was counted, or smaller."""
        self.due += amount / self.per_second


class SharedPace(Pace):
    """So much a second, evenly, over all processes that reserve from the same place.

    A process reserves the time that its waiting starts take, `WINDOW_S` at most, and starts evenly within it. Reserved
    time that passes unused is lost, as it is with a pace of its own.
    """

    def __init__(self, per_second: float, reserve: Reserve) -> None:
        super().__init__(per_second)
        self._reserve = reserve
        self._end = 0.0
        self._owed_s = 0.0

    def next(self, wanted: float, now: float) -> float:
        """When the next start may be; reserves time for it where none is left."""
        if max(self.due, now - CATCH_UP_S) >= self._end:
            seconds = wanted / self.per_second
            self._end = now + self._reserve(seconds, self._owed_s)
            self.due, self._owed_s = self._end - seconds, 0.0
        return self.due

    def take(self, amount: float, now: float) -> None:
        """Count a start of this size; what it takes beyond the reserved time is owed."""
        super().take(amount, now)
        self._owed_s += max(0.0, self.due - self._end)
        self.due = min(self.due, self._end)

    def correct(self, amount: float) -> None:
        """A start was this much larger than it was counted, or smaller: the next reservation settles it."""
        self._owed_s += amount / self.per_second

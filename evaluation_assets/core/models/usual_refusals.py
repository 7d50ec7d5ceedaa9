"""Refusals that come at any pace, against which slowing down does not help."""

from dataclasses import dataclass
from math import log, sqrt

_TOLERATED = 0.05
"""Such a share of refusals, at a rate that was found before, is no reason to go slower."""

_MOST_TOLERATED = 2 * _TOLERATED
"""The same while the client tries for more than that rate, if as many were refused before."""

_AT_LEAST = 20
"""A share is one of at least so many requests."""

_LATEST = 40
"""The share that is refused now is that of about so many requests."""

_BY_A_LIMIT, _AT_ANY_PACE = 0.02, 0.1
"""The share that a limit refuses at half of what it allows, and the least one that is told from it."""

_TRIED_AGAIN = 3
"""So often a client slows down before it tries again whether a share of refusals is usual still."""

_SURE = log(50)
"""Odds at which a trial ends."""


@dataclass(slots=True)
class UsualRefusals:
    """The share of its requests that an endpoint refuses however slowly they come, such as one that others overload.

    A client that has slowed down to half tries half of what was taken last. Then a limit refuses next to nothing. If
    about as many are refused as before, that share is usual: the client goes back to the fastest rate, and slows down
    only if more are refused. Without this, a share of 5% slows a client down to a hundredth, and one of 30% for ever.
    """

    share: float = 0.0
    _starts: int = 0
    _refused: int = 0
    _share_below: float = 0.0
    _is_faster: bool = False
    _latest: float = 0.0
    _latest_refused: float = 0.0
    _fastest: float = 0.0
    _most: float = 0.0
    _slowed: int = 0
    _tried: float | None = None

    @property
    def is_tried(self) -> bool:
        """Whether it is being found out what a slower pace does."""
        return self._tried is not None

    @property
    def correction(self) -> float:
        """The part of a rate that is left without the requests that were refused, beyond what is usual."""
        return 1 - max(0.0, self._share_below - self.share)

    def changed(self) -> None:
        """The rate has changed: count from here."""
        self._starts = self._refused = 0
        self._is_faster, self._tried = False, None

    def started(self, *, is_faster: bool) -> float | None:
        """A request is sent, maybe faster than the rate that was learned; the rate that a trial has led to."""
        if is_faster and not self._is_faster:
            self._share_below = min(_MOST_TOLERATED, self._refused / max(_AT_LEAST, self._starts))
            self._starts = self._refused = 0
            self._is_faster = True
        rate = None if self._tried is None else self._end_of_trial(self._tried)
        self._starts += 1
        self._latest = self._latest * (1 - 1 / _LATEST) + 1
        self._latest_refused *= 1 - 1 / _LATEST
        return rate

    def refused(self) -> bool:
        """A request was refused; whether that is usual, or to be waited for."""
        self._refused += 1
        self._latest_refused += 1
        usual = max(self.share, self._share_below if self._is_faster else _TOLERATED)
        if self.is_tried:
            return True
        if self._starts > _LATEST and self._latest_refused > _most_of(_LATEST, usual, 3):  # long epochs forget slowly
            return False
        return self._refused <= _most_of(self._starts, usual, 2)

    def is_to_be_tried(self, per_second: float) -> bool:
        """The client wants to go slower than this; whether to find out first what that does."""
        if per_second > self._fastest:
            self._fastest, self._most = per_second, 0.0
        self._most = max(self._most, self._latest_refused / self._latest)
        self._slowed += 1
        return per_second <= self._fastest / 2 or (self.share > 0 and self._slowed > _TRIED_AGAIN)

    def try_half(self, taken_a_second: float) -> None:
        """From now on half as many requests are sent as were taken."""
        self._tried = taken_a_second

    def _end_of_trial(self, taken_a_second: float) -> float | None:
        """The rate to go to, once it is sure what the requests of the trial say.

        It is the sequential probability ratio test of Wald (1945) of two shares, the same odds against either error.
        """
        usual = min(max(self._most, _AT_ANY_PACE), 1 - _AT_ANY_PACE)
        answered = self._starts - self._refused
        odds = self._refused * log(usual / _BY_A_LIMIT) + answered * log((1 - usual) / (1 - _BY_A_LIMIT))
        if abs(odds) < _SURE:
            return None
        fastest, self._fastest, self._slowed = self._fastest, 0.0, 0
        self.share = usual if odds > 0 else 0.0
        return fastest if odds > 0 else taken_a_second


def _most_of(requests: int, share: float, deviations: int) -> float:
    """Refused requests that are no more than is expected, but for so many standard deviations."""
    return requests * share + deviations * sqrt(requests * share)

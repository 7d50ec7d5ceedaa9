"""The rate of an endpoint that was learned from refusals, kept in one process or shared by several."""

import asyncio
from dataclasses import dataclass, replace
from typing import Protocol

from evaluation_assets.core.models.pace import CATCH_UP_S


@dataclass(frozen=True, slots=True)
class LearnedRate:
    """What all who share a rate know of it.

    `is_measured` says that it comes from what was taken between two refusals, and not from the first one alone.
    `version` counts its changes; `taken` are the requests that were taken since the last one, `seconds` the time.
    """

    per_second: float
    is_measured: bool
    version: int
    taken: int
    seconds: float


class RateStore(Protocol):
    """Where a learned rate is kept, with the time that is reserved of it."""

    def known(self) -> LearnedRate | None:
        """The rate, if it was learned, and used lately."""
        ...

    def learn(self, per_second: float, is_measured: bool, version: int) -> LearnedRate:
        """Change the rate that had this version (0: none); if another process has changed it, its change holds."""
        ...

    def reserve(self, seconds: float, owed_s: float, taken: int, version: int) -> tuple[float, LearnedRate | None]:
        """Reserve time as `pace.Reserve` does, and report requests that were taken since the last report.

        Returns in how many seconds the reserved time ends, and the rate that holds, if it can be read.
        """
        ...


class RateInMemory:
    """The rate of all who share this object, by the clock of their event loop."""

    def __init__(self) -> None:
        self._rate: LearnedRate | None = None
        self._since = 0.0
        self._ends_at = 0.0

    def known(self) -> LearnedRate | None:
        return None if self._rate is None else replace(self._rate, seconds=_now() - self._since)

    def learn(self, per_second: float, is_measured: bool, version: int) -> LearnedRate:
        rate = self.known()
        if rate is not None and rate.version != version:
            return rate
        self._since = _now()
        self._rate = LearnedRate(per_second, is_measured, version + 1, 0, 0.0)
        return self._rate

    def reserve(self, seconds: float, owed_s: float, taken: int, version: int) -> tuple[float, LearnedRate | None]:
        now = _now()
        self._ends_at = max(self._ends_at + owed_s, now - CATCH_UP_S) + seconds
        if self._rate is not None and self._rate.version == version:
            self._rate = replace(self._rate, taken=self._rate.taken + taken)
        return self._ends_at - now, self.known()


def _now() -> float:
    return asyncio.get_running_loop().time()

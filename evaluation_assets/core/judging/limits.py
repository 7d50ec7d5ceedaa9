"""How many requests a judge has in flight, and how fast they start. Learns from what the endpoint can take."""

import asyncio
import heapq
import itertools
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class AdaptiveLimit:
    """Slots that grow while all goes well and halve when the endpoint pushes back; and a rate of starts.

    Free slots go to the chain that has progressed least: chains then end at about the same time, which on uneven
    latencies saves a tenth of the time against first come, first served.
    """

    def __init__(self, most: int, requests_per_minute: float | None = None) -> None:
        self.most = most
        self.limit = min(most, max(8, most // 2))
        self.in_flight = 0
        self._interval = 60 / requests_per_minute if requests_per_minute else 0.0
        self._next_start = 0.0
        self._paused_until = 0.0
        self._good = 0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._halved_at = 0.0

    @asynccontextmanager
    async def slot(self, progress: int) -> AsyncIterator[None]:
        """Hold one slot. `progress` is how far the chain has come."""
        await self._acquire(progress)
        try:
            await self._wait_for_start()
            yield
        finally:
            self.in_flight -= 1
            self._hand_out()

    def went_well(self) -> None:
        """An answer came; after one per slot there is one slot more."""
        self._good += 1
        if self._good >= self.limit and self.limit < self.most:
            self.limit, self._good = self.limit + 1, 0
            self._hand_out()

    def pushed_back(self, retry_after: float | None) -> None:
        """The endpoint said that it is too much; answers to one burst count once."""
        now = time.monotonic()
        if retry_after is not None:
            self._paused_until = max(self._paused_until, now + retry_after)
        if now - self._halved_at > 1.0:
            self.limit, self._good, self._halved_at = max(1, self.limit // 2), 0, now
            self._interval = self._interval * 1.25 if self._interval else 0.0

    async def _acquire(self, progress: int) -> None:
        if self.in_flight < self.limit and not self._waiting:
            self.in_flight += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (progress, next(self._order), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.in_flight -= 1
                self._hand_out()
            raise

    def _hand_out(self) -> None:
        while self._waiting and self.in_flight < self.limit:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)

    async def _wait_for_start(self) -> None:
        now = time.monotonic()
        start = max(now, self._paused_until, self._next_start)
        self._next_start = start + self._interval if self._interval else self._next_start
        if start > now:
            await asyncio.sleep(start - now)

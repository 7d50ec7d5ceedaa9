"""Rate limiter: the number and rate of requests in flight, adapted to what the endpoint accepts."""

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_CATCH_UP_S = 0.05
"""Starts that were missed by less than this, because a timer was late, are made up for."""

_SILENCE_S = 0.1
"""Refusals come at once: what has not been refused by then was taken."""

_ENOUGH = 8
"""A rate is learned from at least this many requests that were taken; on a refusal before that the client waits."""

_BACK_TO_FULL = 80
"""So many requests after it slowed down a client is as fast as the endpoint was found to be, and gets faster."""


class Pace:
    """So much a second, evenly."""

    def __init__(self, per_second: float, due: float = 0.0) -> None:
        self.per_second = per_second
        self.due = due
        """When the next start may be, on the clock of `take`."""

    def take(self, amount: float, now: float) -> None:
        """Count a start of this size."""
        self.due = max(self.due, now - _CATCH_UP_S) + amount / self.per_second

    def correct(self, amount: float) -> None:
        """A start was this much larger than it was counted, or smaller."""
        self.due += amount / self.per_second


class AdaptiveLimit:
    """Slots, and a pace of starts.

    Free slots go to the chain with the most left to do: chains then end at about the same time, which on uneven
    latencies saves a tenth of the time against ending first what was begun first.

    A quarter of the slots is there at once; they double every tenth of a second in which nothing is refused. When the
    endpoint refuses for the first time they halve, then grow by one an answer, and starts are spread evenly over the
    time an answer takes, ever closer. From the next refusal on the pace is learned: between two refusals as many
    requests were taken as the endpoint allows in that time, if it was asked for so many. The client goes a little below
    that rate, comes back to it over eighty requests, and then tries for more.
    """

    def __init__(
        self, most: int, requests_per_minute: float | None = None, tokens_per_minute: float | None = None
    ) -> None:
        self.most = most
        self.limit = min(most, max(8, most // 4))
        self.in_flight = 0
        self._requests = Pace(requests_per_minute / 60) if requests_per_minute else None
        self._tokens = Pace(tokens_per_minute / 60) if tokens_per_minute else None
        self._pace: Pace | None = None
        self._rate = 0.0
        self._measured = False
        self._latency: float | None = None
        self._refused_at: float | None = None
        self._counted_from = 0.0
        self._taken = 0
        self._patience = 1
        self._paused_until = 0.0
        self._waiting: list[tuple[int, int, int, asyncio.Future[float]]] = []
        self._order = itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self._doubling: asyncio.TimerHandle | None = None
        self._ended = False

    @asynccontextmanager
    async def slot(self, left: int, tokens: int = 0) -> AsyncIterator[float]:
        """Hold one slot, from the moment it is given: that of the event loop's clock.

        Args:
            left: How many subjects the chain still has after this one.
            tokens: What the request is expected to take of `tokens_per_minute`.
        """
        loop = asyncio.get_running_loop()
        if self._doubling is None:
            self._doubling = loop.call_later(_SILENCE_S, self._double)
        turn: asyncio.Future[float] = loop.create_future()
        heapq.heappush(self._waiting, (-left, next(self._order), tokens, turn))
        self._hand_out()
        try:
            started = await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back()
            raise
        try:
            yield started
        finally:
            self._give_back()

    def not_used(self, tokens: int) -> None:
        """A slot was given, but its request was not needed after all."""
        self._taken -= 1
        for pace, amount in ((self._requests, 1), (self._tokens, tokens), (self._pace, 1)):
            if pace is not None:
                pace.correct(-amount)

    def end(self) -> None:
        """Give everybody a slot who waits for one, now and later: nothing is sent any more."""
        self._ended = True
        self._hand_out()

    def took(self, more_tokens: int) -> None:
        """A request took so many tokens more than were expected, or fewer when negative."""
        if self._tokens is not None:
            self._tokens.correct(more_tokens)

    def went_well(self, started: float) -> None:
        """The request that was started then was answered."""
        now = asyncio.get_running_loop().time()
        self._latency = now - started
        if self._refused_at is not None:
            self.limit = min(self.most, self.limit + 1)
            if self._pace is None:
                self._spread(now)

    def pushed_back(self, started: float, retry_after: float | None = None) -> None:
        """The endpoint refused the request that was started then, because it was too much."""
        now = asyncio.get_running_loop().time()
        self._paused_until = max(self._paused_until, now + (retry_after or 0.0))
        self._taken -= started >= self._counted_from
        if self._refused_at is None:
            self.limit = max(1, min(self.limit, self.in_flight) // 2)
            self._refused_at = now
            self._spread(now)
        elif started > self._refused_at:  # else it was under way when the client slowed down, and says nothing new
            self._refused_at = now
            if self._pace is None or self._latency is None:
                return
            if self._taken >= _ENOUGH:
                self._measured = True
                taken_a_second = self._taken / (now - self._counted_from)
                self._set_pace((taken_a_second + min(self._pace.per_second, 2 * taken_a_second)) / 2, now)
            elif not self._measured:
                self._rate = max(self._rate / 2, 1 / self._latency)
            else:
                longest = max(self._latency, 1 / self._rate)
                self._paused_until = max(self._paused_until, now + min(self._patience / self._rate, longest))
                self._patience *= 2

    def _double(self) -> None:
        if self._refused_at is None and self.limit < self.most:
            self.limit = min(self.most, 2 * self.limit)
            self._doubling = asyncio.get_running_loop().call_later(_SILENCE_S, self._double)
            self._hand_out()

    def _spread(self, now: float) -> None:
        """As many starts in the time of an answer as there are slots; unknown until there was an answer."""
        if self._latency:
            self._set_pace(self.limit / self._latency, now)

    def _set_pace(self, rate: float, now: float) -> None:
        self._rate = rate
        self._pace = Pace(rate, now + _CATCH_UP_S)
        self._counted_from, self._taken, self._patience = now, 0, 1

    def _hand_out(self) -> None:
        while self._waiting and (self._ended or self.in_flight < self.limit):
            if self._waiting[0][-1].done():  # cancelled
                heapq.heappop(self._waiting)
                continue
            now = asyncio.get_running_loop().time()
            if self._ended:
                self.in_flight += 1
                heapq.heappop(self._waiting)[-1].set_result(now)
                continue
            if self._refused_at is not None and self._pace is None and self.in_flight:
                return  # an answer will tell how long one takes
            if now < (due := self._due()):
                self._come_back_at(due)
                return
            _, _, tokens, turn = heapq.heappop(self._waiting)
            self._count_start(tokens, now)
            turn.set_result(now)

    def _due(self) -> float:
        paces = (self._requests, self._tokens, self._pace)
        return max(self._paused_until, *(pace.due for pace in paces if pace is not None), 0.0)

    def _count_start(self, tokens: int, now: float) -> None:
        self.in_flight += 1
        self._taken += 1
        if self._requests is not None:
            self._requests.take(1, now)
        if self._tokens is not None:
            self._tokens.take(tokens, now)
        if self._pace is not None:
            self._pace.per_second = self._rate * self._growth()
            self._pace.take(1, now)

    def _growth(self) -> float:
        if not self._measured:
            return 1 + self._taken / max(_ENOUGH, self._rate * (self._latency or 0.0))
        return 0.95 + 0.05 * (self._taken / _BACK_TO_FULL) ** 2

    def _come_back_at(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(due, self._hand_out)

    def _give_back(self) -> None:
        self.in_flight -= 1
        self._hand_out()

"""Rate limiter: the number and rate of requests in flight, adapted to what the endpoint accepts."""

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from evaluation_assets.core.models.learned_rate import LearnedRate, RateInMemory, RateStore
from evaluation_assets.core.models.pace import WINDOW_S, Pace, SharedPace
from evaluation_assets.core.models.usual_refusals import UsualRefusals

_SILENCE_S = 0.1
"""Refusals come at once: what has not been refused by then was taken."""

_ENOUGH = 8
"""A rate is learned from at least this many requests that were taken; on a refusal before that the client waits."""

_BACK_TO_FULL = 80
"""So many requests after it slowed down a client is as fast as the endpoint was found to be, and gets faster."""

_BACK_TO_FULL_S = 32.0
"""Where so many requests would take longer, a client is back after this time, but not before `_ENOUGH` requests. By
requests alone, rates left by refusals of no limit took 20 to 95 minutes for the next 600 requests."""

_MOST_GROWTH = 5
"""The power of ten at which growth ends: a rate that nothing refuses would overflow."""


class AdaptiveLimit:
    """Slots, and a pace of starts.

    Free slots go to the chain with the most left to do: chains then end at about the same time, which on uneven
    latencies saves a tenth of the time against ending first what was begun first.

    A quarter of the slots is there at once; they double every tenth of a second in which nothing is refused. When the
    endpoint refuses for the first time they halve, then grow by one an answer, and starts are spread evenly over the
    time an answer takes, ever closer. From the next refusal on the pace is learned: between two refusals as many
    requests were taken as the endpoint allows in that time, if it was asked for so many. The client goes a little below
    that rate, comes back to it over eighty requests or half a minute, and then tries for more, ever faster.

    The rate is kept in a store. Processes that share one slow down once at a refusal, count together what is taken, and
    divide the rate among them; one that begins later begins with it.

    Refusals that come at any pace (`UsualRefusals`) do not slow it down.
    """

    def __init__(self, most: int, store: RateStore | None = None) -> None:
        self.most = most
        self.limit = min(most, max(8, most // 4))
        self.in_flight = 0
        self.requests: Pace | None = None
        self.tokens: Pace | None = None
        self._store = store or RateInMemory()
        self._rate: LearnedRate | None = None
        self._pace: SharedPace | None = None
        self._latency: float | None = None
        self._refused_at: float | None = None
        self._usual = UsualRefusals()
        self._counted_from = 0.0
        self._unreported = 0
        self._patience = 1
        self._paused_until = 0.0
        self._waiting: list[tuple[int, int, int, asyncio.Future[float], asyncio.Event | None]] = []
        self._order = itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self._is_doubling = False

    def at_most(self, most: int) -> None:
        """Hold no more slots than this, from now on."""
        self.most = min(self.most, most)
        self.limit = min(self.limit, self.most)

    @asynccontextmanager
    async def slot(self, left: int, tokens: int = 0, ended: asyncio.Event | None = None) -> AsyncIterator[float]:
        """Hold one slot, from the moment it is given: that of the event loop's clock.

        Args:
            left: How many subjects the chain still has after this one.
            tokens: What the request is expected to take of `tokens_per_minute`.
            ended: The event of a client, set when it sends nothing any more; see `end`.
        """
        loop = asyncio.get_running_loop()
        if not self._is_doubling:
            self._is_doubling = True
            if (known := self._store.known()) is not None:
                self._adopt(known)
            loop.call_later(_SILENCE_S, self._double)
        turn: asyncio.Future[float] = loop.create_future()
        heapq.heappush(self._waiting, (-left, next(self._order), tokens, turn, ended))
        if ended is not None and ended.is_set():
            self.end(ended)
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
        self._unreported -= 1
        for pace, amount in ((self.requests, 1), (self.tokens, tokens), (self._pace, 1)):
            if pace is not None:
                pace.correct(-amount)

    def end(self, ended: asyncio.Event) -> None:
        """Give a slot to everybody who waits with this event: they only learn that nothing is sent any more.

        Others that share the limit go on.
        """
        now = asyncio.get_running_loop().time()
        for *_, turn, event in self._waiting:
            if event is ended and not turn.done():
                self.in_flight += 1
                turn.set_result(now)

    def rest(self) -> None:
        """Nobody waits any more: keep what was learned, and nothing that refers to the event loop."""
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def took(self, more_tokens: int) -> None:
        """A request took so many tokens more than were expected, or fewer when negative."""
        if self.tokens is not None:
            self.tokens.correct(more_tokens)

    def went_well(self, started: float) -> None:
        """The request that was started then was answered."""
        now = asyncio.get_running_loop().time()
        self._latency = now - started
        if self._refused_at is not None:
            self.limit = min(self.most, self.limit + 1)
            if self._pace is None:
                self._spread()

    def pushed_back(self, started: float, retry_after: float | None = None) -> None:
        """The endpoint refused the request that was started then, because it was too much."""
        now = asyncio.get_running_loop().time()
        self._paused_until = max(self._paused_until, now + (retry_after or 0.0))
        self._unreported -= started >= self._counted_from
        if self._refused_at is None:
            self.limit = max(1, min(self.limit, self.in_flight) // 2)
            self._refused_at = now
            self._spread()
        elif started > self._refused_at:  # else it was under way when the client slowed down, and says nothing new
            if self._usual.refused():
                return
            self._refused_at = now
            if self._pace is not None and self._latency is not None and not self._others_slowed_down():
                self._slow_down(self._pace.per_second, self._latency, now)

    def _others_slowed_down(self) -> bool:
        """Report what was taken; whether another process has changed the rate since the last report."""
        version = self._version
        self._reserve(0.0, 0.0)
        return self._version != version

    def _slow_down(self, pace: float, latency: float, now: float) -> None:
        rate = self._rate
        if rate is None:
            return
        if rate.taken >= _ENOUGH:
            taken_a_second = rate.taken / rate.seconds
            if self._usual.is_to_be_tried(rate.per_second):
                self._learn(taken_a_second / 2, is_measured=True)
                self._usual.try_half(taken_a_second)
                return
            taken_a_second /= 1 - self._usual.share
            estimate = (taken_a_second + min(pace, 2 * taken_a_second)) / 2
            self._learn(estimate * self._usual.correction, is_measured=True)
        elif not rate.is_measured and rate.per_second > 1 / latency:
            self._learn(max(rate.per_second / 2, 1 / latency), is_measured=False)
        else:
            longest = max(latency, 1 / rate.per_second)
            self._paused_until = max(self._paused_until, now + min(self._patience / rate.per_second, longest))
            self._patience *= 2

    def _double(self) -> None:
        if self._refused_at is None and self.limit < self.most:
            self.limit = min(self.most, 2 * self.limit)
            asyncio.get_running_loop().call_later(_SILENCE_S, self._double)
            self._hand_out()

    def _spread(self) -> None:
        """As many starts in the time of an answer as there are slots; unknown until there was an answer."""
        if self._latency:
            self._learn(self.limit / self._latency, is_measured=False)

    @property
    def _version(self) -> int:
        return 0 if self._rate is None else self._rate.version

    def _learn(self, per_second: float, *, is_measured: bool) -> None:
        self._adopt(self._store.learn(per_second, is_measured, self._version))

    def _adopt(self, rate: LearnedRate) -> None:
        if rate.version != self._version:
            now = asyncio.get_running_loop().time()
            self._refused_at, self._counted_from = now, now - rate.seconds
            self._unreported, self._patience = 0, 1
            self._usual.changed()
        self._rate = rate
        if self._pace is None:
            self._pace = SharedPace(rate.per_second, self._reserve)

    def _reserve(self, seconds: float, owed_s: float) -> float:
        ends_in, rate = self._store.reserve(seconds, owed_s, self._unreported, self._version)
        if rate is not None:
            self._unreported = 0
            self._adopt(rate)
        return ends_in

    def _hand_out(self) -> None:
        while self._waiting and self.in_flight < self.limit:
            if self._waiting[0][3].done():  # cancelled or ended
                heapq.heappop(self._waiting)
                continue
            now = asyncio.get_running_loop().time()
            if self._refused_at is not None and self._pace is None and self.in_flight:
                return  # an answer will tell how long one takes
            if now < (due := self._due(now)):
                self._come_back_at(due)
                return
            _, _, tokens, turn, _ = heapq.heappop(self._waiting)
            self._count_start(tokens, now)
            turn.set_result(now)

    def _due(self, now: float) -> float:
        """When the next start may be. Paces are asked when nothing else is in the way: they may reserve time."""
        due = self._paused_until
        for pace in (self._pace, self.requests):
            if due > now:
                return due
            if pace is not None:
                due = max(due, pace.next(min(self._room, max(1.0, pace.per_second * WINDOW_S)), now))
        if due <= now and (tokens := self.tokens) is not None:
            due = max(due, tokens.next(self._wanted_tokens(tokens.per_second * WINDOW_S), now))
        return due

    @property
    def _room(self) -> int:
        """How many requests wait and could start if there were no pace."""
        return min(len(self._waiting), self.limit - self.in_flight)

    def _wanted_tokens(self, most: float) -> float:
        """Tokens of the requests that start next, up to a limit; at least those of the first."""
        first = self._waiting[0][2]
        return max(first, min(most, first * self._room))

    def _count_start(self, tokens: int, now: float) -> None:
        self.in_flight += 1
        self._unreported += 1
        if self.requests is not None:
            self.requests.take(1, now)
        if self.tokens is not None:
            self.tokens.take(tokens, now)
        if self._pace is not None and self._rate is not None:
            growth = self._growth(self._rate)
            self._pace.per_second = self._rate.per_second * growth
            if (led_to := self._usual.started(is_faster=self._rate.is_measured and growth > 1)) is not None:
                self._learn(led_to, is_measured=True)
            self._pace.take(1, now)

    def _growth(self, rate: LearnedRate) -> float:
        taken = max(0, rate.taken + self._unreported)
        if not rate.is_measured:
            return 1 + taken / max(_ENOUGH, rate.per_second * (self._latency or 0.0))
        full = min(_BACK_TO_FULL, max(_ENOUGH, _BACK_TO_FULL_S * rate.per_second))
        growth = 0.95 + 0.05 * 10 ** min(taken / full - 1, _MOST_GROWTH)
        return min(1.0, growth) if self._usual.is_tried else growth

    def _come_back_at(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(due, self._hand_out)

    def _give_back(self) -> None:
        self.in_flight -= 1
        self._hand_out()

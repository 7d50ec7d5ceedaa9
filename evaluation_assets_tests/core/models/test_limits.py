"""Limits in a loop whose time is counted, not waited for: slots, paces, and what is learned from refusals."""

import asyncio
import random
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation_assets.core.models.learned_rate import RateInMemory
from evaluation_assets.core.models.limits import AdaptiveLimit
from evaluation_assets.core.models.pace import Pace

T = TypeVar("T")


class Counted(asyncio.SelectorEventLoop):
    """An event loop that goes to the next timer at once when nothing else is to do."""

    _now = 0.0

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        timers = [timer.when() for timer in self._scheduled if not timer.cancelled()]  # type: ignore[attr-defined]
        if not self._ready and timers:  # type: ignore[attr-defined]
            self._now = max(self._now, min(timers))
        super()._run_once()  # type: ignore[misc]


def run(work: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=Counted) as runner:
        return runner.run(work)


@dataclass
class Endpoint:
    """Takes so many requests a second out of a bucket and answers each after a while; or so many at a time."""

    per_second: float = float("inf")
    burst: float = 1.0
    most: float = float("inf")
    latency_s: float = 0.2
    level: float = 0.0
    at: float = 0.0
    under_way: int = 0
    statuses: list[int] = field(default_factory=list)

    async def ask(self) -> float | None:
        """`None` when it answered, else the seconds it wants the next request to wait."""
        now = asyncio.get_running_loop().time()
        self.level = (
            self.burst if not self.statuses else min(self.burst, self.level + (now - self.at) * self.per_second)
        )
        self.at = now
        if self.level < 1 or self.under_way >= self.most:
            self.statuses.append(429)
            await asyncio.sleep(0.002)
            return max(0.0, (1 - self.level) / self.per_second)
        self.level -= 1
        self.under_way += 1
        self.statuses.append(200)
        await asyncio.sleep(self.latency_s)
        self.under_way -= 1
        return None


async def chain(limit: AdaptiveLimit, endpoint: Endpoint, length: int) -> None:
    for position in range(length):
        while True:
            async with limit.slot(length - position) as started:
                retry_after = await endpoint.ask()
                if retry_after is None:
                    limit.went_well(started)
                    break
                limit.pushed_back(started, retry_after)
            await asyncio.sleep(retry_after)


async def seconds(limit: AdaptiveLimit, endpoint: Endpoint, chains: int, length: int) -> float:
    loop = asyncio.get_running_loop()
    started = loop.time()
    await asyncio.gather(*(chain(limit, endpoint, length) for _ in range(chains)))
    return loop.time() - started


def test_no_more_are_in_flight_than_there_are_slots() -> None:
    limit, endpoint = AdaptiveLimit(10), Endpoint(burst=float("inf"), most=10)
    run(seconds(limit, endpoint, 40, 3))
    assert set(endpoint.statuses) == {200}


def test_free_slots_go_to_the_chain_with_the_most_left() -> None:
    order: list[int] = []

    async def ask(limit: AdaptiveLimit, left: int) -> None:
        async with limit.slot(left):
            order.append(left)
            await asyncio.sleep(1)

    async def work() -> None:
        limit = AdaptiveLimit(1)
        await asyncio.gather(*(ask(limit, left) for left in (0, 2, 5, 1, 5)))

    run(work())
    assert order == [0, 5, 5, 2, 1]


def test_whoever_is_cancelled_while_waiting_takes_no_slot() -> None:
    async def work() -> None:
        limit = AdaptiveLimit(1)
        async with limit.slot(0):
            waiting = asyncio.create_task(limit.slot(9).__aenter__())
            await asyncio.sleep(0)
            waiting.cancel()
        async with asyncio.timeout(1), limit.slot(0):
            assert limit.in_flight == 1

    run(work())


def test_without_refusals_slots_double_until_there_are_enough() -> None:
    limit = AdaptiveLimit(64)
    assert limit.limit == 16
    assert run(seconds(limit, Endpoint(burst=float("inf")), 64, 10)) == pytest.approx(0.2 * 11, rel=0.05)
    assert limit.limit == 64


def test_a_refusal_halves_the_slots_and_the_others_of_its_burst_change_nothing() -> None:
    async def work() -> list[int]:
        limit, limits = AdaptiveLimit(128), []
        async with AsyncExitStack() as stack:
            started = [await stack.enter_async_context(limit.slot(0)) for _ in range(32)]
            for each in started:
                limit.pushed_back(each)
                limits.append(limit.limit)
        return limits

    assert set(run(work())) == {16}


def test_after_a_refusal_nothing_starts_before_the_endpoint_wants_it() -> None:
    async def work() -> float:
        limit = AdaptiveLimit(8)
        async with limit.slot(0) as started:
            limit.pushed_back(started, 7.0)
        async with limit.slot(0) as started:
            return started

    assert run(work()) >= 7.0


@pytest.mark.parametrize("per_second", [0.5, 10, 100])
def test_an_endpoint_that_takes_a_third_is_used_to_the_full_and_seldom_refuses(per_second: float) -> None:
    endpoint = Endpoint(per_second, burst=max(1, per_second / 5), latency_s=20 / per_second)
    took = run(seconds(AdaptiveLimit(64), endpoint, 180, 5))
    assert endpoint.statuses.count(200) == 900
    assert took <= 1.2 * 900 / per_second
    assert endpoint.statuses[64:].count(429) <= 0.05 * 900, "after the first burst, when nothing is known"


@given(
    per_second=st.floats(0.1, 500),
    burst=st.integers(1, 200),
    latency_s=st.floats(0.001, 30),
    most=st.integers(1, 256),
    at_a_time=st.integers(1, 300),
)
@settings(max_examples=30, deadline=None)
def test_whatever_an_endpoint_takes_every_chain_ends(
    per_second: float, burst: int, latency_s: float, most: int, at_a_time: int
) -> None:
    endpoint = Endpoint(per_second, burst, at_a_time, latency_s)
    took = run(seconds(AdaptiveLimit(most), endpoint, 60, 3))
    assert endpoint.statuses.count(200) == 180
    ideal = max(3 * latency_s, 180 / per_second, 180 * latency_s / min(most, at_a_time))
    assert took <= 4 * ideal + 10 * latency_s


def test_an_endpoint_that_takes_ten_at_a_time_is_used_to_the_full() -> None:
    endpoint = Endpoint(burst=float("inf"), most=10, latency_s=1.0)
    took = run(seconds(AdaptiveLimit(64), endpoint, 100, 5))
    assert took <= 1.3 * 500 / 10


def test_chains_of_uneven_answers_end_at_about_the_same_time() -> None:
    drawn = random.Random(3)

    async def uneven(limit: AdaptiveLimit) -> None:
        for position in range(5):
            async with limit.slot(4 - position) as started:
                await asyncio.sleep(drawn.lognormvariate(-0.9, 0.6))
                limit.went_well(started)

    async def work() -> float:
        limit, loop = AdaptiveLimit(64), asyncio.get_running_loop()
        await asyncio.gather(*(uneven(limit) for _ in range(192)))
        return loop.time()

    mean = 0.4066 * 2.718281828 ** (0.6**2 / 2)
    assert run(work()) <= 1.25 * 960 * mean / 64


def test_the_pace_is_kept_and_what_was_missed_by_little_is_made_up_for() -> None:
    pace = Pace(10)
    starts, now = [], 100.0
    for _ in range(50):
        now = max(now, pace.due) + 0.004  # a timer that is always late
        pace.take(1, now)
        starts.append(now)
    assert starts[-1] - starts[0] == pytest.approx(4.9, abs=0.1)


def test_requests_and_tokens_a_minute_are_kept() -> None:
    async def work(expected: int, took: int, **paces: Pace) -> float:
        limit = AdaptiveLimit(8)
        limit.requests, limit.tokens = paces.get("requests"), paces.get("tokens")
        for _ in range(101):
            async with limit.slot(0, expected):
                limit.took(took - expected)
        return asyncio.get_running_loop().time()

    assert run(work(0, 0, requests=Pace(10))) == pytest.approx(10, abs=0.1)
    assert run(work(300, 300, tokens=Pace(1000))) == pytest.approx(30, abs=0.2)
    assert run(work(300, 200, tokens=Pace(1000))) == pytest.approx(20, abs=0.2)


async def one_after_the_other(limits: list[AdaptiveLimit], endpoint: Endpoint, chains: int, later_s: float) -> float:
    """Processes with the same work, each of which begins later than the one before; the seconds until all are done."""

    async def work(number: int, limit: AdaptiveLimit) -> None:
        await asyncio.sleep(number * later_s)
        await seconds(limit, endpoint, chains, 5)

    loop = asyncio.get_running_loop()
    started = loop.time()
    await asyncio.gather(*(work(number, limit) for number, limit in enumerate(limits)))
    return loop.time() - started


@pytest.mark.parametrize("processes", [2, 3])
@pytest.mark.parametrize("later_s", [0, 10])
@pytest.mark.parametrize("endpoint", [(40, 0.2, 20), (100, 0.2, 20), (10, 1.5, 5)])
def test_processes_that_share_what_they_learn_do_not_halve_each_others_rate(
    endpoint: tuple[float, float, float], later_s: float, processes: int
) -> None:
    """Each with a rate of its own takes 1.8 times the ideal time at the last endpoint, and keeps a part of the rate.

    In the first burst, when nothing is known, each is refused some requests.
    """
    per_second, latency, burst = endpoint
    server, store = Endpoint(per_second, burst, latency_s=latency), RateInMemory()
    limits = [AdaptiveLimit(64, store=store) for _ in range(processes)]
    chains = int(60 * per_second / processes / 5)
    took = run(one_after_the_other(limits, server, chains, later_s))
    assert took <= 1.2 * server.statuses.count(200) / per_second
    assert server.statuses[64:].count(429) <= 0.1 * len(server.statuses)


def test_a_process_that_begins_later_begins_at_the_learned_rate() -> None:
    server, store = Endpoint(40, 5), RateInMemory()

    async def work() -> list[int]:
        refused = []
        for _ in range(2):
            before = server.statuses.count(429)
            await seconds(AdaptiveLimit(64, store=store), server, 60, 5)
            refused.append(server.statuses.count(429) - before)
        return refused

    first, second = run(work())
    assert second < first / 2


@dataclass
class Unreliable(Endpoint):
    """Refuses a share of the requests, however slowly they come, and wants nobody to wait."""

    refused: float = 0.3
    drawn: random.Random = field(default_factory=lambda: random.Random(1))

    async def ask(self) -> float | None:
        if self.drawn.random() >= self.refused:
            return await super().ask()
        self.statuses.append(429)
        await asyncio.sleep(0.002)
        return 0.0


@pytest.mark.parametrize("latency_s", [0.5, 2])
@pytest.mark.parametrize(("refused", "share"), [(0.02, 0.9), (0.05, 0.85), (0.1, 0.8), (0.3, 0.25), (0.5, 0.25)])
def test_refusals_that_come_at_any_pace_hardly_slow_it_down(refused: float, share: float, latency_s: float) -> None:
    """Without telling them from those of a limit, 2% to 5% leave a tenth to a hundredth, and 30% end in standstill."""
    endpoint = Unreliable(burst=float("inf"), latency_s=latency_s, refused=refused)
    took = run(seconds(AdaptiveLimit(64), endpoint, 100, 50))
    assert 5000 / took >= share * (1 - refused) * 64 / latency_s


@dataclass
class Changing(Unreliable):
    """After some time it takes so many requests a second, and refuses no others where `ends` is set."""

    then_per_second: float = 0.0
    changes_at: float = 30.0
    ends: bool = False
    before: int | None = None

    async def ask(self) -> float | None:
        if self.before is None and asyncio.get_running_loop().time() > self.changes_at:
            self.before = len(self.statuses)
            self.refused = 0.0 if self.ends else self.refused
            self.per_second, self.burst, self.level = self.then_per_second, max(1.0, self.then_per_second / 5), 0.0
        return await super().ask()


@pytest.mark.parametrize("refused", [0.0, 0.05])
@pytest.mark.parametrize(("per_second", "then"), [(40, 20), (40, 10), (40, 2), (10, 40)])
def test_a_limit_that_changes_is_followed(per_second: float, then: float, refused: float) -> None:
    endpoint = Changing(per_second, per_second / 5, latency_s=0.5, refused=refused, then_per_second=then)
    took = run(seconds(AdaptiveLimit(64), endpoint, 150, 20))
    after = endpoint.statuses[endpoint.before :]
    assert after.count(200) / (took - 30) >= (0.8 if not refused else 0.5) * then
    assert after.count(429) <= (0.1 + 2 * refused) * len(after)


@pytest.mark.parametrize("refused", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("changes_at", [60, 200])
def test_where_refusals_of_no_limit_end_those_of_a_limit_are_not_taken_for_usual(
    refused: float, changes_at: float
) -> None:
    endpoint = Changing(
        burst=float("inf"), latency_s=2, refused=refused, then_per_second=10, changes_at=changes_at, ends=True
    )
    took = run(seconds(AdaptiveLimit(64), endpoint, 300, 40))
    after = endpoint.statuses[endpoint.before :]
    assert after.count(200) / (took - changes_at) >= 0.7 * 10
    assert after.count(429) <= 0.1 * len(after)


@pytest.mark.slow
@pytest.mark.parametrize("latency_s", [0.05, 0.5])
@pytest.mark.parametrize(("refused", "at_most_s"), [(0.1, 120), (0.3, 200), (0.5, 400)])
def test_a_rate_that_fell_by_refusals_of_no_limit_grows_back_when_they_end(
    refused: float, at_most_s: float, latency_s: float
) -> None:
    """With two processes killed on the way, whose work the next one begins with the rate that they left."""
    server, store = Unreliable(burst=float("inf"), latency_s=latency_s, refused=refused), RateInMemory()

    async def work() -> float:
        for _ in range(2):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(20):
                    await seconds(AdaptiveLimit(64, store=store), server, 600, 50)
        server.refused = 0.0
        return await seconds(AdaptiveLimit(64, store=store), server, 60, 10)

    assert run(work()) <= at_most_s


def test_a_rate_that_was_learned_too_low_grows_back_in_two_minutes() -> None:
    async def work() -> float:
        store = RateInMemory()
        store.learn(0.256, True, 0)
        return await seconds(AdaptiveLimit(64, store=store), Endpoint(burst=float("inf")), 60, 10)

    assert run(work()) <= 120


@pytest.mark.parametrize("per_second", [0.05, 0.25, 1, 4])
def test_a_slow_endpoint_refuses_at_most_every_tenth_request(per_second: float) -> None:
    """A rate that grows back by time asks a slow endpoint for more after fewer requests than a fast one."""
    endpoint = Endpoint(per_second, latency_s=1)
    took = run(seconds(AdaptiveLimit(64), endpoint, 180, 5))
    assert took <= 1.2 * 900 / per_second
    assert endpoint.statuses[64:].count(429) <= 0.1 * 900

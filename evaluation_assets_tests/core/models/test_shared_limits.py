"""Limits that belong to an endpoint: shared by its clients, and through the ledger by all processes."""

import asyncio
import gc
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from evaluation_assets.core.models.endpoints import EndpointSettings, endpoint_of
from evaluation_assets.core.models.learned_rate import LearnedRate
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.limits import AdaptiveLimit
from evaluation_assets.core.models.pace import SharedPace
from evaluation_assets.core.models.rate_in_ledger import FORGOTTEN_S, RateInLedger
from evaluation_assets.core.models.reservations import Reservations
from evaluation_assets.core.models.shared_limits import SharedLimit, limited_together
from evaluation_assets.core.models.strictest_limits import overruled_limits, with_strictest_limits
from evaluation_assets_tests.core.models.test_limits import run


def model(name: str = "one", **more: object) -> EndpointSettings:
    known = {"name": name, "provider": "openai_compatible", "model": "m", "base_url": "http://localhost:1/v1"}
    return EndpointSettings.model_validate(known | more)


def together(*models: EndpointSettings) -> bool:
    return len({limited_together(endpoint_of(each)[0]) for each in models}) == 1


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    sqlite = f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    opened = Ledger(sqlite if request.param == "sqlite" else request.getfixturevalue("postgres_url"))
    with opened.transaction() as connection:
        for table in ("reservations", "learned_rates"):
            connection.execute(sa.text(f"DELETE FROM {table}"))
    yield opened
    opened.close()


def test_models_at_one_address_with_one_key_are_limited_together() -> None:
    assert together(model(), model("two", model="other"), model("three", base_url="http://localhost:1/v1/"))
    assert not together(model(), model("two", base_url="http://localhost:2/v1"))
    assert not together(model(), model("two", api_key_env="ANOTHER_KEY"))


def test_providers_that_limit_each_model_do_not_share_them() -> None:
    named = [EndpointSettings(name=name, provider="openai", model=name) for name in ("gpt_a", "gpt_b")]
    assert not together(*named)
    assert together(named[0], named[0].model_copy(update={"name": "again"}))


def test_the_strictest_limits_hold_and_the_others_are_named() -> None:
    models = [
        model("a", requests_per_minute=120, max_concurrency=64),
        model("b", requests_per_minute=60),
        model("c", base_url="http://localhost:2/v1", requests_per_minute=10),
    ]
    held = with_strictest_limits(models)
    assert [(each.requests_per_minute, each.max_concurrency) for each in held] == [(60, 64), (60, 64), (10, 16)]
    (line,) = overruled_limits(models)
    assert line == "a: requests_per_minute 120 is overruled by 60, which another model of the same endpoint has"


def test_clients_of_one_endpoint_share_slots_and_paces(tmp_path: Path) -> None:
    ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")

    async def work() -> None:
        one = SharedLimit(endpoint_of(model(max_concurrency=8))[0], ledger)
        two = SharedLimit(endpoint_of(model("two", max_concurrency=4, requests_per_minute=60))[0], ledger)
        other = SharedLimit(endpoint_of(model(base_url="http://localhost:2/v1"))[0], ledger)
        assert one.limit is two.limit is not other.limit
        assert (one.limit.most, one.limit.limit) == (4, 4)
        assert one.limit.requests is not None and one.limit.requests.per_second == 1
        for each in (one, two, other):
            each.leave()

    asyncio.run(work())
    ledger.close()


def test_the_limit_of_an_event_loop_goes_with_it(tmp_path: Path) -> None:
    """Its timers refer to the loop and to the run that the loop worked for."""
    ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")

    async def work() -> weakref.ref[asyncio.AbstractEventLoop]:
        joined = SharedLimit(endpoint_of(model(max_concurrency=1, requests_per_minute=1))[0], ledger)
        async with joined.limit.slot(0):
            pass

        async def wait() -> None:
            async with joined.limit.slot(0):
                pass

        waiting = asyncio.create_task(wait())
        await asyncio.sleep(0.3)
        waiting.cancel()
        joined.leave()
        return weakref.ref(asyncio.get_running_loop())

    loop = asyncio.run(work())
    gc.collect()
    assert loop() is None
    ledger.close()


def test_a_client_that_ends_does_not_end_the_others() -> None:
    async def work() -> None:
        limit, ended, order = AdaptiveLimit(1), asyncio.Event(), list[str]()

        async def ask(name: str, event: asyncio.Event | None) -> None:
            async with limit.slot(0, 0, event):
                order.append(name)
                await asyncio.sleep(1)

        async with asyncio.TaskGroup() as tasks:
            for name, event in (("first", None), ("goes on", None), ("ends", ended)):
                tasks.create_task(ask(name, event))
            await asyncio.sleep(0.5)
            ended.set()
            limit.end(ended)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert order == ["first", "ends"], "it learns at once that it has ended, the other waits for a slot"
        assert limit.in_flight == 0
        async with asyncio.timeout(0.1), limit.slot(0, 0, ended):
            pass

    run(work())


def test_reservations_of_a_unit_follow_each_other(ledger: Ledger) -> None:
    place = Reservations(ledger, "e")
    assert place.reserve("requests", 10, 0) == pytest.approx(10, abs=0.1)
    assert Reservations(ledger, "e").reserve("requests", 10, 0) == pytest.approx(20, abs=1)
    assert place.reserve("requests", 10, -5) == pytest.approx(25, abs=1), "what was not used is given back"
    assert place.reserve("tokens", 10, 0) == pytest.approx(10, abs=0.1)
    assert Reservations(ledger, "other").reserve("requests", 10, 0) == pytest.approx(10, abs=0.1)


def test_what_a_dead_process_reserved_ends_by_itself(ledger: Ledger) -> None:
    Reservations(ledger, "e").reserve("requests", 0.3, 0)
    time.sleep(0.5)
    assert Reservations(ledger, "e").reserve("requests", 1, 0) <= 1


def test_a_reservation_from_before_the_machine_was_started_does_not_count(ledger: Ledger) -> None:
    place = Reservations(ledger, "e")
    place.reserve("requests", 1, 0)
    with ledger.transaction() as connection:
        connection.execute(sa.text("UPDATE reservations SET ends_at = ends_at + 1e6"))
    assert place.reserve("requests", 1, 0) <= 1.1


def test_a_ledger_that_cannot_be_written_leaves_the_process_with_a_pace_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    ledger = Ledger(f"sqlite:///{tmp_path / 'folder' / 'ledger.sqlite'}")
    place = Reservations(ledger, "e")
    with ledger.transaction() as connection:
        connection.execute(sa.text("DROP TABLE reservations"))
    assert place.reserve("requests", 2, 0.5) == 2.5
    ledger.close()


def test_a_rate_is_changed_once_by_processes_that_are_refused_together(ledger: Ledger) -> None:
    one, two = (RateInLedger("e", lambda: ledger) for _ in range(2))
    assert one.known() is None
    learned = one.learn(40.0, False, 0)
    assert (learned.per_second, learned.is_measured, learned.version, learned.taken) == (40.0, False, 1, 0)
    late = two.learn(30.0, False, 0)
    assert (late.per_second, late.version) == (40.0, 1), "it was refused before it knew of the change"
    measured = two.learn(25.0, True, 1)
    assert (measured.per_second, measured.is_measured, measured.version) == (25.0, True, 2)
    known = one.known()
    assert known is not None and (known.per_second, known.version) == (25.0, 2)
    assert RateInLedger("other", lambda: ledger).known() is None


def test_processes_reserve_after_each_other_and_count_together_what_was_taken(ledger: Ledger) -> None:
    one, two = (RateInLedger("e", lambda: ledger) for _ in range(2))
    one.learn(10.0, True, 0)
    ends, rate = one.reserve(1.0, 0.0, 4, 1)
    assert ends == pytest.approx(1.0, abs=0.2)
    assert rate is not None and rate.taken == 4
    ends, rate = two.reserve(1.0, 0.5, 3, 1)
    assert ends == pytest.approx(2.5, abs=0.4)
    assert rate is not None and rate.taken == 7 and 0 < rate.seconds < 30
    two.learn(5.0, True, 1)
    _, rate = one.reserve(0.0, 0.0, 9, 1)
    assert rate is not None and (rate.version, rate.taken) == (2, 0), "these were taken before the change"


@pytest.mark.parametrize("moved_s", [-2 * FORGOTTEN_S, 1e6], ids=["long unused", "before the machine was started"])
def test_an_old_rate_is_forgotten(ledger: Ledger, moved_s: float) -> None:
    rates = RateInLedger("e", lambda: ledger)
    rates.learn(10.0, True, 0)
    with ledger.transaction() as connection:
        connection.execute(sa.text("UPDATE learned_rates SET ends_at = ends_at + :moved"), {"moved": moved_s})
    assert rates.known() is None
    again = rates.learn(30.0, False, 0)
    assert (again.per_second, again.version) == (30.0, 2)
    assert rates.reserve(1.0, 0.0, 0, 2)[0] <= 1.1


def test_a_process_without_a_ledger_keeps_a_rate_of_its_own(ledger: Ledger) -> None:
    with ledger.transaction() as connection:
        connection.execute(sa.text("ALTER TABLE learned_rates RENAME TO away"))
    try:
        for rates in (RateInLedger("e", lambda: ledger), RateInLedger("e", lambda: None)):
            assert rates.known() is None
            assert rates.learn(10.0, True, 3) == LearnedRate(10.0, True, 4, 0, 0.0)
            assert rates.reserve(2.0, 0.5, 1, 4) == (2.5, None)
    finally:
        with ledger.transaction() as connection:
            connection.execute(sa.text("ALTER TABLE away RENAME TO learned_rates"))


@pytest.mark.parametrize("processes", [1, 3])
def test_paces_that_reserve_from_one_place_keep_its_rate_together(processes: int) -> None:
    """Time is counted, not waited for: each process asks for four starts as often as it may."""
    now, end, starts = 0.0, 0.0, list[float]()

    def reserve(seconds: float, owed_s: float) -> float:
        nonlocal end
        end = max(end + owed_s, now - 0.05) + seconds
        return end - now

    paces = [SharedPace(4.0, reserve) for _ in range(processes)]
    while now < 60:
        for pace in paces:
            while pace.next(4, now) <= now:
                pace.take(1, now)
                starts.append(now)
        now += 0.01
    assert len(starts) == pytest.approx(240, abs=5)
    assert max(sum(at <= start < at + 10 for start in starts) for at in range(50)) <= 42


def test_tokens_that_were_not_used_are_used_by_the_next_reservation() -> None:
    now, end, taken = 0.0, 0.0, 0

    def reserve(seconds: float, owed_s: float) -> float:
        nonlocal end
        end = max(end + owed_s, now - 0.05) + seconds
        return end - now

    pace = SharedPace(1000.0, reserve)
    while now < 30:
        while pace.next(300, now) <= now:
            pace.take(300, now)
            pace.correct(-100)
            taken += 200
        now += 0.01
    assert taken == pytest.approx(30_000, rel=0.03)

"""Writes to the ledger that are asked for together are one transaction, committed before anybody is told."""

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation_assets.core.models.errors import LedgerError
from evaluation_assets.core.models.grouped_writes import GroupedWrites
from evaluation_assets.core.models.ledger import Entry, Ledger
from evaluation_assets.core.models.ledger_connection import Work
from evaluation_assets.core.models.messages import Reply
from evaluation_assets.core.traces.token_usage import TokenUsage

KEYS = [f"k{number}" for number in range(20)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(file: Path) -> Iterator[Ledger]:
    opened = Ledger(f"sqlite:///{file}")
    yield opened
    opened.close()


def storing(ledger: Ledger, key: str) -> Work[Entry]:
    reply = Reply(text="{}", finish="stop", usage=TokenUsage())
    return ledger.storing(key, Entry(reply=reply, run="r", number=0, cost_usd=1, latency_ms=1, attempts=1), "p", "m")


def unexpected(problem: LedgerError) -> None:
    raise AssertionError(problem)


def held(file: Path) -> list[str]:
    with sqlite3.connect(file) as connection:
        return sorted(key for (key,) in connection.execute("SELECT key FROM leases"))


def test_replies_that_come_together_are_committed_before_the_first_is_used(ledger: Ledger, file: Path) -> None:
    async def used(writes: GroupedWrites, key: str) -> int:
        await writes.stored(storing(ledger, key), unexpected)
        with sqlite3.connect(file) as other:
            return other.execute("SELECT count(*) FROM replies").fetchone()[0]

    async def together() -> list[int]:
        writes = GroupedWrites(ledger)
        return await asyncio.gather(*(used(writes, key) for key in KEYS))

    assert asyncio.run(together()) == [len(KEYS)] * len(KEYS)


def test_who_is_cancelled_leaves_no_claim(ledger: Ledger, file: Path) -> None:
    async def claims(passes: int) -> None:
        writes = GroupedWrites(ledger)
        claiming = [
            asyncio.create_task(writes.claimed(ledger.claiming(key), ledger.releasing(key))) for key in KEYS[:2]
        ]
        for _ in range(passes):
            await asyncio.sleep(0)
        claiming[0].cancel()
        await asyncio.gather(*claiming, return_exceptions=True)
        assert claiming[0].cancelled()
        assert claiming[1].result() == []

    for passes in (1, 2):  # before the claim is written, and after it, before it is told
        asyncio.run(claims(passes))
        assert held(file) == ["k1"]
        ledger.release("k1")


def test_a_reply_is_stored_although_who_waits_for_it_is_cancelled(ledger: Ledger) -> None:
    async def stored() -> None:
        writes = GroupedWrites(ledger)
        task = asyncio.create_task(writes.stored(storing(ledger, "k"), unexpected))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        assert len(ledger.entries("k")) == 1

    asyncio.run(stored())
    assert len(ledger.entries("k")) == 1


def test_a_group_that_cannot_be_written_is_told_to_all_and_none_of_it_is_written(ledger: Ledger, file: Path) -> None:
    problems: list[LedgerError] = []

    async def failing() -> list[object]:
        writes = GroupedWrites(ledger)
        claim = writes.claimed(ledger.claiming("claimed"), ledger.releasing("claimed"))
        with sqlite3.connect(file) as other:
            other.execute("DROP TABLE batch_items")
        asked = (writes.stored(storing(ledger, key), problems.append) for key in KEYS)
        return await asyncio.gather(claim, *asked, return_exceptions=True)

    results = asyncio.run(failing())
    assert all(isinstance(result, LedgerError) for result in results)
    assert len(problems) == len(KEYS)
    assert ledger.entries("k0") == []
    assert held(file) == []

"""Outages of the ledger end when something is written, not when it looks as if something could be."""

import asyncio
from pathlib import Path

from evaluation_assets.core.models.errors import LedgerError, Stopped
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.unsaved import Unsaved

FULL = LedgerError("the disk is full")


def outages(ledger: Ledger, seconds: float, *written: bool) -> list[Stopped]:
    """What stops a client whose claims fail on a ledger that can be written, or for each `written` one is."""
    stops: list[Stopped] = []

    async def run() -> None:
        unsaved = Unsaved("one", ledger, seconds, stops.append)
        for is_written in written:
            await unsaved.writable(FULL)
            if is_written:
                unsaved.written()
        unsaved.close()

    asyncio.run(asyncio.wait_for(run(), 10))
    return stops


def test_a_ledger_that_looks_writable_and_takes_no_claim_stops_the_client(tmp_path: Path) -> None:
    """As on a disk that is nearly full."""
    ledger = Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    stops = outages(ledger, 0.05, False, False)
    assert [(stop.kind, str(stop)) for stop in stops] == [("ledger", "the disk is full")]
    assert outages(ledger, 0.05, True, True) == [], "each is an outage of its own"
    ledger.close()

"""A ledger whose server is started again is waited for; one that lets nobody in is not."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation_assets.core.models.errors import LedgerAway, LedgerError
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.models.ledger_outage import opened_when_it_answers
from evaluation_assets_tests import postgres
from evaluation_assets_tests.judging_alone import chains, judge_at, verdicts
from evaluation_assets_tests.model_server import model_server


@pytest.fixture(scope="module")
def database() -> Iterator[postgres.Server]:
    with postgres.running() as server:
        yield server


def opened(url: str, seconds: float) -> None:
    asyncio.run(opened_when_it_answers(lambda: Ledger(url), seconds)).close()


@pytest.mark.slow
def test_a_server_that_is_started_again_is_waited_for(database: postgres.Server) -> None:
    database.kill()
    starts = threading.Timer(2, database.start)
    starts.start()
    try:
        opened(database.url, seconds=60)
    finally:
        starts.join()


@pytest.mark.slow
def test_a_server_that_stays_away_ends_the_wait(database: postgres.Server) -> None:
    database.kill()
    try:
        with pytest.raises(LedgerAway, match="check EVALUATION_LEDGER_URL"):
            opened(database.url, seconds=1)
    finally:
        database.start()


def test_who_is_not_let_in_does_not_wait(database: postgres.Server, tmp_path: Path) -> None:
    missing_database = database.url.rsplit("/", 1)[0] + "/missing"
    unknown_user = database.url.replace("tests@", "unknown@")
    no_folder = f"sqlite:///{tmp_path}/missing/ledger.sqlite"
    for url in (missing_database, unknown_user, no_folder):
        with pytest.raises(LedgerError) as refused:
            opened(url, seconds=3600)
        assert not isinstance(refused.value, LedgerAway)


@pytest.mark.slow
def test_a_level_that_begins_while_the_server_is_away_is_judged(
    database: postgres.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "any")
    with model_server() as endpoint:
        judge = judge_at(endpoint.openai_url, database.url, api_key_env="TEST_KEY")
        database.kill()
        starts = threading.Timer(2, database.start)
        starts.start()
        try:
            judged = asyncio.run(verdicts(judge, chains(1)))
        finally:
            starts.join()
    assert {verdict.outcome for verdict in judged} == {"scored"}

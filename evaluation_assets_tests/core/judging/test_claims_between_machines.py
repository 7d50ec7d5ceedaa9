"""Workers on several machines with one PostgreSQL ledger: nothing is paid twice, and limits hold for all together.

The machines have the same name and machine id, and clocks that differ by five minutes.
"""

import asyncio
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets_tests import postgres
from evaluation_assets_tests.core.judging.test_shared_limits import most_within
from evaluation_assets_tests.judging_alone import CLIPS, chains, judge_at, verdicts
from evaluation_assets_tests.machines import on_machine
from evaluation_assets_tests.model_server import ModelServer, model_server, rule

pytestmark = pytest.mark.slow

AHEAD_S = 300.0


@pytest.fixture
def url(postgres_url: str) -> str:
    """A ledger that all machines reach."""
    return postgres.database(postgres_url)


def worker(
    folder: Path, server: ModelServer, url: str, count: int, more: dict[str, Any], *, ahead_s: float = 0.0
) -> subprocess.Popen[str]:
    code = (
        f"from evaluation_assets_tests.judging_alone import work; work({server.openai_url!r}, {url!r}, {count}, {more})"
    )
    return on_machine(folder, code, ahead_s=ahead_s)


def wait_for(*workers: subprocess.Popen[str]) -> None:
    for each in workers:
        each.communicate(timeout=120)
        assert each.returncode == 0


@pytest.mark.parametrize("ahead_s", [AHEAD_S, -AHEAD_S])
def test_workers_on_two_machines_of_one_name_never_pay_twice(tmp_path: Path, url: str, ahead_s: float) -> None:
    """Claims are shorter than the time in line and than a request."""
    more = {"requests_per_minute": 300, "max_concurrency": 8, "lease_s": 2.0}
    with model_server(latency=3.0) as server:
        wait_for(worker(tmp_path, server, url, 12, more), worker(tmp_path, server, url, 12, more, ahead_s=ahead_s))
        asked = Counter(request.sha256 for request in server.requests(bodies=False))
    assert len(asked) == 12 * CLIPS
    assert set(asked.values()) == {1}


def test_the_claim_of_a_worker_killed_on_another_machine_ends_by_the_clock_of_the_database(
    tmp_path: Path, url: str
) -> None:
    with model_server([rule("slow", seconds=3600, times=1)]) as server:
        victim = worker(tmp_path, server, url, 1, {"lease_s": 8.0}, ahead_s=AHEAD_S)
        while not server.requests(bodies=False):
            assert victim.poll() is None
        victim.kill()
        victim.communicate()
        ledger = Ledger(url)
        with ledger.transaction() as connection:
            left = connection.execute(
                sa.text("SELECT key, expires_at - extract(epoch from clock_timestamp()) FROM leases")
            ).all()
        ((key, seconds),) = left
        assert 0 < seconds <= 8
        assert not ledger.claim(key), "nobody on this machine can tell that it was killed"
        ledger.close()
        judge = judge_at(server.openai_url, url, timeouts={"question_s": 60.0})
        found = asyncio.run(verdicts(judge, chains(1)))
        asked = Counter(request.sha256 for request in server.requests(bodies=False))
    assert {verdict.outcome for verdict in found} <= {"scored", "abstained"}
    assert sorted(asked.values()) == [1, 2], "what was in flight is asked again, by one"


@pytest.mark.parametrize(
    ("limit", "in_three_seconds"),
    [({"requests_per_minute": 600}, 30 + 5), ({"tokens_per_minute": 600_000}, 18)],
    ids=["requests", "tokens"],
)
def test_machines_with_different_clocks_keep_a_limit_together(
    tmp_path: Path, url: str, limit: dict[str, float], in_three_seconds: int
) -> None:
    """Each has questions of its own: another model. A question takes about 2,400 tokens."""
    with model_server() as server:
        wait_for(
            worker(tmp_path, server, url, 15, {"model": "a", **limit}),
            worker(tmp_path, server, url, 15, {"model": "b", **limit}, ahead_s=AHEAD_S),
        )
        asked = server.requests(bodies=True)
    assert Counter(each.body["model"] for each in asked) == {"a": 15 * CLIPS, "b": 15 * CLIPS}
    assert most_within(3.0, [each.arrived for each in asked]) <= in_three_seconds

"""Two Celery workers, Redis, PostgreSQL and S3: drops are evaluated, and paid for once, also when workers die."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import dagster as dg
import orjson
import pytest
import sqlalchemy as sa

from evaluation_assets.resources.heartbeat import heartbeat_of
from evaluation_assets_tests.many_machines import Machines, Service, machines
from evaluation_assets_tests.model_judging import drop_of, judge
from evaluation_assets_tests.model_server import ModelServer, model_server
from evaluation_assets_tests.test_ui import wait_for

IN_FLIGHT = 2
DROPS = 4


@dataclass(frozen=True)
class Installed:
    """An installation on several machines, its Dagster instance, and the model that its judge calls."""

    at: Machines
    instance: dg.DagsterInstance
    server: ModelServer

    def runs(self, drop: str) -> list[dg.DagsterRun]:
        return list(self.instance.get_runs(dg.RunsFilter(tags={"dagster/partition": drop})))

    def evaluated(self, drop: str) -> bool | None:
        """Whether a run of the drop has succeeded."""
        return any(run.status == dg.DagsterRunStatus.SUCCESS for run in self.runs(drop)) or None

    def at_work(self, drop: str) -> tuple[Service, int]:
        """The worker that evaluates a drop, and the process it started for that."""

        def found() -> tuple[Service, int] | None:
            for run in self.runs(drop):
                if (heart := heartbeat_of(self.instance, run.run_id)) is not None:
                    group = os.getpgid(heart.process.pid)
                    return next(each for each in self.at.workers if each.running.pid == group), heart.process.pid
            return None

        return wait_for(found, 120)

    def stored(self) -> tuple[int, int]:
        """Replies in the ledger, and the questions that they answer."""
        with self.at.ledger.connect() as connection:
            replies, questions = connection.execute(sa.text("SELECT count(*), count(DISTINCT key) FROM replies")).one()
        return replies, questions

    def answered(self) -> int:
        """Requests that the model has answered."""
        return sum(asked.status == 200 for asked in self.server.requests(bodies=False))

    def outcomes(self, drop: str) -> Counter[str]:
        """The verdicts of a drop, by outcome."""
        tables = ("clip_verdicts", "category_verdicts", "trajectory_verdicts")
        return Counter(row["outcome"] for name in tables for row in self.at.home.table(drop, name, "one").rows())


@pytest.fixture(scope="module")
def installed() -> Iterator[Installed]:
    with model_server(latency=0.3) as server:
        panel = {"judges": [judge(server, max_concurrency=IN_FLIGHT)]}
        with machines(panel) as at, at.instance() as instance:
            yield Installed(at, instance, server)


def test_two_workers_evaluate_all_drops_and_pay_for_each_question_once(installed: Installed) -> None:
    at = installed.at
    at.add_worker()
    at.add_worker()
    drops = [f"suite/d{number}" for number in range(DROPS)]
    for number, drop in enumerate(drops):
        at.drop(drop, drop_of(1, f"drop {number}"))
    for drop in drops:
        wait_for(lambda drop=drop: installed.evaluated(drop), 300)
    assert [run.status.value for drop in drops for run in installed.runs(drop)] == ["SUCCESS"] * DROPS
    assert all("execute_job" in worker.log() and "succeeded" in worker.log() for worker in at.workers)
    for drop in drops:
        report = orjson.loads((at.home.reports(drop) / "report.json").read_bytes())
        assert report["drop"] == drop
        assert installed.outcomes(drop).keys() == {"scored"}
    replies, questions = installed.stored()
    assert replies == questions == installed.answered() == len(installed.server.requests(bodies=False))
    assert questions >= DROPS * len(installed.outcomes(drops[0]))


@pytest.mark.parametrize("whole", [False, True], ids=["the process of the run", "the whole worker"])
def test_a_run_whose_worker_is_killed_is_repeated_and_pays_for_nothing_twice(installed: Installed, whole: bool) -> None:
    at, drop = installed.at, f"killed{whole:d}"
    while sum(worker.running.poll() is None for worker in at.workers) < 2:
        at.add_worker()
    before, stored = installed.answered(), installed.stored()[0]
    at.drop(drop, drop_of(5, drop))
    worker, process = installed.at_work(drop)
    wait_for(lambda: installed.answered() - before > 10 or None, 120)
    assert not installed.evaluated(drop)
    if whole:
        worker.kill()
    else:
        os.kill(process, signal.SIGKILL)
    wait_for(lambda: installed.evaluated(drop), 300)
    assert sorted(run.status.value for run in installed.runs(drop)) == ["FAILURE", "SUCCESS"]
    replies, questions = installed.stored()
    assert replies == questions
    asked_again = installed.answered() - before - (replies - stored)
    assert 0 <= asked_again <= IN_FLIGHT, "only what was in flight at the kill is asked again"
    assert installed.outcomes(drop).keys() == {"scored"}

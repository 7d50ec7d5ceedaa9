"""Two Celery workers, Redis, PostgreSQL and S3: drops are evaluated, and paid for once, also when workers die."""

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import orjson
import pytest

from evaluation_assets.resources.heartbeat import heartbeat_of
from evaluation_assets_tests.many_machines import Machines, Service, machines
from evaluation_assets_tests.model_judging import CLIPS, drop_of, judge
from evaluation_assets_tests.model_server import ModelServer, model_server
from evaluation_assets_tests.test_ui import wait_for

pytestmark = pytest.mark.slow

IN_FLIGHT = 2
DROPS = 4
CLIPS_PER_PART = 60

JUDGED = {"scored", "abstained"}
"""What the model answered: now and then it scores no criterion of a subject."""


@dataclass(frozen=True)
class Installed:
    """An installation on several machines, its Dagster instance, and the model that its judge calls."""

    at: Machines
    instance: dg.DagsterInstance
    server: ModelServer

    def need_workers(self) -> None:
        """Have two workers, with new ones in place of those that ended."""
        while sum(worker.running.poll() is None for worker in self.at.workers) < 2:
            self.at.add_worker()

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
            at.home.gate_file.write_text(json.dumps({"big_drops": {"clips_per_part": CLIPS_PER_PART}}))
            yield Installed(at, instance, server)


def test_two_workers_evaluate_all_drops_and_pay_for_each_question_once(installed: Installed) -> None:
    at = installed.at
    installed.need_workers()
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
        assert installed.outcomes(drop).keys() <= JUDGED
    replies, questions = installed.at.stored()
    assert replies == questions == installed.answered() == len(installed.server.requests(bodies=False))
    assert questions >= DROPS * len(installed.outcomes(drops[0]))


def test_a_worker_that_is_told_to_end_finishes_its_run(installed: Installed) -> None:
    installed.need_workers()
    installed.at.drop("last", drop_of(3, "last"))
    worker, _ = installed.at_work("last")
    worker.running.terminate()
    assert worker.running.wait(300) == 0
    assert [run.status.value for run in installed.runs("last")] == ["SUCCESS"]


def test_a_run_that_is_terminated_in_the_ui_ends_as_canceled_and_is_not_repeated(installed: Installed) -> None:
    installed.need_workers()
    installed.at.drop("unwanted", drop_of(200, "unwanted"))
    _, process = installed.at_work("unwanted")
    (run,) = installed.runs("unwanted")
    installed.instance.report_run_canceling(run)
    assert installed.instance.run_launcher.terminate(run.run_id)
    wait_for(lambda: not Path(f"/proc/{process}").exists() or None, 60)
    wait_for(lambda: installed.runs("unwanted")[0].is_finished or None, 300)
    assert [run.status.value for run in installed.runs("unwanted")] == ["CANCELED"]


def test_runs_whose_process_or_worker_is_killed_are_repeated_and_pay_for_nothing_twice(installed: Installed) -> None:
    installed.need_workers()
    before, stored = installed.answered(), installed.at.stored()[0]
    drops = ["process", "worker"]
    for drop in drops:
        installed.at.drop(drop, drop_of(20, drop))
    at_work = {drop: installed.at_work(drop) for drop in drops}
    assert at_work["process"][0] is not at_work["worker"][0]
    wait_for(lambda: installed.answered() - before > 10 or None, 120)
    os.kill(at_work["process"][1], signal.SIGKILL)
    at_work["worker"][0].kill()
    assert not any(installed.evaluated(drop) for drop in drops)
    for drop in drops:
        wait_for(lambda drop=drop: installed.evaluated(drop), 400)
        assert sorted(run.status.value for run in installed.runs(drop)) == ["FAILURE", "SUCCESS"]
        assert installed.outcomes(drop).keys() <= JUDGED
    replies, questions = installed.at.stored()
    assert replies == questions
    asked_again = installed.answered() - before - (replies - stored)
    assert 0 <= asked_again <= IN_FLIGHT * len(drops), "only what was in flight at a kill is asked again"


def test_two_workers_share_a_big_drop_also_when_one_is_killed(installed: Installed) -> None:
    installed.need_workers()
    before, stored = installed.answered(), installed.at.stored()[0]
    trajectories = 2 * CLIPS_PER_PART // CLIPS
    installed.at.drop("big", drop_of(trajectories, "big"))
    worker, _ = installed.at_work("big")

    (helper,) = [each for each in installed.at.workers if each is not worker and each.running.poll() is None]

    def is_helping() -> bool | None:
        runs = installed.instance.get_runs(dg.RunsFilter(tags={"evaluation/drop": "big"}))
        return any(heartbeat_of(installed.instance, run.run_id) is not None for run in runs) or None

    wait_for(is_helping, 120)
    at_work = installed.answered()
    wait_for(lambda: installed.answered() - at_work > 20 or None, 120)
    helper.kill()
    wait_for(lambda: installed.evaluated("big"), 400)
    assert [run.status.value for run in installed.runs("big")] == ["SUCCESS"]
    assert installed.outcomes("big").keys() <= JUDGED
    assert sum(1 for _ in installed.at.home.table("big", "clip_verdicts", "one").rows()) == trajectories * CLIPS
    replies, questions = installed.at.stored()
    assert replies == questions
    assert 0 <= installed.answered() - before - (replies - stored) <= IN_FLIGHT


def test_daemon_and_code_server_are_killed_and_started_again_while_a_run_is_in_progress(installed: Installed) -> None:
    installed.need_workers()
    asked = installed.answered()
    replies, _ = installed.at.stored()
    installed.at.drop("services/before", drop_of(4, "before"))
    installed.at_work("services/before")
    for service in (installed.at.code, installed.at.daemon):
        service.kill()
    installed.at.drop("services/after", drop_of(4, "after"))
    for service in (installed.at.daemon, installed.at.code):  # the daemon finds the code server when it is there
        service.start()
    for drop in ("services/before", "services/after"):
        wait_for(lambda drop=drop: installed.evaluated(drop), 300)
        assert len(installed.runs(drop)) == 1
    installed.at.code.kill()
    installed.at.code.start()
    installed.at.drop("services/last", drop_of(1, "last"))
    wait_for(lambda: installed.evaluated("services/last"), 300)
    stored, questions = installed.at.stored()
    assert stored == questions
    assert installed.answered() - asked == stored - replies

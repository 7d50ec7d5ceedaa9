"""Two Celery workers, Redis, PostgreSQL and S3: drops are evaluated, and paid for once."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import orjson
import pytest

from evaluation_assets.resources.heartbeat import heartbeat_of
from evaluation_assets_tests.many_machines import (
    CLIPS_PER_PART,
    IN_FLIGHT,
    JUDGED,
    Installed,
    installed_on_machines,
)
from evaluation_assets_tests.model_judging import CLIPS, drop_of
from evaluation_assets_tests.test_ui import wait_for

pytestmark = pytest.mark.slow

DROPS = 4


@pytest.fixture(scope="module")
def installed() -> Iterator[Installed]:
    with installed_on_machines() as made:
        yield made


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

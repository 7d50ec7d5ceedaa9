"""Processes of several machines are killed while they work: runs are repeated, and nothing is paid for twice."""

import os
import signal
from collections.abc import Iterator

import pytest

from evaluation_assets_tests.many_machines import IN_FLIGHT, JUDGED, Installed, installed_on_machines
from evaluation_assets_tests.model_judging import drop_of
from evaluation_assets_tests.test_ui import wait_for

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed() -> Iterator[Installed]:
    with installed_on_machines() as made:
        yield made


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

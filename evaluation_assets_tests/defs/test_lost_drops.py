"""Drops whose runs are really killed: what is asked for again, and what is said when they are given up."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.execution.api import execute_run

from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.triggers import lost_drops
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets.defs.freshness import REPORT
from evaluation_assets.defs.lost_runs import fail_gone_runs
from evaluation_assets.defs.names import EVALUATE
from evaluation_assets.defs.partitions import DROPS, add_partitions
from evaluation_assets.resources.drop_lock import alone
from evaluation_assets.resources.drops_done import drops_done
from evaluation_assets.runs.jobs import instance_of
from evaluation_assets_tests.conftest import Workspace, command, record
from evaluation_assets_tests.defs.test_sensors import Ticker, drops_in
from evaluation_assets_tests.test_ui import wait_for

pytestmark = pytest.mark.slow

RUN = """
import json, sys
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.definitions import build_definitions
from evaluation_assets.runs.jobs import instance_of
home, more = Installation.at(sys.argv[1]), json.loads(sys.argv[2])
with instance_of(home) as instance:
    build_definitions(home, Panel()).resolve_job_def("evaluate").execute_in_process(instance=instance, **more)
"""
"""A run in a process of its own, as Dagster launches it."""


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Workspace]:
    home = Installation.at(str(tmp_path / "home"))
    prepare(home)
    with instance_of(home) as instance:
        yield Workspace(home, build_definitions(home, Panel()), instance)


def killed_at(at: Workspace, drop: str, drops: list[str], **tags: str) -> dg.DagsterRun:
    """A run of these drops whose process is killed when it has come to one of them."""
    known = {run.run_id for run in at.instance.get_runs()}
    tags = {"dagster/sensor_name": "new_drops", "dagster/max_retries": "0", **tags}
    more: dict[str, Any] = {"tags": tags}
    if len(drops) == 1:
        more["partition_key"] = drops[0]
    else:
        more["run_config"] = {"ops": {"evaluate_drop": {"config": {"drops": drops}}}}
    add_partitions(at.instance, DROPS, drops)
    with alone(at.home, drop, print):  # the run comes to the drop and waits for it
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, str(at.home.root), json.dumps(more)], stderr=subprocess.DEVNULL
        )

        def waits() -> dg.DagsterRun | None:
            new = [run for run in at.instance.get_runs() if run.run_id not in known]
            said = [log.user_message for run in new for log in at.instance.all_logs(run.run_id)]
            return new[0] if f"{drop}: waiting for another run of this drop" in said else None

        run = wait_for(waits, 300)
        process.kill()
        process.wait()
    assert fail_gone_runs(at.instance) == [run.run_id]
    return run


def outcome(at: Workspace, drop: str) -> bool | None:
    """What the check of a drop says."""
    key = dg.AssetCheckKey(REPORT, "evaluated")
    records = at.instance.event_log_storage.get_asset_check_execution_history(key, limit=100)
    events = [each.event.dagster_event for each in records if each.event is not None]
    said = [
        event.asset_check_evaluation_data
        for event in events
        if event and event.event_type_value == "ASSET_CHECK_EVALUATION"
    ]
    return next((each.passed for each in said if each.partition == drop), None)


def test_a_killed_run_of_many_drops_gives_back_what_it_had_not_finished(
    at: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lost_drops, "PAUSES", (0.0, 0.0))
    ticker = Ticker(at)
    for key in "abc":
        at.drop(key, record(key))
    assert ticker.settle() == ["a", "b", "c"]
    run = killed_at(at, "b", ["a", "b", "c"])
    assert at.instance.get_materialized_partitions(REPORT) == {"a"}
    assert drops_done(at.instance, run.run_id).current == "b"
    assert sorted(ticker.settle()) == ["b", "c"]
    assert ticker.settle() == [], "each is asked for once"


def test_the_drop_that_kills_its_run_gets_one_of_its_own(at: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lost_drops, "PAUSES", (0.0,))
    monkeypatch.setattr("evaluation_assets.defs.sensors.MAX_RUNS_PER_TICK", 2)
    monkeypatch.setattr("evaluation_assets.core.intake.triggers.batches.RUN_SECONDS", 1e6)
    keys = [f"d{number}" for number in range(6)]
    ticker = Ticker(at)
    for key in keys:
        at.drop(key, record(key))
    ticker.settle()
    assert at.run("d0").success, "one was measured"
    killed_at(at, "d2", keys)
    ticker.tick()
    assert sorted(tuple(drops_in(request)) for request in ticker.requests) == [("d2",), ("d3", "d4", "d5")]


def test_a_run_that_dagster_retries_goes_on_where_the_killed_one_was(at: Workspace) -> None:
    for key in "abc":
        at.drop(key, record(key))
    first = killed_at(at, "b", ["a", "b", "c"])
    job = at.definitions.resolve_job_def(EVALUATE)
    again = at.instance.create_run_for_job(
        job,
        run_config=first.run_config,
        tags={"dagster/retry_number": "1"},
        root_run_id=first.run_id,
        parent_run_id=first.run_id,
    )
    assert execute_run(InMemoryJob(job), again, at.instance).success
    logs = at.instance.all_logs(again.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION)
    assert {log.get_dagster_event().partition for log in logs} == {"b", "c"}
    assert at.instance.get_materialized_partitions(REPORT) == {"a", "b", "c"}


def test_a_drop_whose_runs_are_all_killed_is_given_up_where_people_see_it(
    at: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lost_drops, "PAUSES", (0.0,))
    at.drop("fine", record("fine"))
    assert at.run("fine").success
    ticker = Ticker(at)
    file = at.drop("bad one", record("bad"))
    assert ticker.settle() == ["bad one"]
    killed_at(at, "bad one", ["bad one"])
    assert ticker.settle() == ["bad one"]
    assert outcome(at, "bad one") is None
    killed_at(at, "bad one", ["bad one"])
    assert ticker.settle() == []
    assert outcome(at, "bad one") is False
    assert "1 drop given up, because each run was killed: bad one" in ticker.skipped
    shown = command("overview", home=Path(at.home.root.path))
    assert "evaluation-assets evaluate '" + str(file) + "' --home " + str(at.home.root) in shown.stdout
    assert at.run("bad one").success
    assert outcome(at, "bad one") is True
    assert ticker.settle() == [] and "given up" not in ticker.skipped
    assert "given up" not in command("overview", home=Path(at.home.root.path)).stdout

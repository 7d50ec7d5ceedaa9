"""Runs whose process was killed: they are failed, their slots are free again, and their drops are evaluated."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dagster as dg
import pytest

from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.triggers.lost_runs import MAX_SILENT_LOOKS
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.system.cancellation import raise_if_told
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.system.processes import Process
from evaluation_assets.definitions import build_definitions
from evaluation_assets.defs.lost_runs import fail_gone_runs, lost_runs_sensor
from evaluation_assets.defs.names import EVALUATE
from evaluation_assets.resources.heartbeat import Heartbeat, beating, heartbeat_of
from evaluation_assets.runs.jobs import instance_of
from evaluation_assets_tests.conftest import KEY, Workspace, record
from evaluation_assets_tests.model_judging import drop_of, judge
from evaluation_assets_tests.model_server import model_server
from evaluation_assets_tests.test_ui import Server, wait_for

pytestmark = pytest.mark.slow

STARTED, FAILURE = dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.FAILURE


def started_run(kept: Workspace, name: str = EVALUATE) -> str:
    """A run that Dagster takes for one at work."""
    job = kept.definitions.resolve_job_def(name)
    run = kept.instance.create_run_for_job(job, tags={"dagster/partition": "a"})
    kept.instance.handle_run_event(run.run_id, dg.DagsterEvent(event_type_value="PIPELINE_START", job_name=name))
    assert status(kept.instance, run.run_id) == STARTED
    return run.run_id


def status(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRunStatus:
    run = instance.get_run_by_id(run_id)
    assert run is not None
    return run.status


def beat(kept: Workspace, run_id: str, heart: Heartbeat) -> None:
    value = json.dumps({"process": heart.process.to_dict(), "beat": heart.beat})
    kept.instance.daemon_cursor_storage.set_cursor_values({f"evaluation_assets/heartbeat/{run_id}": value})


ELSEWHERE = Process(host="elsewhere", boot="b", namespace="n", pid=7, started="1")


def test_a_run_that_takes_longer_than_a_day_is_ended(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path / "home"))
    prepare(home)
    with instance_of(home) as instance:
        assert instance.run_monitoring_enabled
        assert instance.run_monitoring_max_runtime_seconds == 24 * 3600


class Looks:
    """Ticks of the sensor, keeping its cursor."""

    def __init__(self, kept: Workspace, jobs: Collection[str] | None = None) -> None:
        self._kept, self._jobs = kept, jobs
        self.cursor: str | None = None

    def look(self) -> None:
        with dg.build_sensor_context(instance=self._kept.instance, cursor=self.cursor) as context:
            lost_runs_sensor(self._jobs)(context)
            self.cursor = context.cursor


def test_a_run_that_stays_silent_is_failed_and_one_that_beats_is_not(kept: Workspace) -> None:
    silent, beats = started_run(kept), started_run(kept)
    looks = Looks(kept)
    for count in range(MAX_SILENT_LOOKS + 1):
        assert status(kept.instance, silent) == STARTED
        beat(kept, silent, Heartbeat(ELSEWHERE, 3))
        beat(kept, beats, Heartbeat(ELSEWHERE, count))
        looks.look()
    assert status(kept.instance, silent) == FAILURE
    assert status(kept.instance, beats) == STARTED
    assert json.loads(looks.cursor or "").keys() == {beats}


@pytest.mark.parametrize("cursor", ["garbage", "null", "[]", '{"a": 1}'])
def test_a_cursor_of_something_else_is_begun_anew(kept: Workspace, cursor: str) -> None:
    beats = started_run(kept)
    beat(kept, beats, Heartbeat(ELSEWHERE, 1))
    looks = Looks(kept)
    looks.cursor = cursor
    looks.look()
    assert json.loads(looks.cursor or "").keys() == {beats}


def test_runs_of_others_are_left_alone(kept: Workspace) -> None:
    foreign = started_run(kept)
    looks = Looks(kept)
    for _ in range(MAX_SILENT_LOOKS + 3):
        looks.look()
    assert status(kept.instance, foreign) == STARTED


def test_runs_of_the_project_that_the_assets_are_part_of_are_left_alone(kept: Workspace) -> None:
    """Its jobs were failed after three minutes for lack of heartbeats, and steps beside ours when ours had ended."""
    own, ours = started_run(kept, "__ASSET_JOB"), started_run(kept)
    ended = Process.current()
    for run in (own, ours):
        beat(kept, run, Heartbeat(Process(ended.host, ended.boot, ended.namespace, 2**22 + 1, "1"), 3))
    in_a_project = build_definitions(kept.home, Panel(), executor=None).resolve_sensor_def("lost_runs")
    with dg.build_sensor_context(instance=kept.instance) as context:
        in_a_project(context)
    assert (status(kept.instance, own), status(kept.instance, ours)) == (STARTED, FAILURE)


def test_a_run_beats_while_it_works(kept: Workspace) -> None:
    run = started_run(kept)
    assert heartbeat_of(kept.instance, run) is None
    with beating(kept.instance, run, seconds=0.01):
        first = heartbeat_of(kept.instance, run)
        assert first is not None
        assert first.process == Process.current()
        wait_for(lambda: (heartbeat_of(kept.instance, run) or first).beat > first.beat or None, 30)
        assert fail_gone_runs(kept.instance) == []


def test_a_run_whose_signal_to_stop_is_lost_stops_at_its_next_heartbeat(kept: Workspace) -> None:
    run_id = started_run(kept)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with (
            pytest.raises(dg.DagsterExecutionInterruptedError),
            dg.raise_execution_interrupts(),
            beating(kept.instance, run_id, seconds=0.01),
        ):
            run = kept.instance.get_run_by_id(run_id)
            assert run is not None
            kept.instance.report_run_canceling(run)
            wait_for(lambda: None, 30)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_thread_whose_run_was_ended_from_outside_stops_and_can_run_another(kept: Workspace) -> None:
    run_id = started_run(kept)
    run = kept.instance.get_run_by_id(run_id)
    assert run is not None
    kept.instance.report_run_canceling(run)

    def work() -> None:
        with pytest.raises(KeyboardInterrupt), beating(kept.instance, run_id, seconds=0.01):
            while True:
                raise_if_told()
        raise_if_told()

    with ThreadPoolExecutor(1) as workers:
        workers.submit(work).result(60)


def runs_of(home: Path, drop: str) -> list[dg.DagsterRun]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DAGSTER_HOME", str(home / "dagster"))
        instance = dg.DagsterInstance.get()
    with instance:
        return list(instance.get_runs(dg.RunsFilter(tags={"dagster/partition": drop})))


def evaluation(home: Path, drop: Path, *more: str | Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "evaluation_assets.cli", "evaluate", str(drop), "--home", str(home), "--quiet"]
    return subprocess.Popen([*command, *map(str, more)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_a_killed_evaluation_is_failed_when_the_next_one_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    (tmp_path / "killed.jsonl").write_bytes(drop_of(3))
    (tmp_path / "next.jsonl").write_bytes(record())
    with model_server(latency=300) as server:
        panel = tmp_path / "panel.yaml"
        panel.write_text(json.dumps({"judges": [judge(server)]}))
        first = evaluation(tmp_path / "home", tmp_path / "killed.jsonl", "--panel", panel)
        wait_for(lambda: server.requests(bodies=False) or None, 120)
        first.kill()
        first.wait()
    assert [run.status for run in runs_of(tmp_path / "home", "killed")] == [STARTED]
    with instance_of(Installation.at(str(tmp_path / "home"))):
        pass
    assert [run.status for run in runs_of(tmp_path / "home", "killed")] == [FAILURE]
    assert evaluation(tmp_path / "home", tmp_path / "next.jsonl").wait(300) == 0


def processes_of(home: Path) -> list[int]:
    """Everything that works on an installation: the UI, its daemon, code servers and runs."""
    wanted = f"EVALUATION_HOME={home}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc")
def test_after_a_power_cut_the_drop_is_evaluated_when_the_ui_starts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    home = tmp_path / "home"
    (home / "drops").mkdir(parents=True)
    with model_server(latency=300) as slow:
        port = slow.port
        (home / "panel.yaml").write_text(json.dumps({"judges": [judge(slow)]}))
        first = Server(home)
        wait_for(lambda: first.ask("{version}"), 120)
        (home / "drops" / "a.jsonl").write_bytes(drop_of(1))
        wait_for(lambda: slow.requests(bodies=False) or None, 180)
        for process in [first._process.pid, *processes_of(home)]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        first._process.wait()
    assert [run.status for run in runs_of(home, "a")] == [STARTED]
    with model_server(port=port) as quick:
        second = Server(home)
        try:
            reported = home / "reports" / "a" / "report.json"
            wait_for(lambda: reported.exists() or None, 300)
            wait_for(lambda: second.finished("a", 2), 120)
        finally:
            second.stop()
        assert quick.requests(bodies=False)
    assert sorted(run.status.value for run in runs_of(home, "a")) == ["FAILURE", "SUCCESS"]


def test_the_ui_ends_when_its_terminal_is_closed(tmp_path: Path) -> None:
    server = Server(tmp_path / "home")
    wait_for(lambda: server.ask("{version}"), 120)
    server._process.send_signal(signal.SIGHUP)
    server._process.wait(60)
    time.sleep(1)
    assert server.ask("{version}") is None
    assert processes_of(tmp_path / "home") == []

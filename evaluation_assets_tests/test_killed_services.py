"""Services of the UI that are killed while a run is in progress: the run goes on, and later drops are evaluated."""

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from evaluation_assets_tests.defs.test_lost_runs import processes_of, runs_of
from evaluation_assets_tests.model_judging import CLIPS, drop_of, judge
from evaluation_assets_tests.model_server import ModelServer, model_server
from evaluation_assets_tests.test_ui import Server, free_port, ui, wait_for

pytestmark = pytest.mark.slow

TRAJECTORIES = 8
QUESTIONS = TRAJECTORIES * (CLIPS + 3)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setenv("TEST_KEY", "any")
    with model_server(latency=0.5) as started:
        yield started


@pytest.fixture
def home(tmp_path: Path, slow: ModelServer) -> Path:
    home = tmp_path / "home"
    (home / "drops").mkdir(parents=True)
    (home / "panel.yaml").write_text(json.dumps({"judges": [judge(slow, max_concurrency=2)]}))
    return home


def started(home: Path, slow: ModelServer) -> Server:
    """The UI, at work on a drop."""
    server = Server(home)
    wait_for(lambda: server.ask("{version}"), 120)
    (home / "drops" / "first.jsonl").write_bytes(drop_of(TRAJECTORIES))
    wait_for(lambda: len(slow.requests(bodies=False)) > 4 or None, 180)
    return server


def kill(home: Path, word: str) -> None:
    (service,) = [pid for pid in processes_of(home) if word in psutil.Process(pid).cmdline()]
    os.kill(service, signal.SIGKILL)


def is_evaluated(home: Path, drop: str) -> bool | None:
    return [run.status.value for run in runs_of(home, drop)] == ["SUCCESS"] or None


def asked(slow: ModelServer) -> Counter[str]:
    return Counter(request.sha256 for request in slow.requests(bodies=False))


def test_when_the_process_with_the_code_is_killed_the_run_goes_on_and_later_drops_are_evaluated(
    home: Path, slow: ModelServer
) -> None:
    server = started(home, slow)
    try:
        kill(home, "grpc")
        wait_for(lambda: is_evaluated(home, "first"), 120)
        assert set(asked(slow).values()) == {1}
        (home / "drops" / "second.jsonl").write_bytes(drop_of(1, "second"))
        wait_for(lambda: is_evaluated(home, "second"), 180)
    finally:
        server.stop()


@pytest.mark.parametrize("service", ["dagster._daemon", "evaluation_assets.cli.dagster_webserver"])
def test_when_daemon_or_webserver_is_killed_the_ui_ends_after_the_run(
    home: Path, slow: ModelServer, service: str
) -> None:
    server = started(home, slow)
    kill(home, service)
    assert server._process.wait(180) == 1
    assert is_evaluated(home, "first")
    assert len(asked(slow)) == QUESTIONS
    assert set(asked(slow).values()) == {1}
    assert processes_of(home) == []


@pytest.mark.parametrize("moment", ["Drop files into", "Serving dagster-webserver"])
def test_the_services_end_when_the_ui_is_killed(moment: str, tmp_path: Path) -> None:
    home, said = tmp_path / "home", tmp_path / "stderr"
    started = ui(home, free_port(), said)
    try:
        wait_for(lambda: moment in said.read_text() or None, 120)
        wait_for(lambda: processes_of(home) or None, 60)
    finally:
        started.kill()
        started.wait(60)
    wait_for(lambda: None if processes_of(home) else True, 120)

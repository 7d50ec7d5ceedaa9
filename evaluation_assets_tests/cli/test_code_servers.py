"""Code servers are watched: real processes stand for those of Dagster."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from evaluation_assets.cli import code_servers
from evaluation_assets.cli.code_servers import keep_alive

_SLEEP = "import time; time.sleep(600)"
_WITH_A_RUN = (
    f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {_SLEEP!r}]); print(flush=True); {_SLEEP}"
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_servers, "_LOOK_EVERY_SECONDS", 0.02)
    monkeypatch.setattr(code_servers, "_LOST_LOOKS", 5)


@contextmanager
def dagster_dev() -> Iterator[tuple["subprocess.Popen[bytes]", psutil.Process]]:
    """A process in the place of `dagster dev`, and a run that it started."""
    dagster = subprocess.Popen([sys.executable, "-c", _WITH_A_RUN], start_new_session=True, stdout=subprocess.PIPE)
    assert dagster.stdout is not None
    dagster.stdout.readline()
    (run,) = psutil.Process(dagster.pid).children()
    try:
        yield dagster, run
    finally:
        run.kill()
        dagster.kill()
        dagster.wait(30)


def test_services_without_code_are_stopped_and_runs_go_on() -> None:
    said: list[str] = []
    with dagster_dev() as (dagster, run):
        keep_alive(dagster.pid, threading.Event(), said.append)
        assert dagster.wait(30) != 0
        assert run.is_running()
    assert said == ["the process with the code died and did not start again; start `ui` again"]


def test_services_that_ended_are_not_watched_while_their_runs_go_on() -> None:
    said: list[str] = []
    with dagster_dev() as (dagster, run):
        dagster.kill()
        keep_alive(dagster.pid, threading.Event(), said.append)
        assert run.is_running()
    assert said == []

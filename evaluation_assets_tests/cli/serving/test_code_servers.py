"""Code servers are watched: real processes stand for those of Dagster."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from evaluation_assets.cli.serving import code_servers
from evaluation_assets.cli.serving.code_servers import end_late, keep_alive

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


_STARTS_ONE_AGAIN = f"""
import subprocess, sys, time
try:
    print(subprocess.Popen([sys.executable, '-c', {_SLEEP!r}, 'code-server']).pid, flush=True)
    time.sleep(600)
except KeyboardInterrupt:
    time.sleep(1)
    print(subprocess.Popen([sys.executable, '-c', {_SLEEP!r}, 'code-server']).pid, flush=True)
"""


@pytest.mark.slow
def test_a_code_server_that_was_started_while_all_was_stopped_does_not_hold_the_log() -> None:
    dagster = subprocess.Popen(
        [sys.executable, "-c", _STARTS_ONE_AGAIN],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert dagster.stdout is not None
    with_a_run = psutil.Process(int(dagster.stdout.readline()))  # it waits for its run, and ends by itself
    stopping = threading.Event()
    try:
        watched = threading.Thread(target=end_late, args=(dagster.pid, stopping))
        watched.start()
        stopping.set()
        dagster.send_signal(signal.SIGINT)
        late = psutil.Process(int(dagster.stdout.readline()))
        watched.join(30)
        assert late.wait(30) is None or not late.is_running()
        assert with_a_run.is_running()
    finally:
        with_a_run.kill()
        dagster.kill()
        dagster.wait(30)
    assert dagster.stdout.read() == b""

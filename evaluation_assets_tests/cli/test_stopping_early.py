"""A signal to stop ends a command with one line and its own status, whenever it comes."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation_assets_tests.conftest import SAMPLE

pytestmark = pytest.mark.slow

AT_AN_EVENT = """
import os, sys
at, number, seen = int(sys.argv.pop(1)), int(sys.argv.pop(1)), 0

def count(event, arguments):
    global seen
    seen += 1
    if seen == at:
        os.kill(os.getpid(), number)

from evaluation_assets.cli.__main__ import run
sys.addaudithook(count)
try:
    run()
finally:
    if not at:
        print(seen)
"""
"""Sends itself a signal at the n-th event that Python audits: an import, an opened file, a connection."""


def started(at: int, number: signal.Signals, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", AT_AN_EVENT, str(at), str(int(number)), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=_default_signals)


def _default_signals() -> None:
    """Dagster lets SIGTERM do what SIGINT does, so it is ignored where the tests run as a background job of a shell."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def test_a_signal_at_any_moment_is_one_line_and_its_status(tmp_path: Path) -> None:
    arguments = ["evaluate", str(SAMPLE), "--quiet", "--home"]
    counted = started(0, signal.SIGINT, *arguments, str(tmp_path / "counted"))
    assert counted.returncode == 0, counted.stderr
    events = int(counted.stdout.splitlines()[-1])
    early = [1, 5, 25, 125, 625]
    moments = [*early, *(events * tenths // 10 for tenths in range(1, 9))]
    for count, at in enumerate(moments):
        number = signal.SIGTERM if count % 3 == 2 else signal.SIGINT
        done = started(at, number, *arguments, str(tmp_path / f"home{at}"))
        said = f"at event {at} of {events}: {done.stderr}"
        assert done.returncode == 128 + number, said
        (line,) = done.stderr.splitlines()
        assert re.match(rf"evaluation-assets: stopped by {number.name}\. ?", line), said


@pytest.mark.parametrize("arguments", [["formats"], ["overview"], ["plan", str(SAMPLE)]], ids=lambda given: given[0])
def test_every_command_ends_so(tmp_path: Path, arguments: list[str]) -> None:
    counted = started(0, signal.SIGINT, *arguments)
    events = int(counted.stdout.splitlines()[-1])
    for tenths in (1, 4, 7):
        done = started(events * tenths // 10, signal.SIGHUP, *arguments)
        assert (done.returncode, done.stderr) == (128 + signal.SIGHUP, "evaluation-assets: stopped by SIGHUP.\n")


def test_a_signal_that_the_parent_ignores_stays_ignored(tmp_path: Path) -> None:
    command = [sys.executable, "-c", AT_AN_EVENT, "125", str(int(signal.SIGHUP)), "formats"]
    done = subprocess.run(
        command,
        capture_output=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN) and None,
    )
    assert done.returncode == 0, "nohup"

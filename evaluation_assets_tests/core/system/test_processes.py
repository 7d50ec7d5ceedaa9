"""Whether a process still runs."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from evaluation_assets.core.system.processes import Process

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are told apart by /proc")

TELL = """
import json, sys
from evaluation_assets.core.system.processes import Process
print(json.dumps(Process.current().to_dict()), flush=True)
sys.stdin.read()
"""


def told(line: bytes) -> Process:
    import json

    return Process.from_dict(json.loads(line))


def test_a_process_runs_until_it_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", TELL], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        process = told(other.stdout.readline())
        assert process.pid == other.pid
        assert process.state() == "running"
        other.kill()
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
        assert process.state() == "gone"  # a zombie: nobody has asked for its exit status
    assert process.state() == "gone"


def test_another_process_with_its_number_is_not_it() -> None:
    me = Process.current()
    assert me.state() == "running"
    assert replace(me, started=str(int(me.started) - 1)).state() == "gone"


def test_processes_of_an_earlier_start_of_this_machine_are_gone() -> None:
    before = replace(Process.current(), boot="another")
    assert before.state() == "gone"
    assert before.state(one_machine=False) == "unknown", "another machine may have the same name"


def test_other_machines_are_not_judged() -> None:
    assert replace(Process.current(), host="elsewhere", boot="another", pid=1).state() == "unknown"


@pytest.mark.skipif(shutil.which("unshare") is None or os.geteuid() != 0, reason="needs unshare and root")
@pytest.mark.parametrize("namespace", [["--pid", "--mount-proc"], ["--time", "--boottime", "300"]], ids=["pid", "time"])
def test_a_process_of_another_namespace_is_not_judged(namespace: list[str]) -> None:
    """In a time namespace of its own, a process has another start time than seen from outside."""
    command = ["unshare", *namespace, "--fork", sys.executable, "-c", TELL]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        line = other.stdout.readline()
        if not line:
            pytest.skip("such namespaces are not allowed here")
        assert told(line).state() == "unknown"
        assert other.stdin is not None
        other.stdin.close()

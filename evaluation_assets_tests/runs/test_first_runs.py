"""The first commands of an installation may come at the same time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPT = """
import sys, warnings
warnings.simplefilter("ignore")
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.runs.jobs import instance_of

print("ready", flush=True)
for place in sys.stdin.read().split():
    home = Installation.at(place)
    prepare(home)
    with instance_of(home) as instance:
        assert instance.get_runs() == []
"""


def test_processes_may_open_a_fresh_home_at_once(tmp_path: Path) -> None:
    homes = " ".join(str(tmp_path / f"home{number}") for number in range(8))
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ,
        )
        for _ in range(3)
    ]
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(homes)
        process.stdin.close()
    for process in processes:
        assert process.stderr is not None
        complaint = process.stderr.read()
        assert process.wait(120) == 0, complaint

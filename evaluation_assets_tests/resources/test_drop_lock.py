"""Runs of the same drop on several machines, each with folders of its own, and one ledger in PostgreSQL."""

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUN = """
import sys
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.resources.drop_lock import alone
with alone(Installation.at(*sys.argv[2:]), sys.argv[1], lambda said: print(said, flush=True)):
    print("begun", flush=True)
    sys.stdin.read()
"""


def machine(folder: Path, drop: str, ledger: str, home: Sequence[str]) -> subprocess.Popen[str]:
    """A run on a machine whose files are in a folder of its own. `home` is the installation and its lake."""
    folder.mkdir()
    return subprocess.Popen(
        [sys.executable, "-c", RUN, drop, *home],
        cwd=folder,
        env=os.environ | {"EVALUATION_LEDGER_URL": ledger, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def said(run: subprocess.Popen[str]) -> str:
    assert run.stdout is not None
    return run.stdout.readline().strip()


@pytest.mark.slow
@pytest.mark.parametrize("home", [["memory://shared"], ["own", "memory://lake"]], ids=["one home", "one lake"])
def test_a_run_waits_for_one_on_another_machine_until_that_is_killed(
    tmp_path: Path, postgres_url: str, home: list[str]
) -> None:
    start = partial(machine, ledger=postgres_url, home=home)
    with start(tmp_path / "one", "a") as first, start(tmp_path / "other", "b") as another_drop:
        assert said(first) == said(another_drop) == "begun"
        with start(tmp_path / "two", "a") as second:
            assert said(second) == "a: waiting for another run of this drop"
            first.kill()
            assert said(second) == "begun"

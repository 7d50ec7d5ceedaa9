"""What killed processes leave behind is removed, and nothing of those at work."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from upath import UPath

from evaluation_assets.core.lake.staging import remove_unfinished
from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.resources.heartbeat import beating_runs
from evaluation_assets.resources.leftovers import remove_leftovers
from evaluation_assets.runs.jobs import instance_of
from evaluation_assets_tests.api.test_evaluating import panel_of
from evaluation_assets_tests.conftest import SAMPLE, command, stored_instance
from evaluation_assets_tests.model_judging import drop_of
from evaluation_assets_tests.model_server import ModelServer, model_server
from evaluation_assets_tests.test_ui import wait_for

pytestmark = pytest.mark.slow

WRITER = """
import sys
import pytest
from upath import UPath
from evaluation_assets.core.lake.stored import published

with published(UPath(sys.argv[1])) as sink:
    sink.write(b"half")
    sink.flush()
    print("writing", flush=True)
    sys.stdin.read()
"""


@contextmanager
def writer(file: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has written half a file."""
    started = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert started.stdout is not None and started.stdout.readline() == "writing\n"
        yield started
    finally:
        started.kill()
        started.communicate()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


def test_the_file_of_a_killed_writer_is_removed_and_that_of_a_writer_at_work_is_not(tmp_path: Path) -> None:
    publish_bytes(UPath(tmp_path / "table.parquet"), b"before")
    (tmp_path / ".hidden.source.json").touch()
    with writer(tmp_path / "table.parquet") as at_work:
        assert len(names(tmp_path)) == 3
        assert remove_unfinished(tmp_path) == 0
        at_work.communicate("")
        assert at_work.returncode == 0
    assert (tmp_path / "table.parquet").read_bytes() == b"half", "it could finish"
    with writer(tmp_path / "table.parquet"):
        pass
    assert len(names(tmp_path)) == 3
    assert remove_unfinished(tmp_path) == 1
    assert names(tmp_path) == [".hidden.source.json", "table.parquet"]


def test_the_next_command_removes_what_a_killed_run_left(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Installation.at(str(tmp_path / "home"))
    assert command("evaluate", SAMPLE, "--quiet", home=tmp_path / "home").returncode == 0
    with instance_of(home) as instance:
        remove_leftovers(instance, home)
        assert beating_runs(instance) == []
    (tmp_path / "d.jsonl").write_bytes(drop_of(2))
    killed = killed_while_judging(tmp_path, monkeypatch)
    with writer(tmp_path / "home" / "lake" / "clips" / "d.parquet"):
        pass
    (tmp_path / "home" / "lake" / ".parts" / "digest" / killed / "1").mkdir(parents=True)
    assert command("evaluate", SAMPLE, "--as", "again", "--quiet", home=tmp_path / "home").returncode == 0
    left = [path for path in (tmp_path / "home").rglob(".*") if not path.name.endswith(".source.json")]
    assert left == [tmp_path / "home" / "lake" / ".parts"] and list(left[0].iterdir()) == []
    with instance_of(home) as instance:
        assert killed not in beating_runs(instance)


def killed_while_judging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The ID of a run whose process was killed while it waited for a model."""
    script = (
        "import json, sys, evaluation_assets as ea; ea.evaluate('d.jsonl', home='home', panel=json.loads(sys.argv[1]))"
    )
    with model_server(latency=60.0) as slow:
        panel = str(panel_of(slow)).replace("'", '"')
        process = subprocess.Popen([sys.executable, "-c", script, panel], cwd=tmp_path, env=os.environ)
        wait_for(lambda: slow.requests() or process.poll() is not None or None, 120)
        process.kill()
        process.wait()
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home" / "dagster"))
    with stored_instance(tmp_path / "home" / "dagster") as instance:  # `instance_of` would remove what is left
        (killed,) = beating_runs(instance)
    return killed

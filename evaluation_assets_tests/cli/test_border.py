"""A home that cannot be written: one line that says what to do."""

import errno
import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import click
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from evaluation_assets.cli.border import Commands, storage_problem
from evaluation_assets.core.lake.stored import named_disk
from evaluation_assets.core.models.errors import LedgerError
from evaluation_assets.core.suites.suite import InvalidSuite
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets_tests.conftest import SAMPLE, call, command, record
from evaluation_assets_tests.small_disks import enlarge, small_disk


@click.command()
@click.argument("kind")
def refused(kind: str) -> None:
    """A command that meets what a user has to mend."""
    raise {"suite": InvalidSuite, "drop": UnreadableDrop, "ledger": LedgerError}[kind]("s.yaml, line 3: no case")


@pytest.mark.parametrize("kind", ["suite", "drop", "ledger"])
def test_what_users_can_mend_takes_one_line_in_every_command(kind: str) -> None:
    commands = Commands({"Some": {"refused": (f"{__name__}:refused", "")}})
    done = CliRunner().invoke(commands, ["refused", kind])
    assert (done.exit_code, done.output) == (2, "evaluation-assets: s.yaml, line 3: no case\n")


def evaluated_on(mount: str, place: Path) -> subprocess.CompletedProcess[str]:
    """Evaluate with a home on a small file system of its own."""
    place.mkdir()
    prepared = f"mount -t tmpfs -o size=400k none {place} && {mount}"
    if subprocess.run(["unshare", "-m", "sh", "-c", prepared], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a file system")
    command = f"{prepared} && exec {sys.executable} -m evaluation_assets.cli evaluate {SAMPLE} --home {place}/home"
    return subprocess.run(
        ["unshare", "-m", "sh", "-c", command], capture_output=True, text=True, check=False, env=os.environ, timeout=300
    )


@pytest.mark.parametrize(
    ("mount", "said"),
    [("mount -o remount,ro {place}", "is not writable. Choose another --home"), ("true", "Free some space")],
)
def test_a_home_that_cannot_be_written_takes_one_line(tmp_path: Path, mount: str, said: str) -> None:
    place = tmp_path / "mounted"
    done = evaluated_on(mount.format(place=place), place)
    assert done.returncode == 2, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if " s; " not in line]
    assert line.startswith("evaluation-assets: ") and said in line


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "size"), [("lake", "600k"), ("reports", "100k")])
def test_a_disk_that_gets_full_is_named_and_no_half_of_a_table_is_left(tmp_path: Path, folder: str, size: str) -> None:
    """In the lake it is full while the drop is read, at the reports when everything has been judged."""
    numbers = random.Random(1)
    drop, home = tmp_path / "d.jsonl", Installation.at(str(tmp_path / "home"))
    texts = (call(f"q{number}", " ".join(str(numbers.random()) for _ in range(1000))) for number in range(60))
    drop.write_bytes(b"".join(record(f"t{number}", f"{text}<answer>4</answer>") for number, text in enumerate(texts)))
    place = tmp_path / "home" / folder
    with small_disk(place, size):
        full = command("evaluate", drop, "--quiet", home=tmp_path / "home")
        assert full.returncode == 2, full.stderr
        (line,) = full.stderr.splitlines()
        assert line.startswith(f"d: {place}/") and line.endswith("the disk is full. Free some space and try again.")
        written = [path for path in (tmp_path / "home" / "lake").rglob("*") if path.is_file()]
        assert [path for path in written if path.suffix != ".parquet"] == []
        assert all(pq.read_table(path).num_columns for path in written), "tables are whole"
        assert home.table("d", "clips").exists == (folder == "reports")
        enlarge(place, "100m")
        assert command("evaluate", drop, "--quiet", home=tmp_path / "home").returncode == 0
        assert home.table("d", "preprocessed_trajectories").count == 60
        assert (tmp_path / "home" / "reports" / "d" / "report.json").exists()


def test_a_file_on_a_disk_that_is_read_only_is_named_with_one_remedy(tmp_path: Path) -> None:
    drop, disk = tmp_path / "d.jsonl", tmp_path / "home" / "drops"
    drop.write_bytes(record("t", f"{call('q', 'r')}<answer>4</answer>"))
    with small_disk(disk, "1m"):
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        done = command("evaluate", drop, "--quiet", home=tmp_path / "home")
    assert done.returncode == 2
    said = f"evaluation-assets: {disk}/d.jsonl: it is read-only. Make it writable, or choose another --home.\n"
    assert done.stderr == said


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/h/x"), "/h/x: No space left on device. Free some space"),
        (OSError(errno.EROFS, "Read-only file system"), "Read-only file system. Make it writable"),
        (OSError(errno.EACCES, "Permission denied", "/h/x"), "/h/x: Permission denied. Change its permissions, or"),
        (OSError(errno.ENAMETOOLONG, "File name too long", "/h/x"), "/h/x: File name too long. Choose another path."),
        (OSError(errno.ENOTDIR, "Not a directory", "/h/x"), "/h/x: Not a directory. Choose another path."),
        (sqlite3.OperationalError("database or disk is full"), "Free some space"),
        (sqlite3.DatabaseError("database disk image is malformed"), "Restore the file from a backup"),
        (OSError(errno.ENOENT, "No such file"), None),
        (ValueError("something else"), None),
    ],
)
def test_only_storage_errors_are_translated_also_behind_others(problem: Exception, said: str | None) -> None:
    try:
        try:
            raise problem
        except Exception as first:
            raise RuntimeError("in a step") from first
    except RuntimeError as outer:
        found = storage_problem(outer)
    assert (said is None and found is None) or (found is not None and said is not None and said in found)


@pytest.mark.parametrize("place", ["file/reports", "pipe", "loop", "x" * 300, "/proc/reports"])
def test_an_output_that_cannot_be_written_takes_one_line(tmp_path: Path, place: str) -> None:
    """Of `evaluate`, before anything is judged."""
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    drop, home = tmp_path / "d.jsonl", tmp_path / "home"
    drop.write_bytes(record("t", f"{call('q', 'r')}<answer>4</answer>"))
    refused = command("evaluate", drop, "--quiet", "--output", tmp_path / place, home=home)
    assert refused.returncode == 2, refused.stderr
    (said,) = refused.stderr.splitlines()
    assert "Choose another path" in said or "is a file" in said
    assert not (home / "lake" / "clips").exists()


@pytest.mark.parametrize("place", ["file/drop.jsonl", "x" * 300])
def test_an_export_that_cannot_be_written_takes_one_line(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    drop, home = tmp_path / "d.jsonl", tmp_path / "home"
    drop.write_bytes(record("t", f"{call('q', 'r')}<answer>4</answer>"))
    assert command("evaluate", drop, "--quiet", home=home).returncode == 0
    refused = command("export", "d", "--format", "atif", "--output", tmp_path / place, home=home)
    assert refused.returncode == 2, refused.stderr
    (said,) = refused.stderr.splitlines()
    assert said.endswith("Choose another path.")


def test_a_file_that_cannot_be_written_is_named_without_its_temporary_name(tmp_path: Path) -> None:
    def denied(name: Path) -> None:
        with pytest.raises(OSError, match=r"x\.csv") as raised, named_disk(str(tmp_path / "x.csv")):
            raise PermissionError(errno.EACCES, "Permission denied", str(name))
        problems.append(raised.value)

    problems: list[OSError] = []
    denied(tmp_path / ("." + "x.csv." + "0" * 32))
    denied(tmp_path / "x.csv")
    said = f"{tmp_path}/x.csv: permission denied. Change its permissions and try again."
    assert [str(problem) for problem in problems] == [said, said]
    with pytest.raises(PermissionError), named_disk(str(tmp_path / "x.csv")):
        raise PermissionError(errno.EACCES, "Permission denied", "/another/table")


@pytest.mark.parametrize("words", [["evaluate", ""], ["plan", ""], ["inject", ""], ["check", ""]])
def test_an_empty_path_is_refused_and_is_not_the_working_folder(tmp_path: Path, words: list[str]) -> None:
    """A script that names a variable without a value would evaluate all that lies here."""
    refused = command(*words, home=tmp_path / "home")
    assert refused.returncode == 2
    assert "is empty" in refused.stderr.splitlines()[-1]

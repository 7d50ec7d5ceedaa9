"""A process that is killed while it creates a new home leaves one that the next process can use."""

import subprocess
import sys
from pathlib import Path

import pytest

from evaluation_assets.core.system.installation import Installation
from evaluation_assets.runs.jobs import instance_of
from evaluation_assets_tests.small_disks import enlarge, small_disk

pytestmark = pytest.mark.slow

SCRIPT = """
import sys, warnings
warnings.simplefilter("ignore")
from contextlib import closing
from pathlib import Path
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.models.ledger import Ledger
from evaluation_assets.core.intake.sources.received import Spool
from evaluation_assets.defs.partitions import DROPS, add_partitions
from evaluation_assets.runs.jobs import instance_of

def start(place):
    home = Installation.at(place)
    prepare(home)
    with closing(Ledger(home.ledger_url)) as ledger:
        ledger.secret()
    Spool(home.received, 1 << 20).close()
    with instance_of(home) as instance:
        add_partitions(instance, DROPS, ["a drop"])
        assert instance.get_dynamic_partitions(DROPS.name) == ["a drop"]
        assert instance.get_runs() == []
        assert instance.get_ticks("any", "any") == []
        storage = instance.event_log_storage
        assert storage.has_secondary_index("asset_key_index_columns"), "its indexes are built"
"""

KILLING = """
import os, signal, traceback

def files(place):
    return sorted((str(path), path.stat().st_size) for path in Path(place).rglob("*") if "-shm" not in path.name)

def seen(place):
    while True:
        try:
            return files(place)
        except FileNotFoundError:
            pass

def child(place):
    pid = os.fork()
    if pid == 0:
        try:
            start(place)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return pid

root, kills, after = Path(sys.argv[1]), 0, 0
while True:  # a new home each time, killed later than the one before: by one change of its files, then by a fifth
    after += 1 + after // 5
    place = str(root / f"home{after}")
    pid = child(place)
    before, changes = [], 0
    while changes < after:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            break
        now = seen(place)
        changes += now != before
        before = now
    else:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        kills += 1
        assert os.waitpid(child(place), 0)[1] == 0, f"after a kill at change {after}: {before}"
        assert not Path(place, "dagster", ".new").exists()
        continue
    assert status == 0
    break
print(kills)
"""


def test_a_home_that_is_killed_while_it_is_created_works_the_next_time(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + KILLING, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 1, "it was killed: ten times or more, on a machine with nothing else to do"


@pytest.mark.parametrize("file", ["history/runs.db", "history/runs/index.db", "schedules/schedules.db"])
def test_a_file_that_an_earlier_version_left_half_made_is_created_again(tmp_path: Path, file: str) -> None:
    """Dagster's own way to create a file makes it in place; a kill left it empty, and broken for good."""
    (tmp_path / "dagster" / file).parent.mkdir(parents=True)
    (tmp_path / "dagster" / file).touch()
    start = [sys.executable, "-c", f"{SCRIPT}\nstart(sys.argv[1])", str(tmp_path)]
    done = subprocess.run(start, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_home_on_a_disk_that_is_full_works_once_there_is_space(tmp_path: Path) -> None:
    home = Installation.at(str(tmp_path / "home"))
    with small_disk(home.dagster, "200k"):
        with pytest.raises(Exception, match="full"), instance_of(home):
            pass
        assert not list(home.dagster.rglob("*.db")), "nothing is half made"
        enlarge(home.dagster, "100m")
        with instance_of(home) as instance:
            assert instance.get_dynamic_partitions("drops") == []

"""Many trajectories in a few big drops, evaluated by `evaluation-assets ui` while processes are killed.

    python -m benchmarks.big_drops [--trajectories 1000000] [--drops 16] [--kills 3] [--compared 1] [--seed N]

The drops lie in the drops folder of a new installation when `ui` starts. At random moments the process of a run, or
`ui` with all its processes, is killed with SIGKILL; `ui` is then started again. Printed are seconds until all drops
have a report and all runs have ended, kills, runs by status, and the peak memory of a process.

Then it is checked, and the exit status is 1 if not, that each table has the same number of rows in all drops, whose
records differ in their names only, and that the tables of so many drops, those first that were at work at a kill, are
those that `evaluate` makes of the same file in an installation of its own, but for the time of the evaluation.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg
import orjson
import pyarrow.parquet as pq

from benchmarks.scale import READABLE, SAMPLE, free_port
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.defs.evaluation_runs import drops_of
from evaluation_assets.resources.heartbeat import heartbeat_of
from evaluation_assets.runs.jobs import instance_of

TIME = "evaluated_at"
"""The column that says when a drop was evaluated."""

DRAWN = "review_queue"
"""The table that has a sample, which is drawn by the names of records."""

_POLL_SECONDS = 1.0
_AFTER_A_DROP = 60.0
"""A kill comes within so many seconds after a random number of drops have their report."""


@dataclass(slots=True)
class Watched:
    """What was seen of the processes."""

    kills: Counter[str] = field(default_factory=Counter)
    at_work: list[str] = field(default_factory=list)
    peak: int = 0


class Evaluating:
    """`evaluation-assets ui` and the runs that its daemon starts."""

    def __init__(self, root: Path, instance: dg.DagsterInstance) -> None:
        self._root = root
        self._instance = instance
        self.start()

    def start(self) -> None:
        """Start it, as a service does that has ended."""
        command = [sys.executable, "-m", "evaluation_assets.cli", "ui", "--home", str(self._root)]
        self._ui = subprocess.Popen(
            [*command, "--port", str(free_port())],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def stop(self) -> None:
        """End it as Ctrl-C does."""
        self._ui.send_signal(signal.SIGINT)
        self._ui.wait()

    def kill(self, kind: str, chance: random.Random) -> list[str]:
        """Kill the process of a run, or all processes; the drops that were at work."""
        runs = self.at_work()
        if kind == "run":
            run, pid = chance.choice(runs)
            os.kill(pid, signal.SIGKILL)
            return drops_of(run)
        for pid in [*descendants(self._ui.pid), self._ui.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._ui.wait()
        self.start()
        return [drop for run, _ in runs for drop in drops_of(run)]

    def at_work(self) -> list[tuple[dg.DagsterRun, int]]:
        """The runs that are under way, with their processes."""
        started = self._instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED]))
        hearts = [(run, heartbeat_of(self._instance, run.run_id)) for run in started]
        return [
            (run, heart.process.pid)
            for run, heart in hearts
            if heart is not None and Path(f"/proc/{heart.process.pid}").exists()
        ]

    def peak(self) -> int:
        """The most memory that one of its processes has held so far, in MiB."""
        return max(map(_peak, descendants(self._ui.pid)), default=0)


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
    found, left = list[int](), [pid]
    while left:
        left += (children := parents.get(left.pop(), []))
        found += children
    return found


def _peak(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) // 1024
    return 0


def write_drops(folder: Path, count: int, trajectories: int) -> list[str]:
    """Write drops whose records are those of the sample over and over, each under another name."""
    records = [orjson.loads(line) for line in SAMPLE.read_bytes().splitlines()[:READABLE]]
    drops = [f"big{number:03}" for number in range(count)]
    for drop in drops:
        with (folder / f"{drop}.jsonl").open("wb") as file:
            for number in range(trajectories):
                record = records[number % len(records)] | {"task_id": f"{drop} task {number}"}
                file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
    return drops


def evaluate_all(root: Path, drops: Sequence[str], kills: int, chance: random.Random) -> Watched:
    """Evaluate all drops with `ui`, and kill processes meanwhile."""
    watched = Watched()
    moments = sorted((chance.uniform(0, len(drops) - 1), chance.uniform(0, _AFTER_A_DROP)) for _ in range(kills))
    with instance_of(Installation.at(str(root))) as instance:
        evaluating = Evaluating(root, instance)

        def wait(until: Callable[[], bool]) -> None:
            while not until():
                time.sleep(_POLL_SECONDS)
                watched.peak = max(watched.peak, evaluating.peak())

        def reported() -> int:
            return sum((root / "reports" / drop / "report.json").exists() for drop in drops)

        try:
            for after, seconds in moments:
                wait(lambda after=after: reported() >= int(after))
                until = time.monotonic() + seconds
                wait(lambda until=until: time.monotonic() >= until)
                wait(lambda: bool(evaluating.at_work()))
                kind = chance.choice(("run", "ui"))
                lost = evaluating.kill(kind, chance)
                watched.kills[kind] += 1
                watched.at_work += lost
                print(
                    f"  {time.strftime('%H:%M:%S')} {reported()} drops done: killed {kind}, at work {lost}", flush=True
                )
            wait(lambda: reported() == len(drops))
            wait(lambda: all(run.is_finished for run in instance.get_runs()))
            print(f"  runs: {dict(Counter(run.status.value for run in instance.get_runs()))}")
        finally:
            evaluating.stop()
    return watched


def differences(one: Path, other: Path, drop: str) -> Iterator[str]:
    """Where the tables of a drop in two lakes are not the same."""
    tables = {path.relative_to(lake).parent for lake in (one, other) for path in lake.rglob(f"{drop}.parquet")}
    for table in sorted(tables):
        paths = [lake / table / f"{drop}.parquet" for lake in (one, other)]
        if not all(path.exists() for path in paths):
            yield f"{table}: only one has it"
            continue
        files = [pq.ParquetFile(path) for path in paths]
        if len({file.metadata.num_rows for file in files}) > 1:
            yield f"{table}: {[file.metadata.num_rows for file in files]} rows"
            continue
        for name in files[0].schema_arrow.names:
            first, second = (file.read([name]).column(0).combine_chunks() for file in files)
            if name != TIME and not first.equals(second):
                yield f"{table}.{name}"


def rows_of(lake: Path, drop: str) -> dict[str, int]:
    """The number of rows of each table of a drop, but for the one with a sample."""
    tables = {str(path.parent.relative_to(lake)): path for path in sorted(lake.rglob(f"{drop}.parquet"))}
    return {table: pq.read_metadata(path).num_rows for table, path in tables.items() if table != DRAWN}


def evaluated_alone(file: Path, folder: Path) -> Path:
    """The lake of an installation in which `evaluate` made the tables of a file."""
    root = folder / f"{file.stem} alone"
    command = [sys.executable, "-m", "evaluation_assets.cli", "evaluate", str(file), "--home", str(root), "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return root / "lake"


def main() -> None:
    """Evaluate, kill, and compare."""
    arguments = argparse.ArgumentParser(description="Evaluate big drops while processes are killed.")
    arguments.add_argument("--trajectories", type=int, default=1_000_000, help="in all drops together")
    arguments.add_argument("--drops", type=int, default=16)
    arguments.add_argument("--kills", type=int, default=3)
    arguments.add_argument("--compared", type=int, default=1, help="drops that are evaluated alone, too")
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root = folder / "home"
        prepare(Installation.at(str(root)))
        drops = write_drops(root / "drops", given.drops, given.trajectories // given.drops)
        started = time.monotonic()
        watched = evaluate_all(root, drops, given.kills, random.Random(given.seed))
        seconds = time.monotonic() - started
        print(
            f"{given.trajectories:,} trajectories in {given.drops} drops: {seconds:,.0f} s,"
            f" kills {dict(watched.kills)}, peak {watched.peak} MiB"
        )
        lake = root / "lake"
        rows = {drop: rows_of(lake, drop) for drop in drops}
        first = rows[drops[0]]
        wrong = [f"{drop}: rows {dict(set(rows[drop].items()) - set(first.items()))}" for drop in drops]
        wrong = [each for drop, each in zip(drops, wrong, strict=True) if rows[drop] != first]
        print(f"  rows of each drop: { {table: count for table, count in first.items() if count} }")
        order = list(dict.fromkeys([*watched.at_work, *drops]))
        for drop in order[: given.compared]:
            alone = evaluated_alone(root / "drops" / f"{drop}.jsonl", folder)
            wrong += [f"{drop}: {each}" for each in differences(lake, alone, drop)]
            shutil.rmtree(alone.parent)
            print(f"  {drop} compared with itself evaluated alone")
    print("\n".join(f"WRONG: {each}" for each in wrong) or "  nothing differs")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

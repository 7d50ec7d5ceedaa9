"""What many small drops cost, and one big one.

    python -m benchmarks.scale [DROPS ...]
    python -m benchmarks.scale --known 10000
    python -m benchmarks.scale --dropped 3000
    python -m benchmarks.scale --trajectories 10000 [--helpers 1] [--clips-per-part 50000]

The first evaluates drops of one record, a hundred a run as a backfill does.

For each number of drops, in an installation of its own: wall and CPU seconds a drop, peak memory, events, and bytes of
Dagster's storage, of the lake and of the reports a drop; then the seconds of a tick of the sensor that knows all drops,
of the question which are stale, and of one query over a table of all drops. Compare figures of the same call only.

The second evaluates one drop, copies its table of scores for each of the others, and prints what so many drops cost
where nothing is to be done: the median seconds of three of a tick, of the search for one drop by its name, and of two
queries over the table.

The third puts so many files into the drops folder at once, where the sensor and the daemon of `evaluation-assets ui`
find them: seconds until all have a report, runs, the longest tick of the sensor, bytes a drop, and how long one more
file takes that comes when a tenth is done.

The fourth evaluates one drop of so many trajectories with the embedded judge: wall seconds, peak memory of the run, and
bytes of lake and reports a trajectory. Helpers are processes that take over parts, as runs on other workers do.
"""

import argparse
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import dagster as dg
import orjson
import pyarrow.dataset as ds

from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.drops import find, scan
from evaluation_assets.core.intake.triggers.new_drops import Seen
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.pipeline.parts import announced
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions, current_key
from evaluation_assets.defs.drop_step import DROPS_PER_RUN
from evaluation_assets.defs.freshness import stale
from evaluation_assets.defs.names import EVALUATE, JUDGE_PART, PART
from evaluation_assets.defs.partitions import DROPS, add_partitions
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets.resources.seen_drops import SeenDrops
from evaluation_assets.runs.jobs import instance_of
from evaluation_assets.runs.progress import RunProgress

SAMPLE = Path(__file__).parents[1] / "examples" / "drops" / "assistants.jsonl"
READABLE = 8
"""Records of the sample before the first that cannot be read."""

RANGE = ("dagster/asset_partition_range_start", "dagster/asset_partition_range_end")


def measure(count: int, folder: Path) -> None:
    """Evaluate drops of one record each, and print what it cost."""
    home, root = _installation(folder)
    record = SAMPLE.read_bytes().splitlines(keepends=True)[0]
    drops = [f"d{number:06}" for number in range(count)]
    for drop in drops:
        (root / "drops" / f"{drop}.jsonl").write_bytes(record)
    definitions = _definitions(home)
    job = definitions.resolve_job_def(EVALUATE)
    with instance_of(home) as instance:
        add_partitions(instance, DROPS, drops)
        started, cpu = time.monotonic(), time.process_time()
        events = 0
        for first in range(0, count, DROPS_PER_RUN):
            some = drops[first : first + DROPS_PER_RUN]
            result = job.execute_in_process(
                instance=instance,
                tags=dict(zip(RANGE, (some[0], some[-1]), strict=True)),
                run_config={"loggers": {"console": {}}},
            )
            events += len(instance.all_logs(result.run_id))
        wall, cpu = time.monotonic() - started, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{count:,} drops: {wall / count:.3f} s wall and {cpu / count:.3f} s CPU a drop, peak {peak:.0f} MiB")
        print(f"  {events / count:.0f} events a drop; kB a drop: {_stored(root, count)}")
        _tick(definitions, instance, root)  # the first look remembers every drop
        print(f"  tick of the sensor: {_seconds(lambda: _tick(definitions, instance, root)):.2f} s")
        found, key = scan(home.drops).drops.values(), current_key(home, Panel())
        print(f"  which are stale: {_seconds(lambda: list(stale(instance, home, found, key))):.2f} s")
    scores = ds.dataset(str(root / "lake" / "trajectory_scores"), format="parquet")
    print(f"  count the rows of one table: {_seconds(scores.count_rows):.2f} s")


def measure_known(count: int, folder: Path) -> None:
    """Evaluate one drop, copy it and its table of scores, and print what a look at all of them takes."""
    home, root = _installation(folder)
    shutil.copy(SAMPLE, root / "drops" / "d000000.jsonl")
    definitions = _definitions(home)
    with instance_of(home) as instance:
        add_partitions(instance, DROPS, ["d000000"])
        definitions.resolve_job_def(EVALUATE).execute_in_process(
            instance=instance, partition_key="d000000", run_config={"loggers": {"console": {}}}
        )
        table = Path(str(home.table("d000000", "trajectory_scores").path))
        for number in range(1, count):
            (root / "drops" / f"d{number:06}.jsonl").write_bytes(b"{}\n")
            shutil.copy(table, table.with_name(f"d{number:06}.parquet"))
        looks = {key: drop.stamp() for key, drop in scan(home.drops).drops.items()}
        SeenDrops(instance).write({key: Seen(stamp, stamp, "content", 1) for key, stamp in looks.items()})

        def tick() -> None:
            if _tick(definitions, instance, root).run_requests:
                raise RuntimeError("a known drop was asked for again")

        scores = ds.dataset(str(table.parent), format="parquet")
        print(f"{count:,} drops")
        for what, work in {
            "tick of the sensor": tick,
            "one drop by its name": lambda: find(home.drops, "d000042"),
            "rows of one table": scores.count_rows,
            "means by criterion": lambda: (
                scores.to_table(columns=["criterion", "mean"]).group_by("criterion").aggregate([("mean", "mean")])
            ),
        }.items():
            print(f"  {what:20}  {median(_seconds(work) for _ in range(3)):.3f} s")


def _installation(folder: Path) -> tuple[Installation, Path]:
    home = Installation.at(str(folder / "home"))
    prepare(home)
    return home, folder / "home"


def _definitions(home: Installation) -> dg.Definitions:
    return build_definitions(home, Panel(), RunProgress(quiet=True).loggers())


def _tick(definitions: dg.Definitions, instance: dg.DagsterInstance, root: Path) -> Any:
    with dg.build_sensor_context(instance, resources={"home": HomeResource(url=str(root))}) as context:
        return definitions.resolve_sensor_def("new_drops").evaluate_tick(context)


def measure_dropped(count: int, folder: Path) -> None:
    """Drop so many files at once beside a running daemon, and print what it took."""
    home, root = _installation(folder)
    record = SAMPLE.read_bytes().splitlines(keepends=True)[0]
    command = [sys.executable, "-m", "evaluation_assets.cli", "ui", "--home", str(root), "--port", str(free_port())]
    daemon = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    reports = root / "reports"

    def wait(done: Callable[[], bool]) -> float:
        started = time.monotonic()
        while not done():
            time.sleep(1)
        return time.monotonic() - started

    def reported() -> int:
        return len(list(reports.glob("d*/report.json")))

    try:
        for number in range(count):
            (root / "drops" / f"d{number:06}.jsonl").write_bytes(record)
        seconds = wait(lambda: reported() >= count / 10)
        (root / "drops" / "one more.jsonl").write_bytes(record)
        more = wait((reports / "one more" / "report.json").exists)
        seconds += more + wait(lambda: reported() == count)
        with instance_of(home) as instance:
            runs = instance.get_runs()
            wait(lambda: all(run.is_finished for run in instance.get_runs()))
            state = next(each for each in instance.all_instigator_state() if each.instigator_name == "new_drops")
            ticks = instance.get_ticks(state.instigator_origin_id, state.selector_id)
            longest = max(tick.end_timestamp - tick.timestamp for tick in ticks if tick.end_timestamp)
    finally:
        daemon.terminate()
        daemon.wait()
    print(f"{count:,} files dropped at once: {seconds:.0f} s, {seconds / count:.2f} s a drop, {len(runs)} runs")
    print(f"  longest of {len(ticks)} ticks {longest:.1f} s; one more file took {more:.0f} s")
    print(f"  kB a drop: {_stored(root, count)}")


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def measure_big(count: int, helpers: int, clips_per_part: int, folder: Path) -> None:
    """Evaluate one drop of so many trajectories, and print what it cost."""
    home, root = _installation(folder)
    (root / "gate.yaml").write_text(f"big_drops: {{clips_per_part: {clips_per_part}}}\n")
    records = [orjson.loads(line) for line in SAMPLE.read_bytes().splitlines()[:READABLE]]
    with (root / "drops" / "big.jsonl").open("wb") as file:
        for number in range(count):
            record = records[number % len(records)] | {"task_id": f"task {number}"}
            file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
    command = [sys.executable, "-m", "benchmarks.scale", "--helps", str(root)]
    others = [subprocess.Popen(command, env=os.environ) for _ in range(helpers)]
    with instance_of(home) as instance:
        add_partitions(instance, DROPS, ["big"])
        started, cpu = time.monotonic(), time.process_time()
        result = (
            _definitions(home)
            .resolve_job_def(EVALUATE)
            .execute_in_process(instance=instance, partition_key="big", run_config={"loggers": {"console": {}}})
        )
        wall, cpu = time.monotonic() - started, time.process_time() - cpu
        parts = [
            entry.user_message for entry in instance.all_logs(result.run_id) if entry.user_message.startswith("part ")
        ]
    for other in others:
        other.kill()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{count:,} trajectories, {helpers} helpers, {clips_per_part:,} clips a part: {wall:.0f} s, {cpu:.0f} s CPU")
    print(
        f"  {len(parts)} parts judged by the run itself; peak {peak:.0f} MiB; kB a trajectory: {_stored(root, count)}"
    )


def help_judging(root: Path) -> None:
    """Take over parts of all drops of an installation until the process is killed."""
    home = Installation.at(str(root))
    job = _definitions(home).resolve_job_def(JUDGE_PART)
    with instance_of(home) as instance:
        while True:
            for said in announced(home):
                for number in range(said.count, 1, -1):
                    config = {"drop": said.drop, "run": said.run, "part": number}
                    job.execute_in_process(
                        instance=instance, run_config={"loggers": {"console": {}}, "ops": {PART: {"config": config}}}
                    )
            time.sleep(0.5)


def _stored(root: Path, count: int) -> str:
    sizes = {
        part: sum(file.stat().st_size for file in (root / part).rglob("*") if file.is_file())
        for part in ("dagster", "lake", "reports")
    }
    return ", ".join(f"{part} {size / count / 1000:.0f}" for part, size in sizes.items())


def _seconds(work: Callable[[], object]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started


def main() -> None:
    arguments = argparse.ArgumentParser(description="Measure what many small drops cost.")
    arguments.add_argument("drops", nargs="*", type=int, default=[100, 1000])
    arguments.add_argument("--trajectories", type=int, help="evaluate one drop of so many trajectories instead")
    arguments.add_argument("--known", type=int, help="evaluate one drop, and copy it so many times, instead")
    arguments.add_argument("--dropped", type=int, help="drop so many files at once beside a running daemon instead")
    arguments.add_argument("--helpers", type=int, default=0)
    arguments.add_argument("--clips-per-part", type=int, default=50_000)
    arguments.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments.add_argument("--helps", type=Path, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.helps is not None:
        help_judging(given.helps)
    with tempfile.TemporaryDirectory() as folder:
        if given.known is not None:
            measure_known(given.known, Path(folder))
        elif given.dropped is not None:
            measure_dropped(given.dropped, Path(folder))
        elif given.trajectories is not None:
            measure_big(given.trajectories, given.helpers, given.clips_per_part, Path(folder))
        elif given.here:
            measure(given.drops[0], Path(folder))
        else:
            for count in given.drops:  # a process of its own, so that peak memory is that of this number of drops
                command = [sys.executable, "-m", "benchmarks.scale", str(count), "--here"]
                subprocess.run(command, check=True, env=os.environ)


if __name__ == "__main__":
    main()

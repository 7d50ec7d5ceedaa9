"""What many small drops cost, and one big one.

    python -m benchmarks.scale [DROPS ...]
    python -m benchmarks.scale --dropped 3000
    python -m benchmarks.scale --trajectories 10000 [--helpers 1] [--clips-per-part 50000]

The first evaluates drops of one record, a hundred a run as a backfill does.

For each number of drops, in an installation of its own: wall and CPU seconds a drop, peak memory, events, and bytes of
Dagster's storage, of the lake and of the reports a drop; then the seconds of a tick of the sensor that knows all drops,
of the question which are stale, and of one query over a table of all drops. Compare figures of the same call only.

The second puts so many files into the drops folder at once, where the sensor and the daemon of `evaluation-assets ui`
find them: seconds until all have a report, runs, the longest tick of the sensor, bytes a drop, and how long one more
file takes that comes when a tenth is done.

The third evaluates one drop of so many trajectories with the embedded judge: wall seconds, peak memory of the run, and
bytes of lake and reports a trajectory. Helpers are processes that take over parts, as runs on other workers do.
"""

import argparse
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import orjson
import pyarrow.dataset as ds

from evaluation_assets.cli.job_runs import silence_previews
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.drops import scan
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.pipeline.parts import announced
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions, current_key
from evaluation_assets.defs.drop_step import DROPS_PER_RUN
from evaluation_assets.defs.freshness import stale
from evaluation_assets.defs.names import EVALUATE, JUDGE_PART, PART
from evaluation_assets.defs.partitions import DROPS, add_partitions
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets.runs.jobs import instance_of
from evaluation_assets.runs.progress import RunProgress

SAMPLE = Path(__file__).parents[1] / "examples" / "drops" / "assistants.jsonl"
READABLE = 8
"""Records of the sample before the first that cannot be read."""

RANGE = ("dagster/asset_partition_range_start", "dagster/asset_partition_range_end")


def measure(count: int, folder: Path) -> None:
    """Evaluate drops of one record each, and print what it cost."""
    root = folder / "home"
    (root / "drops").mkdir(parents=True)
    prepare(Installation.at(str(root)))
    record = SAMPLE.read_bytes().splitlines(keepends=True)[0]
    drops = [f"d{number:06}" for number in range(count)]
    for drop in drops:
        (root / "drops" / f"{drop}.jsonl").write_bytes(record)
    home = Installation.at(str(root))
    definitions = build_definitions(home, Panel(), RunProgress(quiet=True, verbose=False).loggers())
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
        sensor = definitions.resolve_sensor_def("new_drops")

        def tick() -> Any:
            with dg.build_sensor_context(instance, resources={"home": HomeResource(url=str(root))}) as context:
                return sensor.evaluate_tick(context)

        tick()  # the first look remembers every drop
        print(f"  tick of the sensor: {_seconds(tick):.2f} s")
        found, key = scan(home.drops).drops.values(), current_key(home, Panel())
        print(f"  which are stale: {_seconds(lambda: list(stale(instance, found, key))):.2f} s")
    scores = ds.dataset(str(root / "lake" / "trajectory_scores"), format="parquet")
    print(f"  count the rows of one table: {_seconds(scores.count_rows):.2f} s")


def measure_dropped(count: int, folder: Path) -> None:
    """Drop so many files at once beside a running daemon, and print what it took."""
    root = folder / "home"
    (root / "drops").mkdir(parents=True)
    home = Installation.at(str(root))
    prepare(home)
    record = SAMPLE.read_bytes().splitlines(keepends=True)[0]
    command = [sys.executable, "-m", "evaluation_assets.cli", "ui", "--home", str(root), "--port", str(_free_port())]
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


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def measure_big(count: int, helpers: int, clips_per_part: int, folder: Path) -> None:
    """Evaluate one drop of so many trajectories, and print what it cost."""
    root = folder / "home"
    (root / "drops").mkdir(parents=True)
    home = Installation.at(str(root))
    prepare(home)
    (root / "gate.yaml").write_text(f"big_drops: {{clips_per_part: {clips_per_part}}}\n")
    records = [orjson.loads(line) for line in SAMPLE.read_bytes().splitlines()[:READABLE]]
    with (root / "drops" / "big.jsonl").open("wb") as file:
        for number in range(count):
            record = records[number % len(records)] | {"task_id": f"task {number}"}
            file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
    command = [sys.executable, "-m", "benchmarks.scale", "--helps", str(root)]
    others = [subprocess.Popen(command, env=os.environ) for _ in range(helpers)]
    definitions = build_definitions(home, Panel(), RunProgress(quiet=True, verbose=False).loggers())
    with instance_of(home) as instance:
        add_partitions(instance, DROPS, ["big"])
        started, cpu = time.monotonic(), time.process_time()
        result = definitions.resolve_job_def(EVALUATE).execute_in_process(
            instance=instance, partition_key="big", run_config={"loggers": {"console": {}}}
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
    job = build_definitions(home, Panel(), RunProgress(quiet=True, verbose=False).loggers()).resolve_job_def(JUDGE_PART)
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
    arguments.add_argument("--dropped", type=int, help="drop so many files at once beside a running daemon instead")
    arguments.add_argument("--helpers", type=int, default=0)
    arguments.add_argument("--clips-per-part", type=int, default=50_000)
    arguments.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments.add_argument("--helps", type=Path, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.helps is not None:
        silence_previews()
        help_judging(given.helps)
    if given.dropped is not None:
        silence_previews()
        with tempfile.TemporaryDirectory() as folder:
            measure_dropped(given.dropped, Path(folder))
        return
    if given.trajectories is not None:
        silence_previews()
        with tempfile.TemporaryDirectory() as folder:
            measure_big(given.trajectories, given.helpers, given.clips_per_part, Path(folder))
        return
    for count in given.drops:
        if given.here:
            silence_previews()
            with tempfile.TemporaryDirectory() as folder:
                measure(count, Path(folder))
        else:  # a process of its own, so that peak memory is that of this number of drops
            subprocess.run([sys.executable, "-m", "benchmarks.scale", str(count), "--here"], check=True, env=os.environ)


if __name__ == "__main__":
    main()

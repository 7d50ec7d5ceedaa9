"""What many known drops cost where nothing is to be done: `python -m benchmarks.known_drops [DROPS ...]`.

For each number of drops (default: 10,000), the median seconds of three: a tick of the sensor that knows them all, the
search for one drop by its name, and two queries over one table with a file for each drop.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import dagster as dg
import pyarrow.dataset as ds

from evaluation_assets.cli.job_runs import silence_previews
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.drops import find, scan
from evaluation_assets.core.intake.triggers.new_drops import Seen
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets.defs.names import EVALUATE
from evaluation_assets.defs.partitions import DROPS, add_partitions
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets.resources.seen_drops import SeenDrops
from evaluation_assets.runs.jobs import instance_of
from evaluation_assets.runs.progress import RunProgress

SAMPLE = Path(__file__).parents[1] / "examples" / "drops" / "assistants.jsonl"


def measure(count: int, root: Path) -> None:
    """Evaluate one drop, copy it and its table of scores, and print what a look at all of them takes."""
    home = Installation.at(str(root))
    prepare(home)
    drops = root / "drops"
    shutil.copy(SAMPLE, drops / "d000000.jsonl")
    definitions = build_definitions(home, Panel(), RunProgress(quiet=True, verbose=False).loggers())
    with instance_of(home) as instance:
        add_partitions(instance, DROPS, ["d000000"])
        definitions.resolve_job_def(EVALUATE).execute_in_process(
            instance=instance, partition_key="d000000", run_config={"loggers": {"console": {}}}
        )
        table = home.table("d000000", "trajectory_scores").path
        for number in range(1, count):
            (drops / f"d{number:06}.jsonl").write_bytes(b"{}\n")
            shutil.copy(str(table), Path(str(table)).with_name(f"d{number:06}.parquet"))
        looks = {key: drop.stamp() for key, drop in scan(home.drops).drops.items()}
        SeenDrops(instance).write({key: Seen(stamp, stamp, "content", 1) for key, stamp in looks.items()})
        sensor = definitions.resolve_sensor_def("new_drops")

        def tick() -> None:
            with dg.build_sensor_context(instance, resources={"home": HomeResource(url=str(root))}) as context:
                if sensor.evaluate_tick(context).run_requests:
                    raise RuntimeError("a known drop was asked for again")

        print(f"{count:,} drops")
        print(f"  tick of the sensor    {_seconds(tick):.3f} s")
        print(f"  one drop by its name  {_seconds(lambda: find(home.drops, 'd000042')):.3f} s")
    scores = ds.dataset(str(Path(str(table)).parent), format="parquet")
    print(f"  rows of one table     {_seconds(scores.count_rows):.3f} s")

    def by_criterion() -> None:
        scores.to_table(columns=["criterion", "mean"]).group_by("criterion").aggregate([("mean", "mean")])

    print(f"  means by criterion    {_seconds(by_criterion):.3f} s")


def _seconds(work: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(3):
        started = time.monotonic()
        work()
        times.append(time.monotonic() - started)
    return median(times)


def main() -> None:
    arguments = argparse.ArgumentParser(description="Measure what many known drops cost.")
    arguments.add_argument("drops", nargs="*", type=int, default=[10_000])
    silence_previews()
    for count in arguments.parse_args().drops:
        with tempfile.TemporaryDirectory() as folder:
            measure(count, Path(folder) / "home")


if __name__ == "__main__":
    main()

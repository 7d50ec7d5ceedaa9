"""Throughput and memory of ingest, preprocessing and clips, as a ratio to merely parsing the same lines.

    python benchmarks/ingest.py [--megabytes 200] [--rounds 3]

Each measurement is a process of its own, so that its peak memory is its own; both sides of a ratio run in the same
round. Beside the chain stands what no reader can save: the same texts hashed, parsed, stored in three tables and read
back twice, without a look at them. Also: time over the length of a record whose tags are never closed.
"""

import argparse
import hashlib
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

SAMPLE = Path(__file__).parent.parent / "examples" / "drops" / "assistants.jsonl"


RESULT_CHARACTERS = 4000
"""Results of browsing and search tools are about this long; those of the sample are shorter, to be read by people."""


def generate(path: Path, megabytes: float, seed: Path = SAMPLE) -> None:
    """The readable records of a file over and over, each with an id and a text of its own and long results.

    Texts that are the same would be stored once by parquet's dictionaries, which real drops never see.
    """
    records = []
    for line in seed.read_text("utf-8").splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        if seed == SAMPLE and "raw_response" in record:
            record["raw_response"] = re.sub(r"(?s)(?<=<result>).*?(?=</result>)", _lengthened, record["raw_response"])
        records.append(record)
    size, number = 0, 0
    with path.open("wb") as sink:
        while size < megabytes * 1e6:
            record = records[number % len(records)] | {"task_id": f"task-{number:07d}"}
            if "raw_response" in record:
                record["raw_response"] = f"Task {number}.\n{record['raw_response']}"
            size += sink.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
            number += 1


def _lengthened(result: re.Match[str]) -> str:
    text = result.group()
    return (text + "\n") * max(1, RESULT_CHARACTERS // max(1, len(text)))


def bare_parse(path: Path) -> None:
    """What a ratio of 1 is: every line parsed, nothing kept."""
    import orjson

    with path.open("rb") as source:
        for line in source:
            orjson.loads(line)


def tables_alone(path: Path) -> None:
    """What libraries take for three tables that hold the text, when nobody looks at it."""
    import orjson
    import pyarrow as pa
    from upath import UPath

    from evaluation_assets.core.lake.stored import Stored, Stream, batched, write
    from evaluation_assets.core.lake.tables import Column, Table

    table = Table("texts", "a text", (Column("text", pa.large_string(), "The text."),))

    def texts() -> Iterator[dict[str, str]]:
        with path.open("rb") as source:
            for line in source:
                record = orjson.loads(line)
                yield {"text": record.get("raw_response") or ""}

    with tempfile.TemporaryDirectory() as folder, path.open("rb") as source:
        hashlib.file_digest(source, "sha256")
        rows: Iterator[Mapping[str, str]] = texts()
        for number in range(3):
            target = UPath(folder) / f"{number}.parquet"
            write(target, Stream(table, batched(rows, table)))
            rows = Stored(table, target).rows()


def chain(path: Path) -> None:
    """The real assets `+clips`, materialised by Dagster into parquet."""
    import dagster as dg

    from evaluation_assets.core.judging.panel import Panel
    from evaluation_assets.core.system.installation import Installation
    from evaluation_assets.definitions import build_definitions

    with tempfile.TemporaryDirectory() as folder, dg.DagsterInstance.ephemeral() as instance:
        home = Installation.at(folder)
        home.drops.mkdir(parents=True)
        (Path(folder) / "drops" / "drop.jsonl").symlink_to(path)
        instance.add_dynamic_partitions("drops", ["drop"])
        definitions = build_definitions(home, Panel())
        job = definitions.resolve_implicit_global_asset_job_def()
        started = time.perf_counter()
        ingest = ("raw_trajectories", "unreadable_records", "preprocessed_trajectories", "rejected_records", "clips")
        result = job.execute_in_process(
            partition_key="drop", instance=instance, asset_selection=[dg.AssetKey(name) for name in ingest]
        )
        assert result.success
        report(time.perf_counter() - started)


def timed(work: Callable[[Path], None]) -> Callable[[Path], None]:
    """The work, with a report of the time it took."""

    def measurement(path: Path) -> None:
        started = time.perf_counter()
        work(path)
        report(time.perf_counter() - started)

    return measurement


def report(seconds: float) -> None:
    """One measurement on stdout: seconds of the work itself, and the peak memory of the process in MiB."""
    print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


MEASUREMENTS = {"bare": timed(bare_parse), "tables": timed(tables_alone), "chain": chain}


def measured(what: str, path: Path) -> tuple[float, float]:
    """Run one measurement in a process of its own."""
    command = [sys.executable, "-W", "ignore", __file__, "--measure", what, "--file", str(path)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, peak = json.loads(output.splitlines()[-1])
    return seconds, peak


def open_tags() -> None:
    """Time to read a record of never-closed tags, at doubling lengths: linear time doubles, quadratic quadruples."""
    from evaluation_assets.core.traces.formats.tags import read_structure

    print("\nnever-closed tags       kB        ms   ms per 100 kB")
    for opening in ("<think>", "<result>", "<microsandbox><a>", "<b>", "<think><think></think>"):
        for kilobytes in (50, 100, 200, 400):
            text = opening * (kilobytes * 1000 // len(opening))
            started = time.perf_counter()
            read_structure(text)
            milliseconds = (time.perf_counter() - started) * 1000
            print(f"{opening:<22}{kilobytes:>5}{milliseconds:>10.1f}{milliseconds / kilobytes * 100:>16.1f}")


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--megabytes", type=float, default=200)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--seed", type=Path, default=SAMPLE, help="JSON Lines to make the drop of")
    arguments.add_argument("--measure", choices=MEASUREMENTS)
    arguments.add_argument("--file", type=Path)
    options = arguments.parse_args()
    if options.measure is not None:
        MEASUREMENTS[options.measure](options.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drop.jsonl"
        generate(path, options.megabytes, options.seed)
        size = path.stat().st_size / 1e6
        print(f"{size:.0f} MB, {options.rounds} rounds")
        print("round   bare MB/s   chain MB/s   ratio   chain peak MiB   ratio of the tables alone")
        ratios = []
        for number in range(1, options.rounds + 1):
            bare, _ = measured("bare", path)
            tables, _ = measured("tables", path)
            whole, peak = measured("chain", path)
            ratios.append(whole / bare)
            speeds = f"{number:>5}{size / bare:>12.0f}{size / whole:>13.1f}"
            print(f"{speeds}{ratios[-1]:>8.1f}{peak:>17.0f}{tables / bare:>28.1f}")
        print(f"median ratio {statistics.median(ratios):.1f}")
    open_tags()


if __name__ == "__main__":
    main()

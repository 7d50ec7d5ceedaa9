"""CPU and wall time of short commands, and Dagster events of a run: `python benchmarks/start.py [CHECKOUT ...]`.

Each round runs each command once in each checkout, so that a busy machine slows all of them alike; compare figures of
the same call only. Printed are the medians over the rounds: CPU seconds (user and system), wall seconds, and the events
that Dagster stored. The first round is not counted: it fills file caches. A drop is evaluated in a new home folder,
except for "evaluate, unchanged", and "import dagster" is what no `evaluate` of this project can save.
"""

import argparse
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "examples" / "drops" / "assistants.jsonl"


@dataclass(frozen=True)
class Measured:
    """One call of a command. `events` is missing where no run was started."""

    cpu: float
    wall: float
    events: int | None


def call(checkout: Path, arguments: list[str], home: Path) -> Measured:
    """Run Python with arguments, in a checkout."""
    environment = os.environ | {"PYTHONPATH": str(checkout), "EVALUATION_HOME": str(home)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # without bytecode, each call would compile the package
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=home.parent, check=True, stdout=subprocess.DEVNULL
    )
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(cpu, ended - started, events_of_last_run(home))


def events_of_last_run(home: Path) -> int | None:
    """Events of the newest run."""
    events = home / "dagster" / "history" / "runs" / "index.db"
    if not events.exists():
        return None
    with closing(sqlite3.connect(events)) as database:
        newest = "SELECT run_id FROM event_logs ORDER BY id DESC LIMIT 1"
        return database.execute(f"SELECT count(*) FROM event_logs WHERE run_id = ({newest})").fetchone()[0]


def main() -> None:
    arguments = argparse.ArgumentParser(description="Measure how fast commands start.")
    arguments.add_argument("checkouts", nargs="*", type=Path, default=[ROOT])
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--json", type=Path, help="also write the CPU seconds of the first checkout to this file")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        one = Path(folder) / "one.jsonl"
        one.write_text(SAMPLE.read_text("utf-8").splitlines(keepends=True)[0], "utf-8")
        program = ["-m", "evaluation_assets.cli"]
        commands = {
            "import dagster": ["-c", "import dagster"],
            "--help": [*program, "--help"],
            "evaluate --help": [*program, "evaluate", "--help"],
            "plan": [*program, "plan", str(one)],
            "import": [*program, "import", str(one)],
            "evaluate, one record": [*program, "evaluate", str(one), "--quiet"],
            "evaluate, unchanged": [*program, "evaluate", str(one), "--quiet"],
            "evaluate, sample": [*program, "evaluate", str(SAMPLE), "--quiet"],
        }
        measured: dict[tuple[str, Path], list[Measured]] = {}
        for number in range(given.rounds + 1):
            for name, command in commands.items():
                for index, checkout in enumerate(given.checkouts):
                    home = Path(folder) / f"home{index}" / name.replace(" ", "_")
                    if name != "evaluate, unchanged":
                        home /= str(number)
                    home.mkdir(parents=True, exist_ok=True)
                    result = call(checkout.resolve(), command, home)
                    if number:
                        measured.setdefault((name, checkout), []).append(result)
    if given.json is not None:
        own = {name: results for (name, checkout), results in measured.items() if checkout == given.checkouts[0]}
        figures = {f"{name}, s CPU": [each.cpu for each in results] for name, results in own.items()}
        given.json.write_text(json.dumps(figures, indent=1), "utf-8")
    for (name, checkout), results in measured.items():
        cpu, wall = median(each.cpu for each in results), median(each.wall for each in results)
        events = "" if results[-1].events is None else f", {results[-1].events} events"
        print(f"{checkout}  {name:<22} {cpu:5.2f} s CPU, {wall:6.2f} s wall{events}")


if __name__ == "__main__":
    main()

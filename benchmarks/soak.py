"""Evaluate drops for a long time with an endpoint that fails: `python -m benchmarks.soak --minutes N`.

Several processes evaluate generated drops in one installation, one after another, against the tests' model server with
5% of faults. The first process is killed with `kill -9` every minute and started again with the drop it was at; the
others run to the end. Printed in the end, with exit status 1 where a figure does not add up:

- subjects, and their outcomes in the tables;
- replies that the server was paid for, and rows of the ledger. A reply in flight at a kill is paid and not stored;
- memory of the processes that were not killed, as the median after the drops of each quarter.
"""

import argparse
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.model_judging import CLIPS, drop_of, judge
from evaluation_assets_tests.model_server import ModelServer, model_server, rule

FAULTS = ("server_error", "rate_limited", "drop", "invalid_json", "refusal")
SHARE = 0.05
LEVELS = ("clip", "category", "trajectory")
IN_FLIGHT = 16
NOT_PAID = ("drop",)
"""Faults that are no reply, whatever their status."""


@dataclass
class Worker:
    """A process that evaluates drops: the trajectories of each drop it finished, and its memory after it in KiB."""

    name: str
    home: Path
    until: float
    begun: int = 0
    finished: list[int] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    process: subprocess.Popen[str] | None = None

    def run(self) -> None:
        """Start the process, and again whenever it was killed."""
        while time.time() < self.until:
            first = len(self.finished)
            command = [sys.executable, "-W", "ignore", "-m", "benchmarks.soak", "--worker", self.name, str(self.home)]
            self.process = subprocess.Popen(
                [*command, str(first), str(self.until)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            assert self.process.stdout is not None
            for line in self.process.stdout:
                said = json.loads(line)
                self.finished.append(said["records"])
                self.memory.append(said["memory"])
            if self.process.wait() not in (0, -9):
                raise RuntimeError(f"{self.name} ended with {self.process.returncode}")


def work(name: str, home: Path, first: int, until: float) -> None:
    """Evaluate drops from a number on, until the time is up."""
    from evaluation_assets import evaluate

    for number in range(first, sys.maxsize):
        if time.time() >= until:
            return
        records = random.Random(f"{name} {number}").randint(5, 60)
        drop = home.parent / f"{name}-{number}.jsonl"
        drop.write_bytes(drop_of(records, marked=f"{name} {number}"))
        evaluate(drop, home=home, panel=home / "panel.yaml", progress=False)
        drop.unlink()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        memory = pages * os.sysconf("SC_PAGE_SIZE") // 1024
        print(json.dumps({"records": records, "memory": memory}), flush=True)


def soak(home: Path, server: ModelServer, minutes: float, workers: int) -> Iterator[str]:
    """Run, and give the lines of the result. A line that begins with `WRONG` does not add up."""
    server.script([rule(kind, rate=SHARE / len(FAULTS)) for kind in FAULTS])
    panel = {"judges": [judge(server, max_concurrency=IN_FLIGHT)], "ask_above_usd": 1e9}
    (home / "panel.yaml").write_text(json.dumps(panel))
    until = time.time() + minutes * 60
    running = [Worker(f"w{number}", home, until) for number in range(workers)]
    threads = [threading.Thread(target=each.run) for each in running]
    for thread in threads:
        thread.start()
    kills = 0
    while time.time() + 60 < until:
        time.sleep(60)
        victim = running[0].process
        if victim is not None and victim.poll() is None:
            victim.kill()
            kills += 1
    for thread in threads:
        thread.join()

    drops = [(f"{each.name}-{n}", records) for each in running for n, records in enumerate(each.finished)]
    records = sum(count for _, count in drops)
    yield f"{len(drops):,} drops, {records:,} trajectories in {minutes:g} minutes, {workers} processes, {kills} kills"
    outcomes = outcomes_of(home, [drop for drop, _ in drops])
    subjects = records * (CLIPS + 1 + 2)
    counts = ", ".join(f"{outcome} {count:,}" for outcome, count in sorted(outcomes.items()))
    yield f"{'' if outcomes.total() == subjects else 'WRONG '}subjects {subjects:,}: {counts}"

    log = server.requests(bodies=False)
    paid = sum(asked.status == 200 and asked.fault not in NOT_PAID for asked in log)
    faults = sum(asked.fault is not None for asked in log)
    with sqlite3.connect(home / "ledger.sqlite") as ledger:
        (stored,) = ledger.execute("SELECT count(*) FROM replies").fetchone()
    lost = paid - stored
    wrong = "" if 0 <= lost <= kills * IN_FLIGHT else "WRONG "
    yield f"requests {len(log):,}, with a fault {faults:,} ({faults / len(log):.1%})"
    yield f"{wrong}replies paid {paid:,}, stored {stored:,}; {lost} in flight at {kills} kills"
    for each in running[1:]:
        quarter = len(each.memory) / 4
        parts = [each.memory[round(n * quarter) : round((n + 1) * quarter)] for n in range(4)]
        medians = (f"{statistics.median(part) / 1024:.0f}" for part in parts if part)
        yield f"MiB of {each.name}, by quarter: {', '.join(medians)}"


def outcomes_of(home: Path, drops: list[str]) -> Counter[str]:
    """Verdicts by outcome in the tables of drops."""
    installation = Installation.at(str(home))
    return Counter(
        row["outcome"]
        for drop in drops
        for level in LEVELS
        for row in installation.table(drop, f"{level}_verdicts", "one").rows(["outcome"])
    )


def main() -> None:
    """Run the benchmark, or one of its processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker is not None:
        name, home, first, until = given.worker
        work(name, Path(home), int(first), float(until))
        return
    os.environ.setdefault("TEST_KEY", "sk-soak")
    with tempfile.TemporaryDirectory() as folder, model_server(latency=0.05, spread=0.05, keep_bodies=False) as server:
        (home := Path(folder) / "home").mkdir()
        lines = list(soak(home, server, given.minutes, given.workers))
    print(*lines, sep="\n")
    sys.exit(any(line.startswith("WRONG") for line in lines))


if __name__ == "__main__":
    main()

"""The speed of a commit relative to another: `python -m benchmarks.compare BASE [COMMIT] [--rounds 5] [--only ...]`.

The benchmarks of this checkout measure both in turn. Printed are the ratios of COMMIT (by default HEAD) to BASE, by
round: their geometric mean with its 95% interval. Below 1 is faster.
"""

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from scipy.stats import t

ROOT = Path(__file__).parents[1]
BENCHMARKS = {
    "panel": ["benchmarks.judging", "--rounds", "1", "--only", "panel"],
    "cpu": ["benchmarks.judging", "--rounds", "1", "--only", "cpu"],
    "start": ["benchmarks.start", "--rounds", "1"],
}
"""What is run for one round. Each writes its figures as JSON."""


def checked_out(commit: str, folder: Path) -> Path:
    """The files of a commit, with the benchmarks of this checkout."""
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    shutil.rmtree(folder / "benchmarks", ignore_errors=True)
    shutil.copytree(ROOT / "benchmarks", folder / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def figures_of(checkout: Path, benchmark: str) -> dict[str, float]:
    """The figures of one round."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "figures.json")
        command = [sys.executable, "-m", *BENCHMARKS[benchmark], "--json", str(written)]
        environment = os.environ | {"PYTHONPATH": str(checkout)}
        subprocess.run(command, cwd=checkout, env=environment, check=True, stdout=subprocess.DEVNULL)
        return {name: statistics.median(values) for name, values in json.loads(written.read_text("utf-8")).items()}


def ratio_of(ratios: list[float]) -> str:
    """Their geometric mean; from two rounds on with its 95% interval, as if their logarithms were normal."""
    logs = [math.log(ratio) for ratio in ratios]
    mean = statistics.fmean(logs)
    if len(logs) < 2:
        return f"{math.exp(mean):.3f}"
    half = float(t.ppf(0.975, len(logs) - 1)) * statistics.stdev(logs) / math.sqrt(len(logs))
    return f"{math.exp(mean):.3f}  ({math.exp(mean - half):.3f} to {math.exp(mean + half):.3f})"


def main() -> None:
    arguments = argparse.ArgumentParser(description="Compare the speed of two commits.")
    arguments.add_argument("base")
    arguments.add_argument("commit", nargs="?", default="HEAD")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--only", default=",".join(BENCHMARKS), help="some of these, by comma")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base, own = (
            checked_out(commit, Path(folder, f"{side}")) for side, commit in enumerate((given.base, given.commit))
        )
        for benchmark in given.only.split(","):
            rounds: list[dict[Path, dict[str, float]]] = []
            for number in range(given.rounds):
                sides = (own, base) if number % 2 else (base, own)  # a drift of the machine favours neither
                rounds.append({side: figures_of(side, benchmark) for side in sides})
            for name in (name for name in rounds[0][own] if name in rounds[0][base]):
                ratios = [measured[own][name] / measured[base][name] for measured in rounds]
                medians = [statistics.median(measured[side][name] for measured in rounds) for side in (base, own)]
                print("{:<60} {:8.3g} to {:8.3g}  ".format(name, *medians) + ratio_of(ratios), flush=True)


if __name__ == "__main__":
    main()

"""How well failure groups separate planted faults, and how long grouping takes.

    python -m benchmarks.groups [DATA] [--seeds 3] [--runs 100000]

For each data set, every run gets one fault, drawn by seed. Its findings that the run itself does not have are grouped;
each counts with the group it is in and the fault it is due to. Printed are V-measure and adjusted Rand index, and the
share of faults with a finding: a fault without one is in no group. `--runs` groups so many made-up runs with two
findings each, and prints seconds and peak memory.
"""

import argparse
import resource
import time
from collections import Counter
from pathlib import Path
from random import Random

from sklearn.metrics import adjusted_rand_score, v_measure_score

from benchmarks.injected import DATA_SETS, _runs
from evaluation_assets.core.pipeline.failure_groups import AllRuns, EvaluatedRuns, group_rows
from evaluation_assets.core.sections.failure_groups.grouping import grouped
from evaluation_assets.core.sections.failure_groups.occurrence import Occurrence
from evaluation_assets.core.sections.findings.detecting import detected
from evaluation_assets.core.sections.findings.faults.operator import NotApplicable, injected
from evaluation_assets.core.sections.findings.faults.registry import OPERATORS
from evaluation_assets.core.sections.findings.finding_rows import finding_rows
from evaluation_assets.core.sections.findings.kinds import kinds
from evaluation_assets.core.traces.trajectories.model import Trajectory

FAULTS = [operator for operator in OPERATORS.values() if not operator.is_control]


def main() -> None:
    """Print the figures of each data set, and those of size."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("data", type=Path, nargs="?", default=Path(__file__).parents[2] / "shared" / "data")
    arguments.add_argument("--seeds", type=int, default=3)
    arguments.add_argument("--runs", type=int, default=100_000)
    options = arguments.parse_args()
    for name, pattern in DATA_SETS.items():
        runs = list(_runs(options.data, pattern)) if options.data.is_dir() else []
        for seed in range(options.seeds if runs else 0):
            print(f"{name:<20} seed {seed}: {separated(runs, Random(seed))}", flush=True)
    print(size(options.runs))


def separated(runs: list[Trajectory], random: Random) -> str:
    """The agreement of groups and planted faults."""
    found: list[tuple[Occurrence, str]] = []
    planted = noticed = 0
    calls: Counter[str] = Counter()
    for run in runs:
        calls.update(step.call.name for step in run.calls if step.call)
        before = {(each.kind, each.evidence) for each in detected(run)}
        for operator in random.sample(FAULTS, len(FAULTS)):
            try:
                changed = injected(run, operator, random.randrange(1 << 30)).changed
            except NotApplicable:
                continue
            new = [each for each in detected(changed) if (each.kind, each.evidence) not in before]
            rows = finding_rows("d", changed, new)
            planted += 1
            noticed += bool(rows)
            found += [(_occurrence(row, run.id), operator.kind or operator.name) for row in rows]
            break
    groups = grouped([each for each, _ in found], calls)
    of = {id(each): key.id for key, members in groups.items() for each in members}
    truth, said = [kind for _, kind in found], [of[id(each)] for each, _ in found]
    return (
        f"{planted} faults, {noticed / planted:.2f} noticed, {len(groups)} groups, "
        f"V-measure {v_measure_score(truth, said):.2f}, adjusted Rand {adjusted_rand_score(truth, said):.2f}"
    )


def _occurrence(row: dict[str, object], run: str) -> Occurrence:
    names = ("drop", "task_id", "kind", "severity", "tool", "evidence", "clip_index", "start", "end")
    return Occurrence(trajectory_id=run, **{name: row[name] for name in names})  # type: ignore[arg-type]


def size(count: int) -> str:
    """Seconds and memory for so many runs in drops of a thousand."""
    random = Random(0)
    everything = AllRuns()
    names = sorted(kinds())
    for start in range(0, count, 1000):
        drop = f"s/{start}"
        tasks = {f"run {start + each}": f"task {each % 100}" for each in range(min(1000, count - start))}
        everything.drops.append(
            EvaluatedRuns(drop=drop, suite="s", agent="a", version="a 1", evaluated_at=f"{start:09}", tasks=tasks)
        )
        for run, task in tasks.items():
            for _ in range(2):
                tool = random.choice(("search", "pay", "open"))
                everything.calls[tool] += 5
                everything.occurrences.append(
                    Occurrence(
                        drop=drop,
                        trajectory_id=run,
                        task_id=task,
                        kind=random.choice(names),
                        severity="LOW",
                        tool=tool,
                        evidence=f"Error {random.random()}: not found",
                    )
                )
    began = time.process_time()
    rows = group_rows(everything, {})
    seconds = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{count} runs, {len(everything.occurrences)} findings, {len(rows)} groups: {seconds:.1f} s, {memory:.0f} MB"


if __name__ == "__main__":
    main()

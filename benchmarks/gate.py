"""How often the gate is wrong: verdicts on simulated runs, by the gate that decides real ones.

    python benchmarks/gate.py [--runs 2000]

A task's score is its difficulty plus noise of the run. The standard deviation of a task's difference between two runs
is 0.30, as two runs of one agent have it under a panel of judges. Seeds are fixed: the same numbers every time.
"""

import argparse
from collections import Counter

import numpy as np

from evaluation_assets.core.regression.baselines import make_baseline
from evaluation_assets.core.regression.drift import drift, night
from evaluation_assets.core.regression.gate import decide
from evaluation_assets.core.regression.metrics import DropMetrics, TaskValue
from evaluation_assets.core.regression.settings import GateSettings

SPREAD = 0.30


def drop_of(name: str, metrics: dict[str, np.ndarray]) -> DropMetrics:
    """A drop with one trial a task."""
    values = {
        metric: {f"task-{index}": TaskValue(float(value), float(value)) for index, value in enumerate(scores)}
        for metric, scores in metrics.items()
    }
    tasks = {task: "" for known in values.values() for task in known}
    return DropMetrics(drop=name, suite="simulated", tasks=tasks, metrics=values)


def verdicts(tasks: int, drop: float, runs: int, settings: GateSettings, metrics: int = 1) -> Counter[str]:
    """What the gate says about pairs of runs whose true difference is `-drop`."""
    random = np.random.default_rng([tasks, round(drop * 1000), metrics])
    found: Counter[str] = Counter()
    names = [f"metric-{index}" for index in range(metrics)]
    for _ in range(runs):
        difficulty = random.uniform(0.2, 0.9, tasks)
        before = {name: difficulty + random.normal(0, SPREAD / 2**0.5, tasks) for name in names}
        after = {name: difficulty + random.normal(0, SPREAD / 2**0.5, tasks) - drop for name in names}
        baseline = make_baseline([drop_of("before", before)], promoted_by="", promoted_at="", reason="", run_id="")
        outcome = decide(baseline, drop_of("after", after), settings)
        assert outcome is not None
        found[outcome.verdict] += 1
    return found


def outcomes(tasks: int, lost: float, gained: float, runs: int, settings: GateSettings) -> Counter[str]:
    """The same for pass or fail: shares of tasks lost and gained."""
    random = np.random.default_rng([tasks, round(lost * 1000), round(gained * 1000)])
    found: Counter[str] = Counter()
    for _ in range(runs):
        change = random.choice([-1, 1, 0], p=[lost, gained, 1 - lost - gained], size=tasks)
        before = np.where(change == 0, random.random(tasks) < 0.6, change < 0).astype(float)
        baseline = make_baseline(
            [drop_of("before", {"success": before})], promoted_by="", promoted_at="", reason="", run_id=""
        )
        outcome = decide(baseline, drop_of("after", {"success": before + change}), settings)
        assert outcome is not None
        found[outcome.verdict] += 1
    return found


def alarms(shift: float, nights: int, runs: int) -> tuple[float, float]:
    """Share of histories with an alarm in any night, and the median night of it."""
    random = np.random.default_rng([nights, round(shift * 1000)])
    delays = []
    for _ in range(runs):
        baseline = random.normal(0.7, SPREAD / 2**0.5, 50)
        z: list[float] = []
        for number in range(1, nights + 1):
            value = night(random.normal(0.7 - shift, SPREAD / 2**0.5, 50) - baseline, 1)
            z += [] if value is None else [value]
            if drift(z, 0.05).alarm:
                delays.append(number)
                break
    return len(delays) / runs, float(np.median(delays)) if delays else float("nan")


def line(label: str, found: Counter[str]) -> None:
    """One line of shares."""
    total = found.total()
    shares = "".join(f"{found[verdict] / total:>14.3f}" for verdict in ("fail", "warn", "inconclusive", "pass"))
    print(f"{label:<44}{shares}")


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--runs", type=int, default=2000)
    runs = arguments.parse_args().runs
    one = GateSettings(metrics=("metric-0",))
    three = GateSettings(metrics=("metric-0", "metric-1", "metric-2"))
    fixed = GateSettings(metrics=("metric-0",), rule="tolerance")
    print(f"{runs} pairs of runs a line, SD of a task's difference {SPREAD}\n")
    print(f"{'':<44}{'fail':>14}{'warn':>14}{'inconclusive':>14}{'pass':>14}")
    for tasks in (30, 50, 100):
        line(f"{tasks} tasks, no change", verdicts(tasks, 0.0, runs, one))
    for tasks in (30, 50, 100):
        line(f"{tasks} tasks, no change, 3 gating metrics", verdicts(tasks, 0.0, runs, three, metrics=3))
    for tasks in (30, 50, 100):
        line(f"{tasks} tasks, no change, fixed tolerance", verdicts(tasks, 0.0, runs, fixed))
    for drop in (0.05, 0.10, 0.15):
        line(f"100 tasks, true drop {drop:.2f}", verdicts(100, drop, runs, one))
    for tasks in (30, 100):
        line(f"{tasks} tasks, outcomes, 10 % lost, 10 % gained", outcomes(tasks, 0.1, 0.1, runs, GateSettings()))
    line("100 tasks, outcomes, 20 % lost, 5 % gained", outcomes(100, 0.2, 0.05, runs, GateSettings()))
    print("\ndrift over 60 nights, 50 tasks          share alarmed    median night")
    for shift in (0.0, 0.05, 0.10):
        share, delay = alarms(shift, 60, max(100, runs // 10))
        print(f"{f'lasting drop {shift:.2f}':<40}{share:>13.3f}{delay:>16.0f}")


if __name__ == "__main__":
    main()

"""How often the gate is wrong: its verdicts on runs that did not change.

    python benchmarks/gate.py [--runs 2000]
    python benchmarks/gate.py --home .evaluation DROP...

The first simulates. A task's score is its difficulty plus noise of the run; the standard deviation of a task's
difference between two runs is 0.30, as two runs of one agent have it under a panel of judges.

The second takes evaluated drops in which tasks have several trials. Two trials of a task are two runs of it in which
nothing changed; a task with four trials gives two such pairs, which share no trial and count as two tasks. A decrease
in success is injected by turning passes into failures. Seeds are fixed: the same numbers every time.
"""

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats

from evaluation_assets.core.gating.baselines import make_baseline
from evaluation_assets.core.gating.calibration import BatchGate
from evaluation_assets.core.gating.drift import drift, night
from evaluation_assets.core.gating.gate import decide
from evaluation_assets.core.gating.outcome import GateOutcome
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.gating.task_metrics import DropMetrics, TaskValue
from evaluation_assets.core.system.installation import Installation

Trials = Mapping[str, Sequence[float]]
"""A metric's value in each trial, by task."""

SPREAD = 0.30
VERDICTS = ("fail", "warn", "inconclusive", "pass")


def drop_of(name: str, metrics: dict[str, np.ndarray], tasks: Sequence[str]) -> DropMetrics:
    """A drop with one trial a task."""
    values = {
        metric: {task: TaskValue(value, value, value) for task, value in zip(tasks, map(float, scores), strict=True)}
        for metric, scores in metrics.items()
    }
    return DropMetrics(drop=name, suite="simulated", tasks=dict.fromkeys(tasks, ""), metrics=values)


def outcome_of(
    before: dict[str, np.ndarray], after: dict[str, np.ndarray], settings: GateSettings, tasks: Sequence[str] = ()
) -> GateOutcome:
    """The gate on two runs."""
    tasks = tasks or [f"task-{index}" for index in range(len(next(iter(before.values()))))]
    baseline = make_baseline([drop_of("before", before, tasks)], promoted_by="", promoted_at="", reason="", run_id="")
    outcome = decide(baseline, drop_of("after", after, tasks), settings)
    assert outcome is not None
    return outcome


def trials_of(home: Installation, drops: Sequence[str], metric: str) -> Trials:
    """A metric of every trajectory, by drop and task."""
    found: dict[str, list[float]] = {}
    for drop in drops:
        scores = {
            row["trajectory_id"]: row["adjusted_mean"]
            for row in home.table(drop, "trajectory_scores").rows()
            if row["criterion"] == metric
        }
        for row in home.table(drop, "preprocessed_trajectories").rows(["trajectory_id", "task_id", "success"]):
            value = row["success"] if metric == "success" else scores.get(row["trajectory_id"])
            if value is not None:
                found.setdefault(f"{drop} {row['task_id']}", []).append(float(value))
    return found


def unchanged(trials: Trials, tasks: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of runs (rows) of this many tasks in which nothing changed."""
    random = np.random.default_rng(tasks)
    chosen = []
    for _ in range(runs):
        pairs = []
        for values in trials.values():
            shuffled = random.permutation(values)
            pairs += [shuffled[start : start + 2] for start in range(0, len(values) - 1, 2)]
        chosen.append(np.array(pairs)[random.permutation(len(pairs))[:tasks]])
    both = np.array(chosen)
    return both[..., 0], both[..., 1]


def worsened(after: np.ndarray, decrease: float) -> np.ndarray:
    """The runs with passes turned into failures, so that their share falls by `decrease`."""
    return np.where(np.random.default_rng(1).random(after.shape) < decrease / after.mean(), 0.0, after)


def on_trials(metric: str, before: np.ndarray, after: np.ndarray) -> Counter[str]:
    """What the gate says about pairs of runs.

    Beside the verdicts are the comparisons that McNemar's conditional test (`conditional`) and its mid-p version
    (`mid-p`, which does not keep its level exactly) find, and the ones with a single task beyond noise (`task`).
    """
    settings = GateSettings(metrics=(metric,))
    gate = BatchGate(metric, 1, settings)
    found = Counter(gate.verdicts(before, after).tolist())
    found["task"] = int(gate.has_fallen(before, after).sum())
    if metric == "success":
        lost, gained = (after < before).sum(axis=1), (after > before).sum(axis=1)
        conditional = stats.binom.sf(lost - 1, lost + gained, 0.5)
        found["conditional"] = int((conditional <= settings.alpha).sum())
        found["mid-p"] = int((conditional - stats.binom.pmf(lost, lost + gained, 0.5) / 2 <= settings.alpha).sum())
    return found


def verdicts(tasks: int, drop: float, runs: int, settings: GateSettings, metrics: int = 1) -> Counter[str]:
    """What the gate says about pairs of runs whose true difference is `-drop`."""
    random = np.random.default_rng([tasks, round(drop * 1000), metrics])
    found: Counter[str] = Counter()
    names = [f"metric-{index}" for index in range(metrics)]
    for _ in range(runs):
        difficulty = random.uniform(0.2, 0.9, tasks)
        before = {name: difficulty + random.normal(0, SPREAD / 2**0.5, tasks) for name in names}
        after = {name: difficulty + random.normal(0, SPREAD / 2**0.5, tasks) - drop for name in names}
        found[outcome_of(before, after, settings).verdict] += 1
    return found


def outcomes(tasks: int, lost: float, gained: float, runs: int, settings: GateSettings) -> Counter[str]:
    """The same for pass or fail: shares of tasks lost and gained."""
    random = np.random.default_rng([tasks, round(lost * 1000), round(gained * 1000)])
    found: Counter[str] = Counter()
    for _ in range(runs):
        change = random.choice([-1, 1, 0], p=[lost, gained, 1 - lost - gained], size=tasks)
        before = np.where(change == 0, random.random(tasks) < 0.6, change < 0).astype(float)
        found[outcome_of({"success": before}, {"success": before + change}, settings).verdict] += 1
    return found


def unchanged_outcomes(tasks: int, changed: float, runs: int) -> Counter[str]:
    """The same where nothing changed, but this share of the tasks changes its outcome between two runs."""
    random = np.random.default_rng([tasks, round(changed * 1000)])
    change = random.choice([-1, 1, 0], p=[changed / 2, changed / 2, 1 - changed], size=(runs, tasks))
    before = np.where(change == 0, random.random((runs, tasks)) < 0.6, change < 0).astype(float)
    gate = BatchGate("success", 1, GateSettings(metrics=("success",)))
    return Counter(gate.verdicts(before, before + change).tolist())


def correlated(runs: int, family: str | None) -> tuple[float, float]:
    """Share of false alarms on 60 tasks in 15 families, and of the comparisons that suggest families.

    Half of the variance of a task's difference is common to its family. Without a `family` the tasks count as
    independent.
    """
    settings = GateSettings(metrics=("overall",), task_family=family)
    random = np.random.default_rng(15)
    names = [f"family{number // 4}-{number % 4}" for number in range(60)]
    failed = suggested = 0
    for _ in range(runs):
        common = np.repeat(random.normal(0, 0.5**0.5, 15), 4)
        after = 0.5 + SPREAD * (common + random.normal(0, 0.5**0.5, 60))
        outcome = outcome_of({"overall": np.full(60, 0.5)}, {"overall": after}, settings, names)
        failed += outcome.verdict == "fail"
        suggested += outcome.metrics[0].note is not None
    return failed / runs, suggested / runs


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
    total = sum(found[verdict] for verdict in VERDICTS)
    shares = "".join(f"{found[verdict] / total:>14.3f}" for verdict in VERDICTS)
    print(f"{label:<44}{shares}")


def header() -> None:
    """The names of the columns of `line`."""
    print(f"{'':<44}" + "".join(f"{verdict:>14}" for verdict in VERDICTS))


def measure(home: Installation, drops: Sequence[str], runs: int) -> None:
    """The gate on recorded trials."""
    print(f"{runs} pairs of runs a line\n")
    header()
    for metric in ("success", "overall"):
        trials = trials_of(home, drops, metric)
        for tasks in (30, 50, 100):
            found = on_trials(metric, *unchanged(trials, tasks, runs))
            line(f"{tasks} tasks, {metric}, unchanged", found)
            print(f"    single tasks beyond noise {found['task'] / runs:.3f}")
    trials = trials_of(home, drops, "success")
    for tasks in (50, 100):
        before, after = unchanged(trials, tasks, runs)
        found = on_trials("success", before, worsened(after, 0.1))
        line(f"{tasks} tasks, success 0.1 lower", found)
        print(f"    McNemar conditional {found['conditional'] / runs:.3f}, mid-p {found['mid-p'] / runs:.3f}")


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--runs", type=int, default=2000)
    arguments.add_argument("--home")
    arguments.add_argument("drops", nargs="*")
    given = arguments.parse_args()
    if given.home:
        measure(Installation.at(given.home), given.drops, given.runs)
    else:
        simulate(given.runs)


def simulate(runs: int) -> None:
    """The gate on simulated runs."""
    one = GateSettings(metrics=("metric-0",))
    three = GateSettings(metrics=("metric-0", "metric-1", "metric-2"))
    fixed = GateSettings(metrics=("metric-0",), rule="tolerance")
    print(f"{runs} pairs of runs a line, SD of a task's difference {SPREAD}\n")
    header()
    for tasks in (30, 50, 100):
        line(f"{tasks} tasks, no change", verdicts(tasks, 0.0, runs, one))
    for tasks in (30, 50, 100):
        line(f"{tasks} tasks, no change, 3 gating metrics", verdicts(tasks, 0.0, runs, three, metrics=3))
    for tasks in (30, 50, 100):
        line(f"{tasks} tasks, no change, fixed tolerance", verdicts(tasks, 0.0, runs, fixed))
    for drop in (0.05, 0.10, 0.15):
        line(f"100 tasks, true decrease {drop:.2f}", verdicts(100, drop, runs, one))
    for tasks in (30, 100):
        line(f"{tasks} tasks, outcomes, 10% lost, 10% gained", outcomes(tasks, 0.1, 0.1, runs, GateSettings()))
    line("100 tasks, outcomes, 20% lost, 5% gained", outcomes(100, 0.2, 0.05, runs, GateSettings()))
    for changed in (0.10, 0.18, 0.29, 0.40):
        for tasks in (30, 50, 100):
            line(f"{tasks} tasks, no change, {changed:.0%} flip", unchanged_outcomes(tasks, changed, runs))
    for family in (None, "^[^-]+"):
        failed, suggested = correlated(runs, family)
        print(f"60 tasks in 15 families, task_family {family}: fail {failed:.3f}, families suggested {suggested:.3f}")
    print("\ndrift over 60 nights, 50 tasks          share alarmed    median night")
    for shift in (0.0, 0.05, 0.10):
        share, delay = alarms(shift, 60, max(100, runs // 10))
        print(f"{f'lasting decrease {shift:.2f}':<40}{share:>13.3f}{delay:>16.0f}")


if __name__ == "__main__":
    main()

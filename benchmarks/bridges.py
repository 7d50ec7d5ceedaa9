"""How often the gate is wrong over a change of judges that a bridge links, and how much of the offset is removed.

    python benchmarks/bridges.py [--runs 1000] [--data DATA]

The first simulates an agent that did not change, or got worse, on 50 tasks: a task's score is its difficulty, noise of
the run and noise of the judge. The new judge gives `scale * score + offset`, with noise of its own. The bridge is made
from runs of the old drops.

The second takes the labels of steps by three models on 125 runs of a search agent, five for each of 25 questions
(`agent-process-bench`): for each pair of models, two runs of each question are the baseline, scored by the one, and the
current drop, scored by the other; the bridge is made from the three runs that are left. Seeds are fixed.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from statistics import fmean

import numpy as np

from evaluation_assets.core.gating.baselines import as_baseline
from evaluation_assets.core.gating.bridges import Bridges, differences, offset_of
from evaluation_assets.core.gating.gate import decide
from evaluation_assets.core.gating.outcome import Bridge, GateOutcome
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.gating.task_metrics import DropMetrics, TaskValue

OLD, NEW = {"judge old": "m 1"}, {"judge new": "m 2"}
SETTINGS = GateSettings(metrics=("overall",))


@dataclass(frozen=True)
class Rates:
    """Shares of comparisons that fail or warn; the mean difference without and with the bridge."""

    fails: float
    warns: float
    inconclusive: float
    raw: float
    linked: float

    @property
    def alarms(self) -> float:
        """The share of comparisons that fail or warn."""
        return self.fails + self.warns

    @property
    def removed(self) -> float:
        """The share of the mean difference that the bridge takes away."""
        return 1 - abs(self.linked / self.raw)


@dataclass(frozen=True)
class Linked:
    """A comparison over a bridge, and the mean difference without it."""

    outcome: GateOutcome
    raw: float


def linked(before: np.ndarray, after: np.ndarray, bridge: list[tuple[int, float]]) -> Linked:
    """The gate on scores by task; `bridge` has the task and the difference of each run that both judges scored."""
    offset = offset_of([difference for _, difference in bridge], [task for task, _ in bridge])
    assert offset is not None
    made = Bridge(
        old="old",
        new="new",
        made_at="",
        drops=(),
        asked=("new",),
        comparability=OLD,
        differs=differences(OLD, NEW),
        offsets={"overall": offset},
    )
    baseline = as_baseline([_drop("before", before, OLD)])
    outcome = decide(baseline, _drop("after", after, NEW), SETTINGS, Bridges(suite="s", bridges=(made,)))
    assert outcome is not None and outcome.comparability.linked is not None
    return Linked(outcome, float(np.mean(after - before)))


def _drop(name: str, scores: np.ndarray, parts: dict[str, str]) -> DropMetrics:
    values = {f"task-{number}": TaskValue(score, score, score) for number, score in enumerate(map(float, scores))}
    return DropMetrics(
        drop=name, suite="s", comparability=parts, tasks=dict.fromkeys(values, ""), metrics={"overall": values}
    )


def rates(compared: list[Linked]) -> Rates:
    """What comparisons come to."""
    verdicts = [each.outcome.verdict for each in compared]
    shares = [verdicts.count(verdict) / len(verdicts) for verdict in ("fail", "warn", "inconclusive")]
    found = [each.outcome.metrics[0].difference or 0.0 for each in compared]
    return Rates(*shares, raw=fmean(each.raw for each in compared), linked=fmean(found))


def simulated(
    runs: int, *, offset: float, scale: float = 1.0, worse: float = 0.0, sample: int = 100, tasks: int = 50
) -> Rates:
    """Comparisons of runs whose true scores are `worse` lower, over a bridge of `sample` runs."""
    random = np.random.default_rng(11)

    def old(true: np.ndarray) -> np.ndarray:
        return true + random.normal(0, 0.1, true.shape)

    def new(true: np.ndarray) -> np.ndarray:
        return offset + scale * true + random.normal(0, 0.1, true.shape)

    compared: list[Linked] = []
    for _ in range(runs):
        difficulty = random.uniform(0.3, 0.9, tasks)

        def run(difficulty: np.ndarray = difficulty) -> np.ndarray:
            return difficulty + random.normal(0, 0.2, tasks)

        first = run()
        before = old(first)
        # The baseline's own runs are part of the bridge, as they are of an installation.
        trials = [(first, before), *((true, old(true)) for true in (run() for _ in range(3)))]
        pairs = [(task, float(new(true[task]) - scored[task])) for true, scored in trials for task in range(tasks)]
        compared.append(linked(before, new(run() - worse), pairs[:sample]))
    return rates(compared)


def recorded(data: Path, runs: int) -> dict[tuple[str, str], Rates]:
    """The same of recorded labels of steps, for each pair of models."""
    labels: dict[str, dict[tuple[int, int], float]] = {}
    for path in sorted((data / "agent-process-bench" / "llm_annotations").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            own = json.loads(line)
            steps = [(1 + label) / 2 for label in own["step_labels"].values()]
            if steps:
                run = (own["query_index"], own["sample_index"])
                labels.setdefault(own["annotator"], {})[run] = fmean(steps)
    return {pair: _of_pair(labels[pair[0]], labels[pair[1]], runs) for pair in permutations(labels, 2)}


def _of_pair(old: dict[tuple[int, int], float], new: dict[tuple[int, int], float], runs: int) -> Rates:
    random = np.random.default_rng(12)
    by_task: dict[int, list[tuple[int, int]]] = {}
    for run in sorted(old.keys() & new.keys()):
        by_task.setdefault(run[0], []).append(run)
    compared: list[Linked] = []
    for _ in range(runs):
        drawn = [[own[place] for place in random.permutation(len(own))] for own in by_task.values() if len(own) > 2]
        pairs = [(number, new[run] - old[run]) for number, own in enumerate(drawn) for run in own[2:]]
        before, after = (np.array([scores[own[at]] for own in drawn]) for at, scores in ((0, old), (1, new)))
        compared.append(linked(before, after, pairs))
    return rates(compared)


def _row(name: str, found: Rates, *, changed: bool = False) -> str:
    removed = "" if changed else f"{found.removed:.0%}"
    shares = [f"{share:.3f}" for share in (found.fails, found.warns, found.inconclusive)]
    return " | ".join(["", name, *shares, f"{found.raw:+.3f}", f"{found.linked:+.3f}", removed, ""]).strip()


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    simulate: Callable[..., Rates] = simulated
    print("| | fail | warn | inconclusive | difference | linked | removed |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, settings in {
        "offset 0.15": {"offset": 0.15},
        "offset -0.15": {"offset": -0.15},
        "offset 0.15, bridge of 20 runs": {"offset": 0.15, "sample": 20},
        "half the scale, offset 0.4": {"offset": 0.4, "scale": 0.5},
        "half the scale, offset 0.1": {"offset": 0.1, "scale": 0.5},
        "offset 0.15, agent 0.10 worse": {"offset": 0.15, "worse": 0.1},
        "half the scale, offset 0.4, agent 0.10 worse": {"offset": 0.4, "scale": 0.5, "worse": 0.1},
    }.items():
        print(_row(name, simulate(given.runs, **settings), changed="worse" in settings))
    if given.data is not None:
        for (old, new), found in recorded(given.data, given.runs).items():
            print(_row(f"{old} to {new}", found))


if __name__ == "__main__":
    main()

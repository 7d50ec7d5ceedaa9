"""What a cascade of recorded judges accepts, how often it is wrong, and which calls it saves, on steps people labelled.

    python benchmarks/cascade.py [FOLDER] [SPLITS]

FOLDER is a copy of the repository RUCBM/AgentProcessBench (predictions of 20 models on 8509 steps of 1000 trajectories,
and labels of people); default: `~/.cache/evaluation-assets/agent-process-bench`. A step passes if it was labelled +1.

Each split draws half of the trajectories (or of the tasks, five trajectories each) to fit the cascade, and measures
on the other half: the share of accepted verdicts that differ from the label of people, Cohen's kappa with these
labels, and the share of steps on which the last, most expensive judge is asked. Kappa is over all steps: where no stage
accepts, the last stage's more likely verdict counts, so that no person is involved.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import orjson

from evaluation_assets.core.judging.cascade.fitted import FittedCriterion, chances
from evaluation_assets.core.judging.cascade.fitting import LabelledSubjects, fit_criterion
from evaluation_assets.core.scoring.reliability import cohen_kappa

FOLDER = Path.home() / ".cache" / "evaluation-assets" / "agent-process-bench"
DATA_SETS = ("bfcl", "gaia_dev", "hotpotqa", "tau2")
STAGES = (
    ("Qwen3-30B-A3B-Instruct-2507",),
    ("Gemini-3-Flash-Preview", "GPT-5.2-Chat", "DeepSeek-V3.2"),
    ("Gemini-3-Flash-Preview-Thinking",),
)
"""A small judge, a panel, and the judge with the highest kappa of all twenty."""

DELTA = 0.05
_SIGNALS = {1: 1.0, 0: 0.5, -1: 0.0}


@dataclass(frozen=True)
class Steps:
    """All steps with labels of people. `tasks` names the task of each."""

    labelled: LabelledSubjects
    tasks: Sequence[str]


@dataclass(frozen=True)
class Measured:
    """One split: figures of the half that the cascade was not fitted on; shares of its steps."""

    errors: float
    accepted: float
    asked: float
    kappa: float
    kappa_of_best: float


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    splits = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    steps = read_steps(folder)
    print(f"{len(steps.tasks)} steps, {len(set(steps.labelled.clusters))} trajectories, {len(set(steps.tasks))} tasks")
    print("Errors of single judges:")
    for judge, said in steps.labelled.signals.items():
        known = ~np.isnan(said)
        passed, truth = (said > 0.5)[known], steps.labelled.passes[known]
        print(f"  {judge:32} {(passed != truth).mean():.3f}, kappa {cohen_kappa(list(passed), list(truth)):.3f}")
    for unit in ("trajectory", "task"):
        for alpha in (0.1, 0.12, 0.15, 0.17, 0.2):
            print(f"alpha {alpha}, delta {DELTA}, {splits} splits by {unit}: {summary(steps, alpha, unit, splits)}")


def summary(steps: Steps, alpha: float, unit: str, splits: int) -> str:
    """The figures of many splits in one line."""
    found = list(measured(steps, alpha, unit, splits))
    some = [each for each in found if each.accepted]
    held = fmean(each.errors <= alpha for each in found)
    if not some:
        return "nothing is accepted in any"
    no_worse = fmean(each.kappa >= each.kappa_of_best for each in some)
    accepted, wrong = fmean(each.accepted for each in some), fmean(each.errors for each in some)
    return (
        f"bound holds in {held:.1%}; {len(some)} accept something. Of those, means: accepted {accepted:.1%}, wrong "
        f"{wrong:.3f}; last judge asked {fmean(each.asked for each in some):.1%}; kappa "
        f"{fmean(each.kappa for each in some):.3f}, of the last judge alone "
        f"{fmean(each.kappa_of_best for each in some):.3f} (no lower in {no_worse:.1%})"
    )


def read_steps(folder: Path, stages: Sequence[Sequence[str]] = STAGES) -> Steps:
    """The steps with labels of people, and what the judges of the stages said about them."""
    rows = [
        (name, row["record_id"], step, label)
        for name in DATA_SETS
        for row in _lines(folder / "data" / "AnswerOnly" / f"{name}_final.jsonl")
        for step, label in row["step_labels"].items()
    ]
    signals = {}
    for judge in (name for stage in stages for name in stage):
        said = _said(folder / "eval" / "results", judge)
        signals[judge] = np.array([said.get((record, step), np.nan) for _, record, step, _ in rows])
    clusters = [record for _, record, _, _ in rows]
    labelled = LabelledSubjects(
        signals, [name for name, _, _, _ in rows], clusters, np.array([label == 1 for _, _, _, label in rows])
    )
    return Steps(labelled, [record.rpartition(":")[0] for record in clusters])


def measured(steps: Steps, alpha: float, unit: str, splits: int, seed: int = 0) -> Iterator[Measured]:
    """Fit on a random half of the trajectories or tasks, measure on the other."""
    clusters = steps.labelled.clusters if unit == "trajectory" else steps.tasks
    whole = LabelledSubjects(steps.labelled.signals, steps.labelled.kinds, clusters, steps.labelled.passes)
    names, number = np.unique(clusters, return_inverse=True)
    random = np.random.default_rng(seed)
    for _ in range(splits):
        is_fitted = (random.permutation(len(names)) < len(names) // 2)[number]
        fitted = fit_criterion("clip", "step", whole.part(is_fitted), STAGES, alpha=alpha, delta=DELTA)
        yield _measured(fitted, whole.part(~is_fitted))


def _measured(fitted: FittedCriterion, unseen: LabelledSubjects) -> Measured:
    found = fitted.decisions(unseen.signals, unseen.kinds)
    last = len(fitted.stages) - 1
    is_accepted = found.stage >= 0
    chance = chances(fitted.stages, unseen.signals, unseen.kinds)[last]
    verdicts = np.where(is_accepted, found.passes, chance >= 0.5)
    best = unseen.signals[STAGES[-1][-1]] > 0.5
    truth = list(unseen.passes)
    return Measured(
        errors=float((found.passes != unseen.passes)[is_accepted].mean()) if is_accepted.any() else 0.0,
        accepted=float(is_accepted.mean()),
        asked=float(((found.stage < 0) | (found.stage == last)).mean()),
        kappa=cohen_kappa(list(verdicts), truth) or 0.0,
        kappa_of_best=cohen_kappa(list(best), truth) or 0.0,
    )


def _said(results: Path, judge: str) -> dict[tuple[str, str], float]:
    # Some folders have a space behind the judge's name.
    folder = next(path for path in results.iterdir() if path.name.strip() == judge)
    return {
        (row["record_id"], step): _SIGNALS[label]
        for path in sorted(folder.glob("*.jsonl"))
        for row in _lines(path)
        for step, label in (row["step_labels"] or {}).items()
        if label in _SIGNALS
    }


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as lines:
        for line in lines:
            yield orjson.loads(line)


if __name__ == "__main__":
    main()

"""What a cascade of recorded judges accepts, how often it is wrong, and which calls it saves, on steps people labelled.

    python benchmarks/cascade.py [FOLDER] [SPLITS]

FOLDER is a copy of the repository RUCBM/AgentProcessBench (predictions of 20 models on 8509 steps of 1000 trajectories,
and labels of people); default: `~/.cache/evaluation-assets/agent-process-bench`. A step passes if it was labelled +1.

Variants of the method were tried with the judges of `STAGES`; two rules for alpha were also compared on the second of
`UNSEEN`, and whether all judges that were asked or the last stage decides on both. The alpha "of the last judge" is
chosen in each split, by labels that neither test nor measure.

Each split draws half of the trajectories (or of the tasks, five trajectories each) to fit the cascade, and measures
on the other half: the share of accepted verdicts that differ from the label of people, Cohen's kappa with these
labels, and the share of steps on which the last, most expensive judge is asked. Kappa is over all steps: where no stage
accepts, the last stage decides, so that no person is involved.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import orjson

from evaluation_assets.core.judging.cascade.fitted import FittedCriterion, Subjects, stage_verdicts
from evaluation_assets.core.judging.cascade.fitting import LabelledSubjects, fit_criterion, is_teaching
from evaluation_assets.core.review.settings import ReviewSettings
from evaluation_assets.core.scoring.reliability import cohen_kappa

FOLDER = Path.home() / ".cache" / "evaluation-assets" / "agent-process-bench"
DATA_SETS = ("bfcl", "gaia_dev", "hotpotqa", "tau2")
STAGES = (
    ("Qwen3-30B-A3B-Instruct-2507",),
    ("Gemini-3-Flash-Preview", "GPT-5.2-Chat", "DeepSeek-V3.2"),
    ("Gemini-3-Flash-Preview-Thinking",),
)
"""A small judge, a panel, and the judge with the highest kappa of all twenty."""

UNSEEN = (
    (
        ("Qwen3-4B-Instruct-2507",),
        ("GPT-5.2", "Kimi-K2.5", "Qwen3-30B-A3B-Thinking-2507"),
        ("GPT-5.2-Thinking (medium)",),
    ),
    (
        ("Qwen3-8B",),
        ("GPT-5.2", "DeepSeek-V3.2-Thinking", "Llama-3.3-70B-Instruct"),
        ("Kimi-K2.5-Thinking",),
    ),
)
"""The same of the other fifteen judges, named before they were measured."""

DELTA = 0.05
PASS_SCORE = ReviewSettings().pass_score
_SIGNALS = {1: 1.0, 0: 0.5, -1: 0.0}


@dataclass(frozen=True)
class Steps:
    """All steps with labels of people, and the judges of `stages`. `tasks` names the task of each."""

    stages: Sequence[Sequence[str]]
    labelled: LabelledSubjects
    tasks: Sequence[str]


@dataclass(frozen=True)
class Measured:
    """One split: figures of the half that the cascade was not fitted on; shares of its steps."""

    alpha: float
    errors: float
    accepted: float
    asked: float
    kappa: float
    kappa_of_best: float


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    splits = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    for stages in (STAGES, *UNSEEN):
        steps = read_steps(folder, stages)
        n_trajectories, n_tasks = len(set(steps.labelled.clusters)), len(set(steps.tasks))
        print(f"{len(steps.tasks)} steps, {n_trajectories} trajectories, {n_tasks} tasks. Errors of single judges:")
        for judge, said in steps.labelled.subjects.signals.items():
            kappa = cohen_kappa(list((said > 0.5)[~np.isnan(said)]), list(steps.labelled.passes[~np.isnan(said)]))
            print(f"  {judge:32} {errors_of(steps.labelled, judge):.3f}, kappa {kappa:.3f}")
        for unit in ("trajectory", "task"):
            for alpha in (None, 0.12, 0.15, 0.17, 0.2) if stages == STAGES else (None,):
                name = "of the last judge" if alpha is None else alpha
                found = list(measured(steps, alpha, unit, splits))
                print(f"alpha {name}, {splits} splits by {unit}: {summary(found)}", flush=True)


def errors_of(labelled: LabelledSubjects, judge: str) -> float:
    """The share of a judge's verdicts that differ from the label."""
    said = labelled.subjects.signals[judge]
    is_known = ~np.isnan(said)
    return float(((said > 0.5) != labelled.passes)[is_known].mean())


def own_alpha(labelled: LabelledSubjects, stages: Sequence[Sequence[str]]) -> float:
    """The errors of the last judge, up to the next hundredth, on those labels that test no threshold."""
    return ceil(100 * errors_of(labelled.part(is_teaching(labelled.clusters)), stages[-1][-1])) / 100


def summary(found: Sequence[Measured]) -> str:
    """The figures of many splits in one line."""
    some = [each for each in found if each.accepted]
    held = fmean(each.errors <= each.alpha for each in found)
    if not some:
        return "nothing is accepted in any"

    def of(name: str) -> np.ndarray:
        return np.array([getattr(each, name) for each in some])

    def interval(name: str) -> str:
        low, high = np.quantile(of(name), (0.025, 0.975))
        return f"{of(name).mean():.3f} ({low:.3f} to {high:.3f})"

    accepted, wrong, asked = of("accepted").mean(), of("errors").mean(), of("asked").mean()
    return (
        f"mean alpha {of('alpha').mean():.3f}; bound holds in {held:.1%}; {len(some)} accept something. Of those: "
        f"accepted {accepted:.1%}, wrong {wrong:.3f}; last judge asked {asked:.1%}; kappa, with 95% of the splits: "
        f"{interval('kappa')}, of the last judge alone {interval('kappa_of_best')}"
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
    subjects = Subjects(
        signals,
        signals,
        [name for name, _, _, _ in rows],
        np.array([place for record in Counter(clusters).values() for place in range(record)]),
    )
    labelled = LabelledSubjects(subjects, clusters, np.array([label == 1 for _, _, _, label in rows]))
    return Steps(stages, labelled, [record.rpartition(":")[0] for record in clusters])


def measured(steps: Steps, alpha: float | None, unit: str, splits: int, seed: int = 0) -> Iterator[Measured]:
    """Fit on a random half of the trajectories or tasks, measure on the other; `None` is the half's `own_alpha`."""
    clusters = steps.labelled.clusters if unit == "trajectory" else steps.tasks
    whole = replace(steps.labelled, clusters=clusters)
    names, number = np.unique(clusters, return_inverse=True)
    random = np.random.default_rng(seed)
    for _ in range(splits):
        is_fitted = (random.permutation(len(names)) < len(names) // 2)[number]
        own = whole.part(is_fitted)
        chosen = own_alpha(own, steps.stages) if alpha is None else alpha
        fitted = fit_criterion("clip", "step", own, steps.stages, alpha=chosen, delta=DELTA, pass_score=PASS_SCORE)
        yield _measured(fitted, whole.part(~is_fitted), steps.stages[-1][-1], chosen)


def _measured(fitted: FittedCriterion, unseen: LabelledSubjects, last_judge: str, alpha: float) -> Measured:
    found = fitted.decisions(unseen.subjects, PASS_SCORE)
    last = len(fitted.stages) - 1
    is_accepted = found.stage >= 0
    best = unseen.subjects.signals[last_judge] > 0.5
    others = stage_verdicts(fitted.stages, unseen.subjects, PASS_SCORE)[last].passes if fitted.stages else best
    verdicts = np.where(is_accepted, found.passes, others)
    truth = list(unseen.passes)
    return Measured(
        alpha=alpha,
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

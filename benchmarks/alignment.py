"""Whether the maps that `panel align` adopts are better on unseen tasks, and the length bias of a recorded judge.

    python -m benchmarks.alignment DATA [FOLDER]

FOLDER is a copy of the repository RUCBM/AgentProcessBench (see `benchmarks/cascade.py`): 20 models as judges of 1000
runs of 200 tasks, and labels of people. A judge's score of a run is the mean of its step labels, and what people say of
the whole run is the truth. In each of 20 splits, half of the tasks are labelled: a map is fitted and adopted or not.
Kappa is then measured on the other tasks.

DATA has the folder `judgebench`: choices of one judge between two answers, in both orders, of which one is right. The
slope is that of its share of choices of the first answer on the logarithm of how many times longer that is.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
import orjson

from benchmarks.cascade import DATA_SETS, FOLDER
from evaluation_assets.core.judging.score_map import counts_as
from evaluation_assets.core.review.alignment import Judged, aligned, decides, fitted_map
from evaluation_assets.core.review.length_bias import LengthSlope, slope_at_equal_label
from evaluation_assets.core.review.settings import ReviewSettings
from evaluation_assets.core.scoring.reliability import cohen_kappa

PASS_SCORE = ReviewSettings().pass_score
SPLITS = 20
_CHOSEN = {"A>B": 1.0, "A=B": 0.5, "B>A": 0.0}


class Run(NamedTuple):
    """The label of people, 0 or 1, and the score of a judge, 0..1."""

    task: str
    label: float
    score: float


class Found(NamedTuple):
    """Kappa and bias of the pass rate on the tasks without labels: of the judge as it is, and of what was adopted."""

    is_adopted: bool
    kappa: float
    kappa_after: float
    bias: float
    bias_after: float


def main() -> None:
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else FOLDER
    results = sorted(path for path in (folder / "eval" / "results").iterdir() if path.is_dir())
    judges = {path.name.strip(): list(runs_of(folder, path)) for path in results}
    found = {name: [measured(runs, seed) for seed in range(SPLITS)] for name, runs in judges.items()}
    print(f"{len(judges)} judges, {SPLITS} splits; means over the splits in which a map is adopted, on unseen tasks:")
    for name, splits in found.items():
        own = [each for each in splits if each.is_adopted]
        figures = (
            ""
            if not own
            else (
                f"kappa {fmean(each.kappa for each in own):.2f} -> {fmean(each.kappa_after for each in own):.2f}, "
                f"bias {fmean(each.bias for each in own):+.2f} -> {fmean(each.bias_after for each in own):+.2f}"
            )
        )
        print(f"  {name:<34} adopted {len(own):>2} of {SPLITS}  {figures}")
    for is_adopted, name in ((True, "adopted"), (False, "not adopted")):
        rises = [
            each.kappa_after - each.kappa
            for splits in found.values()
            for each in splits
            if each.is_adopted is is_adopted
        ]
        better = sum(rise > 0 for rise in rises)
        print(f"{len(rises)} maps {name}: better on unseen tasks {better}, mean rise of kappa {fmean(rises):.2f}")
    slope = length_slope(Path(sys.argv[1]) / "judgebench")
    print(f"judgebench: {slope.slope:+.3f} ({slope.low:+.3f} to {slope.high:+.3f}) for each doubling")


def runs_of(folder: Path, results: Path) -> Iterator[Run]:
    """The runs that people and the judge labelled."""
    said = {
        row["record_id"]: [label for label in (row["step_labels"] or {}).values() if label in (-1, 0, 1)]
        for file in results.glob("*.jsonl")
        for row in map(orjson.loads, file.read_bytes().splitlines())
    }
    for name in DATA_SETS:
        for line in (folder / "data" / "AnswerOnly" / f"{name}_final.jsonl").read_bytes().splitlines():
            row = orjson.loads(line)
            if steps := said.get(row["record_id"]):
                yield Run(row["record_id"].rpartition(":")[0], float(row["final_label"] == 1), (fmean(steps) + 1) / 2)


def measured(runs: Sequence[Run], seed: int) -> Found:
    """Align with the labels of half of the tasks, and compare on the other."""
    tasks = sorted({run.task for run in runs})
    labelled = set(np.random.default_rng(seed).permutation(tasks)[: len(tasks) // 2])
    known = [run for run in runs if run.task in labelled]
    made_from, deciding = ([run for run in known if decides(run.task) is half] for half in (False, True))
    points = fitted_map([run.score for run in made_from], [run.label for run in made_from])
    judged = Judged(
        [run.label for run in deciding],
        [run.task for run in deciding],
        {"none": _passed(deciding), "map": _passed(deciding, points)},
    )
    is_adopted = aligned(judged, "").adopted is not None
    unseen = [run for run in runs if run.task not in labelled]
    truth = [run.label == 1 for run in unseen]
    before, after = _passed(unseen), _passed(unseen, points)
    rates = [fmean(passed) - fmean(truth) for passed in (before, after)]
    return Found(is_adopted, cohen_kappa(before, truth) or 0.0, cohen_kappa(after, truth) or 0.0, *rates)


def _passed(runs: Sequence[Run], points: tuple[tuple[float, float], ...] = ()) -> list[bool]:
    return [counts_as(run.score, points) >= PASS_SCORE for run in runs]


def length_slope(folder: Path) -> LengthSlope:
    """The length bias of the judge of JudgeBench; a pair whose orders give no two choices is left out."""
    chosen, labels, ratios, tasks = [], [], [], []
    (file,) = (folder / "outputs").iterdir()
    for row in map(orjson.loads, file.read_bytes().splitlines()):
        first, second = (_CHOSEN.get(each["decision"]) for each in row["judgments"])
        if first is None or second is None:
            continue
        chosen.append((first + 1 - second) / 2)
        labels.append(_CHOSEN[row["label"]])
        ratios.append(len(row["response_A"]) / len(row["response_B"]))
        tasks.append(row["question"])
    print(f"judgebench: {len(chosen)} pairs; right, wrong or even: {_counts(chosen, labels)}")
    return slope_at_equal_label(chosen, labels, ratios, tasks)


def _counts(chosen: Sequence[float], labels: Sequence[float]) -> dict[str, int]:
    return dict(
        Counter(
            "even" if own == 0.5 else "right" if (own > 0.5) == (label == 1) else "wrong"
            for own, label in zip(chosen, labels, strict=True)
        )
    )


if __name__ == "__main__":
    main()

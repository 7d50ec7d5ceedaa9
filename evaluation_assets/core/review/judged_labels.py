"""Join human labels with verdicts: rows of `judge_cards` and `pass_rates`."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import NamedTuple

from evaluation_assets.core.gating.evaluated_drops import of_each_drop, without_damaged
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.rubrics.model import load_rubrics
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.review.alignment import Alignment, decides
from evaluation_assets.core.review.attacks import Attack
from evaluation_assets.core.review.calibrated import Stratum, pass_rate
from evaluation_assets.core.review.judge_cards import judge_card
from evaluation_assets.core.review.labels import PASSED
from evaluation_assets.core.review.length_bias import LengthSlope, no_slope, slope_at_equal_label
from evaluation_assets.core.review.measured import Measured, read_measured
from evaluation_assets.core.review.settings import ReviewSettings
from evaluation_assets.core.scoring.panel_scores import OVERALL
from evaluation_assets.core.scoring.reliability import effective_judges, table_of
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.nullable import mean_label

Subject = tuple[str, str, int | None]
"""Drop, trajectory, and the clip where a label is about one."""


class Run(NamedTuple):
    """The task of a trajectory, and the characters of its final answer: 0 if it has none."""

    task: str
    answer_length: int


CLIP = "clip"
"""What labels of whole clips are about; labels of a criterion of clips are about `clip.<criterion>`."""

PANEL = "panel"

_UNKNOWN_BIAS = "no labelled answers; `panel attack` measures it by padding"

_log = logging.getLogger(__name__)


def card_rows(
    home: Installation, judges: Sequence[Judge], labels: Iterable[Row], settings: ReviewSettings
) -> Iterator[Row]:
    """Rows of `judge_cards`: every judge on every criterion that people labelled.

    A judge that is aligned is compared with the labels that its map and examples were not made from. A judge of whose
    version more was measured has a card without labels, too.

    Raises:
        InvalidMeasured: what was measured of a judge cannot be read.
        InvalidRubric: a file of the installation is no rubric.
    """
    by_criterion = _by_criterion(labels)
    measured = {judge.name: read_measured(home, judge.name).of_version(judge.version) for judge in judges}
    has_examples = bool(load_rubrics(home.rubrics).choose("trajectory").examples)
    is_aligned = {judge.name: has_examples or bool(judge.selection.score_map) for judge in judges}
    if any(each != Measured() for each in measured.values()):
        by_criterion.setdefault(PASSED, {})
    drops = sorted({drop for subjects in by_criterion.values() for drop, *_ in subjects})
    has_clips = any(clip is not None for subjects in by_criterion.values() for *_, clip in subjects)
    verdicts = {judge.name: _verdicts(home, drops, judge.name, has_clips) for judge in judges}
    runs = runs_of(home, drops)
    for criterion, every in sorted(by_criterion.items()):
        samples = {judge: _samples(own, criterion) for judge, own in verdicts.items()}
        n_eff = _effective(every, {judge: _means(own) for judge, own in samples.items()})
        for judge in verdicts:
            own = measured[judge] if criterion == PASSED else Measured()
            truth = {
                subject: label for subject, label in every.items() if not is_aligned[judge] or _decides(subject, runs)
            }
            if not truth and own == Measured():
                continue
            costs = [
                row["cost_usd"]
                for subject in truth
                for row in verdicts[judge].get(subject, [])
                if row["cost_usd"] is not None
            ]
            labelled = {_name(subject): value for subject, value in truth.items()}
            said = {_name(subject): values for subject, values in samples[judge].items()}
            asked = sum(bool(_about(verdicts[judge].get(subject, ()), criterion)) for subject in truth)
            tasks = {_name(subject): runs[subject[:2]].task for subject in truth if subject[:2] in runs}
            figures = asdict(judge_card(judge, criterion, labelled, said, settings, costs, asked, tasks))
            for name in ("kappa", "alpha", "sensitivity", "specificity"):
                figures[f"{name}_low"], figures[f"{name}_high"] = figures.pop(f"{name}_interval")
            slope = _length_slope(truth, _means(samples[judge]), runs)
            if slope.slope is None and own.attack is not None and own.attack.padding.slope is not None:
                slope = own.attack.padding
            yield {
                **figures,
                "effective_judges": n_eff,
                **_slope_columns(slope),
                **_alignment_columns(own.alignment),
                **_attack_columns(own.attack),
            }


def _decides(subject: Subject, runs: Mapping[tuple[str, str], Run]) -> bool:
    """Whether no map and no example can have been made from the label; of clips, none is."""
    drop, trajectory, clip = subject
    run = runs.get((drop, trajectory))
    return clip is not None or run is None or decides(run.task)


def _length_slope(
    truth: Mapping[Subject, float], scores: Mapping[Subject, float], runs: Mapping[tuple[str, str], Run]
) -> LengthSlope:
    if any(clip is not None for *_, clip in truth):
        return no_slope("clips have no answers")
    answered = [
        (scores[subject], label, run.answer_length, run.task)
        for subject, label in truth.items()
        if subject in scores and (run := runs.get(subject[:2])) is not None and run.answer_length
    ]
    return slope_at_equal_label(*map(list, zip(*answered, strict=True))) if answered else no_slope(_UNKNOWN_BIAS)


def _slope_columns(slope: LengthSlope) -> Row:
    return {
        "length_slope": slope.slope,
        "length_slope_low": slope.low,
        "length_slope_high": slope.high,
        "length_slope_basis": slope.basis,
    }


def _alignment_columns(alignment: Alignment | None) -> Row:
    if alignment is None:
        return {"adopted": None, "alignment": None}
    return {
        "adopted": alignment.adopted or "none",
        "alignment": [agreement.model_dump() for agreement in alignment.agreements],
    }


_ATTACK = ("gives_in_to", "attacked_on", "attacked_drop", "attacked_version", "attacked_prompt", "attack")


def _attack_columns(attack: Attack | None) -> Row:
    if attack is None:
        return dict.fromkeys(_ATTACK)
    return {
        "gives_in_to": ", ".join(attack.caught) or ("none" if attack.is_measured else "not measurable"),
        "attacked_on": attack.on.isoformat(),
        "attacked_drop": attack.drop,
        "attacked_version": attack.judge_version,
        "attacked_prompt": attack.prompt_version,
        "attack": [result.model_dump() for result in attack.probes],
    }


def runs_of(home: Installation, drops: Sequence[str]) -> dict[tuple[str, str], Run]:
    """The trajectories of these drops that were evaluated; runs of a task in several drops belong together."""

    def read(drop: str) -> dict[tuple[str, str], Run]:
        rows = home.table(drop, "preprocessed_trajectories").rows(["trajectory_id", "task_id", "final_answer"])
        return {(drop, row["trajectory_id"]): Run(row["task_id"], len(row["final_answer"] or "")) for row in rows}

    return {subject: task for each in without_damaged(drops, read, _log.warning) for subject, task in each.items()}


def labels_of_trajectories(home: Installation, drop: str) -> dict[str, float]:
    """People's labels of a drop's whole trajectories, averaged, from the stored `labels`."""
    rows = (row for row in home.whole_table("labels").rows() if row["drop"] == drop)
    return {trajectory: label for (_, trajectory, _), label in _by_criterion(rows).get(PASSED, {}).items()}


def _by_criterion(labels: Iterable[Row]) -> dict[str, dict[Subject, float]]:
    """The labels of people, averaged a subject; none where they contradict each other."""
    collected: dict[str, dict[Subject, list[float]]] = {}
    for row in labels:
        clip, criterion = row["clip_index"], row["criterion"]
        if clip is not None:
            criterion = CLIP if criterion == PASSED else f"{CLIP}.{criterion.removeprefix(f'{CLIP}.')}"
        collected.setdefault(criterion, {}).setdefault((row["drop"], row["trajectory_id"], clip), []).append(
            row["label"]
        )
    return {
        criterion: {subject: mean for subject, values in subjects.items() if (mean := mean_label(values)) is not None}
        for criterion, subjects in collected.items()
    }


def _name(subject: Subject) -> str:
    drop, trajectory, clip = subject
    return f"{drop}/{trajectory}" if clip is None else f"{drop}/{trajectory}/{CLIP}/{clip}"


def _verdicts(
    home: Installation, drops: Sequence[str], judge: str, has_clips: bool = False
) -> dict[Subject, list[Row]]:
    """The verdicts of a judge on trajectories, with `has_clips` also those on clips, which have the subject `clip`."""
    by_subject: dict[Subject, list[Row]] = {}
    columns = ["trajectory_id", "outcome", "scores", "cost_usd"]

    def read(drop: str) -> tuple[str, list[Row]]:
        rows = list(home.table(drop, "trajectory_verdicts", judge).rows([*columns, "subject"]))
        if has_clips:
            clips = home.table(drop, "clip_verdicts", judge).rows([*columns, "clip_index"])
            rows += [{**row, "subject": CLIP} for row in clips]
        return drop, rows

    for drop, rows in without_damaged(drops, read, _log.warning):
        for row in rows:
            by_subject.setdefault((drop, row["trajectory_id"], row.get("clip_index")), []).append(row)
    return by_subject


def _samples(verdicts: Mapping[Subject, Sequence[Row]], criterion: str) -> dict[Subject, list[float]]:
    """A judge's scores by subject: of one criterion, or for whole trajectories and clips the mean of their criteria.

    Several where the judge repeats itself.
    """
    _, dot, name = criterion.partition(".")
    by_subject: dict[Subject, list[float]] = {}
    for subject, rows in verdicts.items():
        for row in _about(rows, criterion):
            if row["outcome"] != "scored":
                continue
            given = row["scores"] or {}
            values = given.values() if criterion in (PASSED, CLIP) else [given.get(name if dot else criterion)]
            known = [value for value in values if value is not None]
            if known:
                by_subject.setdefault(subject, []).append(fmean(known))
    return by_subject


def _about(verdicts: Iterable[Row], criterion: str) -> list[Row]:
    """The verdicts of the level that a criterion belongs to."""
    level, dot, _ = criterion.partition(".")
    return [row for row in verdicts if row["subject"] == (level if dot or criterion == CLIP else "trajectory")]


def _means(samples: Mapping[Subject, Sequence[float]]) -> dict[Subject, float]:
    return {subject: fmean(values) for subject, values in samples.items()}


def _effective(truth: Mapping[Subject, float], scores: Mapping[str, Mapping[Subject, float]]) -> float | None:
    if len(scores) < 2:
        return None
    subjects = sorted(truth)
    table = table_of({judge: [own.get(subject) for subject in subjects] for judge, own in scores.items()})
    return effective_judges(table, [truth[subject] for subject in subjects])


def pass_rate_rows(
    home: Installation, judges: Sequence[str], labels: Iterable[Row], settings: ReviewSettings
) -> Iterator[Row]:
    """Rows of `pass_rates`: the panel and every judge on every drop that was reviewed.

    Labels count by the stratum of the drop's review queue: of what no rule chose, only those drawn at random.
    """
    truth = _by_criterion(labels).get(PASSED, {})

    def read(drop: str) -> list[Row]:
        queue = {
            row["trajectory_id"]: row["stratum"]
            for row in home.table(drop, "review_queue").rows(["trajectory_id", "stratum"])
        }
        by_judge = {PANEL: _panel_means(home, drop)} | {
            judge: _means(_samples(_verdicts(home, [drop], judge), PASSED)) for judge in judges
        }
        passed = {
            judge: {subject: float(score >= settings.pass_score) for subject, score in scores.items()}
            for judge, scores in by_judge.items()
        }
        return [{"drop": drop, "judge": judge, **_corrected(own, truth, queue)} for judge, own in passed.items()]

    for rows in of_each_drop(home, "review_queue", read, _log.warning):
        yield from rows


def _panel_means(home: Installation, drop: str) -> dict[Subject, float]:
    """The panel's score of each trajectory: the mean of its criteria, as of a judge; `overall` if it scored none."""
    criteria: dict[Subject, list[float]] = {}
    overall: dict[Subject, float] = {}
    for row in home.table(drop, "trajectory_scores").rows(["trajectory_id", "criterion", "adjusted_mean"]):
        subject, name, mean = (drop, row["trajectory_id"], None), row["criterion"], row["adjusted_mean"]
        if mean is None or "." in name:  # of the answer
            continue
        if name == OVERALL:
            overall[subject] = mean
        else:
            criteria.setdefault(subject, []).append(mean)
    return _means(criteria) or overall


def _corrected(judged: Mapping[Subject, float], truth: Mapping[Subject, float], queue: Mapping[str, str]) -> Row:
    of_strata: dict[str, list[Subject]] = {"likely_failure": [], "chosen": [], "rest": []}
    for subject in judged:
        stratum = queue.get(subject[1])
        of_strata[stratum if stratum in of_strata else "rest"].append(subject)
    if len(of_strata["likely_failure"]) < 2:  # a stratum needs two labels
        of_strata["chosen"] += of_strata.pop("likely_failure")
    strata = []
    for members in of_strata.values():
        labelled = [
            (float(truth[subject] >= 0.5), judged[subject])
            for subject in members
            if subject in truth and subject[1] in queue
        ]
        strata.append(Stratum([judged[subject] for subject in members], labelled))
    figures = asdict(pass_rate(strata))
    return {"ci_low": figures.pop("low"), "ci_high": figures.pop("high"), **figures}

"""The judges of a panel side by side: means, offsets, agreement, spread, and the subjects that they disagree on."""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter, itemgetter
from statistics import fmean, pstdev
from typing import Any

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Aligned, Stored, grouped
from evaluation_assets.core.scoring.averages import Leniency, panel_scores
from evaluation_assets.core.scoring.effective_number import Basis, EffectiveJudges, VerdictCorrelations, from_labels
from evaluation_assets.core.scoring.intervals import Interval, interval_of_mean
from evaluation_assets.core.scoring.reliability import alpha_of, table_of
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.text.report_addresses import trajectory_place

Scores = Mapping[str, float]
"""Scores by judge."""

_LEVEL = "level"


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels of whole trajectories, 0..1, by trajectory."""

    basis: Basis
    by_trajectory: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class JudgedSubject:
    """One subject of a level with its verdicts.

    `own` is each judge's mean over all criteria that it scored. `common` is the mean over the criteria that all of
    these judges scored, so that it can be compared; empty if there are none, or only one judge scored the subject.
    """

    trajectory_id: str
    task_id: str
    subject: str
    own: Scores
    common: Scores
    criteria: Mapping[str, Scores]
    outcomes: Mapping[str, Sequence[str]]


class JudgeColumn(Frozen):
    """One judge on the subjects of a level.

    `mean` is over its subjects' means, with its 95% interval over tasks; `spread` is their standard deviation. `offset`
    is how much higher it scores than the panel in the model `score = subject + judge`. `agreement` is Krippendorff's
    alpha between the judge and the mean of the others. Both are on the criteria that the judges have in common; `None`
    without any. Outcomes count verdicts.
    """

    judge: str
    mean: float | None
    ci_low: float | None
    ci_high: float | None
    n_tasks: int
    offset: float | None
    agreement: float | None
    spread: float | None
    scored: int
    abstained: int
    failed: int
    not_run: int


class Disagreement(Frozen):
    """A subject with the judges' scores on their common criteria. `range` is the highest minus the lowest.

    `address` is its place in the report's viewer.
    """

    trajectory_id: str
    subject: str
    range: float
    scores: dict[str, float]
    address: str


class PanelLevel(Frozen):
    """The judges of one level. `alpha` is Krippendorff's over all of them, on `n_compared` subjects.

    `effective` is their effective number, also by criterion.
    """

    level: str
    judges: list[JudgeColumn]
    alpha: float | None
    n_compared: int
    effective: EffectiveJudges | None
    effective_by_criterion: dict[str, EffectiveJudges]
    disagreements: list[Disagreement]


def judged_subjects(trajectories: Iterable[Row], verdicts: Mapping[str, Stored], place: str) -> Iterator[JudgedSubject]:
    """The subjects of a level in the order of the trajectories.

    Args:
        trajectories: rows with `trajectory_id` and `task_id`.
        verdicts: the level's verdict tables by judge.
        place: the column that names the subject in its trajectory.
    """
    columns = ["trajectory_id", place, "outcome", "scores"]
    tables = {judge: Aligned(table.rows(columns)) for judge, table in verdicts.items()}
    for row in trajectories:
        by_subject: dict[Any, dict[str, list[Row]]] = {}
        for judge, table in tables.items():
            for subject, rows in grouped(table.at(row["trajectory_id"]), place):
                by_subject.setdefault(subject, {})[judge] = rows
        for subject, own in by_subject.items():
            yield _judged(row, str(subject), own)


def _judged(row: Row, subject: str, verdicts: Mapping[str, Sequence[Row]]) -> JudgedSubject:
    criteria = {name: scores for name, scores in panel_scores(verdicts).items() if scores}
    judges = list(dict.fromkeys(judge for scores in criteria.values() for judge in scores))
    shared = [scores for scores in criteria.values() if len(scores) == len(judges)]
    return JudgedSubject(
        trajectory_id=row["trajectory_id"],
        task_id=row["task_id"],
        subject=subject,
        own={judge: fmean(scores[judge] for scores in criteria.values() if judge in scores) for judge in judges},
        common={judge: fmean(scores[judge] for scores in shared) for judge in judges}
        if shared and len(judges) > 1
        else {},
        criteria=criteria,
        outcomes={judge: [verdict["outcome"] for verdict in rows] for judge, rows in verdicts.items()},
    )


def side_by_side(
    level: str, subjects: Iterable[JudgedSubject], judges: Sequence[str], labels: Labels | None, most: int
) -> PanelLevel:
    """Compare the judges of one level in one pass.

    Args:
        level: its name; subjects of the level `clip` are clips.
        subjects: the level's subjects.
        judges: all judges of the panel.
        labels: labels of the subjects' trajectories, if each of them is one subject.
        most: how many disagreements to keep, at most one of each trajectory.
    """
    own: dict[str, tuple[list[float], list[str]]] = {judge: ([], []) for judge in judges}
    outcomes: dict[str, Counter[str]] = {judge: Counter() for judge in judges}
    common: list[Scores] = []
    labelled: list[tuple[float, JudgedSubject]] = []
    leniency, correlations = Leniency(judges), VerdictCorrelations()
    by_criterion: dict[str, VerdictCorrelations] = {}
    widest: dict[str, tuple[float, JudgedSubject]] = {}
    for subject in subjects:
        for judge, score in subject.own.items():
            own[judge][0].append(score)
            own[judge][1].append(subject.task_id)
        for judge, outcome in subject.outcomes.items():
            outcomes[judge].update(outcome)
        for criterion, scores in subject.criteria.items():
            by_criterion.setdefault(criterion, VerdictCorrelations()).add(scores)
        if labels is not None and subject.trajectory_id in labels.by_trajectory:
            labelled.append((labels.by_trajectory[subject.trajectory_id], subject))
        if subject.common:
            common.append(subject.common)
            leniency.add(_LEVEL, subject.common)
            correlations.add(subject.common)
            _keep(widest, subject)
    table = table_of({judge: [scores.get(judge) for scores in common] for judge in judges})
    compared = {judge for scores in common for judge in scores}
    effects = {judge: effect for judge, effect in leniency.effects(_LEVEL).items() if judge in compared}
    return PanelLevel(
        level=level,
        judges=[
            _column(judge, own[judge], effects.get(judge), _with_the_others(judge, common), outcomes[judge])
            for judge in judges
        ],
        alpha=alpha_of(table) if common else None,
        n_compared=len(common),
        effective=_labelled(labelled, judges, labels, None) or correlations.effective(),
        effective_by_criterion={
            criterion: outcome
            for criterion, sums in sorted(by_criterion.items())
            if (outcome := _labelled(labelled, judges, labels, criterion) or sums.effective()) is not None
        },
        disagreements=[
            _disagreement(level, width, subject)
            for width, subject in heapq.nlargest(most, widest.values(), key=itemgetter(0))
        ],
    )


def of_whole_trajectories(subjects: Iterable[JudgedSubject]) -> Iterator[JudgedSubject]:
    """One subject per trajectory: each judge's mean over the trajectory's clips, as in the score `overall`."""
    for trajectory_id, of_trajectory in groupby(subjects, key=attrgetter("trajectory_id")):
        clips = list(of_trajectory)
        shared = [subject.common for subject in clips if subject.common]
        judges = set.intersection(*(set(scores) for scores in shared)) if shared else set()
        means = {judge: fmean(scores[judge] for scores in shared) for judge in sorted(judges)}
        common = means if len(means) > 1 else {}
        yield JudgedSubject(trajectory_id, clips[0].task_id, "overall", means, common, {}, {})


def _keep(widest: dict[str, tuple[float, JudgedSubject]], subject: JudgedSubject) -> None:
    """Keep the subject on which judges differ most of each trajectory; of equal ones, the earlier."""
    width = max(subject.common.values()) - min(subject.common.values())
    known, _ = widest.get(subject.trajectory_id, (0.0, None))
    if width > known:
        widest[subject.trajectory_id] = width, subject


def _disagreement(level: str, width: float, subject: JudgedSubject) -> Disagreement:
    return Disagreement(
        trajectory_id=subject.trajectory_id,
        subject=subject.subject,
        range=width,
        scores=dict(subject.common),
        address=trajectory_place(subject.trajectory_id, int(subject.subject) if level == "clip" else None),
    )


def _column(
    judge: str,
    own: tuple[list[float], list[str]],
    offset: float | None,
    agreement: float | None,
    outcomes: Mapping[str, int],
) -> JudgeColumn:
    values, _ = own
    interval = interval_of_mean([own]) if values else Interval(None, None, 0)
    return JudgeColumn(
        judge=judge,
        mean=fmean(values) if values else None,
        ci_low=interval.low,
        ci_high=interval.high,
        n_tasks=interval.n,
        offset=offset,
        agreement=agreement,
        spread=pstdev(values) if values else None,
        scored=outcomes.get("scored", 0),
        abstained=outcomes.get("abstained", 0),
        failed=outcomes.get("failed", 0),
        not_run=outcomes.get("not_run", 0),
    )


def _with_the_others(judge: str, common: Sequence[Scores]) -> float | None:
    """Krippendorff's alpha between a judge and the mean of the others."""
    pairs = [
        (scores[judge], fmean(score for name, score in scores.items() if name != judge))
        for scores in common
        if judge in scores
    ]
    return alpha_of(table_of(dict(zip("ab", map(list, zip(*pairs, strict=True)), strict=True)))) if pairs else None


def _labelled(
    subjects: Sequence[tuple[float, JudgedSubject]],
    judges: Sequence[str],
    labels: Labels | None,
    criterion: str | None,
) -> EffectiveJudges | None:
    if labels is None or not subjects:
        return None
    given = [subject.common if criterion is None else subject.criteria.get(criterion, {}) for _, subject in subjects]
    scores = {judge: [own.get(judge) for own in given] for judge in judges}
    return from_labels(scores, [label for label, _ in subjects], labels.basis)

"""The judges section of a report: judges side by side, their effective number, and where they disagree."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.scoring.effective_number import Basis, EffectiveJudges
from evaluation_assets.core.scoring.side_by_side import (
    Disagreement,
    JudgeBeside,
    JudgedSubject,
    Labels,
    LevelBeside,
    judged_subjects,
    of_whole_trajectories,
    side_by_side,
)
from evaluation_assets.core.system.frozen import Frozen

MOST_DISAGREEMENTS = 5
"""Disagreements listed per level."""

CLIP, CATEGORY, TRAJECTORY, ANSWER, SESSION = "clip", "category", "trajectory", "answer", "session"


class EffectiveNumber(Frozen):
    """`n_judges` judges are worth `value` independent ones. `is_bound`: a lower bound, because there are no labels."""

    value: float
    n_judges: int
    basis: Basis
    n_subjects: int
    is_bound: bool

    @property
    def text(self) -> str:
        """The number in words: `at least 1.6 of 3 (from the correlation of verdicts)`."""
        least = "at least " if self.is_bound else ""
        source = "verdicts" if self.is_bound else f"errors, {self.n_subjects} subjects with {self.basis}"
        return f"{least}{self.value:.1f} of {self.n_judges} (from the correlation of {source})"


class JudgeColumn(Frozen):
    """One judge on one level: the mean of its subjects with its 95% interval over tasks, and how it compares.

    `offset` is how much higher it scores than the panel, `agreement` Krippendorff's alpha with the mean of the others,
    `spread` the standard deviation of its subjects' means. Outcomes count verdicts.
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


class DisagreementEntry(Frozen):
    """A clip or trajectory that the judges score differently. `address` is its place in the report's viewer."""

    trajectory_id: str
    subject: str
    range: float
    scores: dict[str, float]
    address: str


class PanelLevel(Frozen):
    """The judges on one level. `alpha` is Krippendorff's over all of them, on `n_compared` subjects."""

    level: str
    judges: list[JudgeColumn]
    alpha: float | None
    n_compared: int
    effective: EffectiveNumber | None
    effective_by_criterion: dict[str, EffectiveNumber]
    disagreements: list[DisagreementEntry]


class PanelSummary(Frozen):
    """All judges of a panel of two or more. `overall` is the effective number of judges behind the score `overall`."""

    overall: EffectiveNumber | None
    levels: list[PanelLevel]

    def effective(self, level: str, criterion: str) -> EffectiveNumber | None:
        """The effective number of judges behind the mean of a criterion."""
        for found in self.levels:
            if found.level == level:
                return found.effective_by_criterion.get(criterion)
        return None


def panel_summary(
    trajectories: Stored, verdicts: Mapping[str, Mapping[str, Stored]], labels: Labels | None
) -> PanelSummary | None:
    """Compare the judges at every level at which they scored; `None` for a panel of one.

    Args:
        trajectories: the kept trajectories, in the order of the verdict tables.
        verdicts: verdict tables by judge, by level `clip`, `category`, `trajectory` (answers included) and `session`.
        labels: labels of whole trajectories.
    """
    judges = list(verdicts[CLIP])
    if len(judges) < 2:
        return None

    def subjects(level: str, place: str = "subject") -> Iterator[JudgedSubject]:
        return judged_subjects(trajectories.rows(["trajectory_id", "task_id"]), verdicts[level], place)

    def of(name: str) -> Iterator[JudgedSubject]:
        return (subject for subject in subjects(TRAJECTORY) if subject.subject == name)

    levels: list[tuple[str, Iterable[JudgedSubject], Labels | None]] = [
        (CLIP, subjects(CLIP, "clip_index"), None),
        (CATEGORY, subjects(CATEGORY), None),
        (TRAJECTORY, of(TRAJECTORY), labels),
        (ANSWER, of(ANSWER), labels),
        (SESSION, subjects(SESSION), None),
    ]
    compared = [(level, side_by_side(each, judges, known, MOST_DISAGREEMENTS)) for level, each, known in levels]
    overall = side_by_side(of_whole_trajectories(subjects(CLIP, "clip_index")), judges, labels, 0)
    return PanelSummary(
        overall=_effective(overall.effective),
        levels=[
            _level(level, beside)
            for level, beside in compared
            if any(judge.mean is not None for judge in beside.judges)
        ],
    )


def labels_of(people: Mapping[str, float], recorded: Mapping[str, bool]) -> Labels | None:
    """People's labels of trajectories if there are any, else the recorded outcomes; `None` without either."""
    if people:
        return Labels("human labels", people)
    return Labels("recorded outcomes", {name: float(value) for name, value in recorded.items()}) if recorded else None


def _level(level: str, beside: LevelBeside) -> PanelLevel:
    return PanelLevel(
        level=level,
        judges=[_column(judge) for judge in beside.judges],
        alpha=beside.alpha,
        n_compared=beside.n_compared,
        effective=_effective(beside.effective),
        effective_by_criterion={
            criterion: found
            for criterion, each in sorted(beside.effective_by_criterion.items())
            if (found := _effective(each)) is not None
        },
        disagreements=[_disagreement(level, each) for each in beside.disagreements],
    )


def _column(judge: JudgeBeside) -> JudgeColumn:
    counts: dict[str, Any] = {
        name: judge.outcomes.get(name, 0) for name in ("scored", "abstained", "failed", "not_run")
    }
    return JudgeColumn(
        judge=judge.judge,
        mean=judge.mean,
        ci_low=judge.interval.low,
        ci_high=judge.interval.high,
        n_tasks=judge.interval.n,
        offset=judge.offset,
        agreement=judge.agreement,
        spread=judge.spread,
        **counts,
    )


def _effective(found: EffectiveJudges | None) -> EffectiveNumber | None:
    if found is None:
        return None
    return EffectiveNumber(
        value=found.value,
        n_judges=found.n_judges,
        basis=found.basis,
        n_subjects=found.n_subjects,
        is_bound=found.is_bound,
    )


def _disagreement(level: str, found: Disagreement) -> DisagreementEntry:
    place = f"?clip={found.subject}" if level == CLIP else ""
    return DisagreementEntry(
        trajectory_id=found.trajectory_id,
        subject=found.subject,
        range=found.range,
        scores=dict(found.scores),
        address=f"#/run/{quote(found.trajectory_id, safe='')}{place}",
    )

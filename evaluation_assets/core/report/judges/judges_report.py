"""The judges section of a report: judges side by side, their effective number, and where they disagree."""

from collections.abc import Iterable, Iterator, Mapping

from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.scoring.effective_number import EffectiveJudges
from evaluation_assets.core.scoring.side_by_side import (
    JudgedSubject,
    Labels,
    PanelLevel,
    judged_subjects,
    of_whole_trajectories,
    side_by_side,
)
from evaluation_assets.core.system.frozen import Frozen

MOST_DISAGREEMENTS = 5
"""Disagreements listed per level."""

CLIP, CATEGORY, TRAJECTORY, ANSWER, SESSION = "clip", "category", "trajectory", "answer", "session"


class PanelSummary(Frozen):
    """All judges of a panel of two or more. `overall` is the effective number of judges behind the score `overall`."""

    overall: EffectiveJudges | None
    levels: list[PanelLevel]

    def effective(self, level: str, criterion: str) -> EffectiveJudges | None:
        """The effective number of judges behind the mean of a criterion."""
        for compared in self.levels:
            if compared.level == level:
                return compared.effective_by_criterion.get(criterion)
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
    compared = [side_by_side(level, each, judges, known, MOST_DISAGREEMENTS) for level, each, known in levels]
    overall = side_by_side("overall", of_whole_trajectories(subjects(CLIP, "clip_index")), judges, labels, 0)
    return PanelSummary(
        overall=overall.effective,
        levels=[level for level in compared if any(judge.mean is not None for judge in level.judges)],
    )


def labels_of(people: Mapping[str, float], recorded: Mapping[str, bool]) -> Labels | None:
    """People's labels of trajectories if there are any, else the recorded outcomes; `None` without either."""
    if people:
        return Labels("human labels", people)
    return Labels("recorded outcomes", {name: float(value) for name, value in recorded.items()}) if recorded else None

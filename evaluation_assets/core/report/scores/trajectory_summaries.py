"""The trajectories of a report: their outcomes and scores, criteria over them, and those that are listed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluation_assets.core.gating.settings import HeadlineSettings
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Aligned
from evaluation_assets.core.report.drop_tables import DropTables
from evaluation_assets.core.report.report import TrajectorySummary
from evaluation_assets.core.report.scores.clip_summaries import excerpt
from evaluation_assets.core.report.scores.lowest import Lowest
from evaluation_assets.core.report.scores.values import Values
from evaluation_assets.core.scoring.panel_scores import OVERALL
from evaluation_assets.core.sections.outcomes.prediction import predictions

LISTED = 200
"""Trajectories, rejected records and repairs listed in a report; the tables have all."""


@dataclass(slots=True)
class KeptTrajectories:
    """The kept trajectories of a drop.

    `tasks`, `overall` and `correctness` (the score of the criterion that the headline counts) have a value for each,
    in the order of the table; `outcomes` are the recorded outcomes by trajectory.
    """

    tasks: list[str] = field(default_factory=list)
    overall: list[float | None] = field(default_factory=list)
    correctness: list[float | None] = field(default_factory=list)
    outcomes: dict[str, bool] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    criteria: dict[tuple[str, str], Values] = field(default_factory=dict)
    listed: list[TrajectorySummary] = field(default_factory=list)

    def below(self, threshold: float) -> set[str]:
        """Those whose score of the headline's criterion is below the threshold."""
        scored = zip(self.ids, self.correctness, strict=True)
        return {name for name, score in scored if score is not None and score < threshold}


def kept_trajectories(tables: DropTables, task_of: Mapping[str, str], settings: HeadlineSettings) -> KeptTrajectories:
    """Read the kept trajectories with their scores, in one pass; those that went worst are listed."""
    kept = KeptTrajectories()
    cases = {row["trajectory_id"]: row["passed"] for row in tables.tool_use_results.rows(["trajectory_id", "passed"])}
    predicted = predictions(tables.predicted_outcomes.rows())
    scores = Aligned(tables.trajectory_scores.rows())
    worst = Lowest(LISTED)
    columns = ["trajectory_id", "task_id", "task", "success", "n_tool_calls", "repairs", "flags"]
    for row in tables.preprocessed.rows(columns):
        name, task = row["trajectory_id"], task_of[row["trajectory_id"]]
        means = {score["criterion"]: score["mean"] for score in scores.at(name)}
        overall, correctness = means.get(OVERALL), means.get(settings.criterion)
        for criterion, mean in means.items():
            if criterion != OVERALL:
                kept.criteria.setdefault(_level(criterion), Values()).add(mean, task, name)
        kept.ids.append(name)
        kept.tasks.append(task)
        kept.overall.append(overall)
        kept.correctness.append(correctness)
        if row["success"] is not None:
            kept.outcomes[name] = row["success"]
        correct = _correct(row["success"], cases.get(name), correctness, settings)
        rank = (0.0 if correct is False else 4.0) + (2.0 if overall is None else overall)
        worst.offer(rank, _listed(row, means, correct, predicted.get(name)))
    kept.listed = worst.items()
    for row in tables.category_assessments.rows(["trajectory_id", "criterion", "mean"]):
        values = kept.criteria.setdefault(("category", row["criterion"]), Values())
        values.add(row["mean"], task_of.get(row["trajectory_id"], ""), row["trajectory_id"])
    return kept


def _correct(
    success: bool | None, passed: bool | None, correctness: float | None, settings: HeadlineSettings
) -> bool | None:
    """Whether a run is correct by the first measure that is known for it, in the order of the headline."""
    reached = None if correctness is None else correctness >= settings.threshold
    measures = {"outcome": success, "suite": passed, "criterion": reached}
    ordered = [measures.get(settings.by or ""), *measures.values()]
    return next((value for value in ordered if value is not None), None)


def _listed(
    row: Row, scores: dict[str, float | None], correct: bool | None, predicted: str | None
) -> TrajectorySummary:
    return TrajectorySummary(
        trajectory_id=row["trajectory_id"],
        task_id=row["task_id"],
        task=excerpt(row["task"], 300),
        success=row["success"],
        correct=correct,
        predicted=predicted,
        n_tool_calls=row["n_tool_calls"],
        overall=scores.get(OVERALL),
        scores={criterion: mean for criterion, mean in scores.items() if criterion != OVERALL},
        flags=row["flags"],
        repairs=len(row["repairs"]),
    )


def _level(criterion: str) -> tuple[str, str]:
    name = criterion.removeprefix("answer.")
    return ("trajectory" if name == criterion else "answer", name)

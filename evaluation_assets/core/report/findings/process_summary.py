"""The process score over a drop, which follows from findings, and how it is related to success there."""

from collections.abc import Hashable, Sequence
from itertools import compress
from typing import Self

from evaluation_assets.core.lake.stored import Aligned, Stored
from evaluation_assets.core.report.scores.distributions import Statistic, statistic
from evaluation_assets.core.scoring.relation_to_success import Relation, relation
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.text.counted import counted, runs_of_tasks

_CHANCE = 0.5


class SuccessRelation(Frozen):
    """AUROC of the score against recorded success, with its 95% interval over tasks if there are five or more."""

    auroc: float
    ci_low: float | None
    ci_high: float | None
    n_succeeded: int
    n_failed: int

    @classmethod
    def of(cls, relation: Relation) -> Self:
        """The relation as data of a report."""
        return cls(
            auroc=relation.auroc,
            ci_low=relation.low,
            ci_high=relation.high,
            n_succeeded=relation.n_succeeded,
            n_failed=relation.n_failed,
        )

    @property
    def may_be_chance(self) -> bool:
        """Whether the data do not show that runs that succeed score higher."""
        return (self.auroc if self.ci_low is None else self.ci_low) <= _CHANCE

    @property
    def text(self) -> str:
        """The relation as text: `AUROC against recorded success 0.55 (95% CI 0.44 to 0.66), not shown to be ...`."""
        known = self.ci_low is not None and self.ci_high is not None
        interval = f" (95% CI {self.ci_low:.2f} to {self.ci_high:.2f})" if known else ""
        chance = ", not shown to be better than chance" if self.may_be_chance else ""
        return f"AUROC against recorded success {self.auroc:.2f}{interval}{chance}"


class ProcessSummary(Frozen):
    """The process score: `statistic` over all runs read; `success` where enough outcomes are recorded."""

    statistic: Statistic
    success: SuccessRelation | None

    @property
    def text(self) -> str:
        """The figure as text, with the number of runs that have it, and its relation to success."""
        own = self.statistic
        if own.mean is None:
            return f"no process score: nothing could be checked in {counted(own.n_total, 'run')}"
        interval = "" if own.ci_low is None else f", 95% CI {own.ci_low:.3f} to {own.ci_high:.3f}"
        related = "" if self.success is None else f"; {self.success.text}"
        runs, missing = runs_of_tasks(own.n_scored, own.n_tasks), own.n_total - own.n_scored
        more = f" ({counted(missing, 'run')} without a score)" if missing else ""
        return f"process score {own.mean:.3f} over {runs}{more}{interval}{related}"


def process_summary(scores: Stored, raw: Stored) -> ProcessSummary | None:
    """Summarise the table `process_scores`; `None` for drops that were evaluated before it existed."""
    of_run = Aligned(scores.rows(["trajectory_id", "task_id", "score"]))
    values: list[float | None] = []
    outcomes: list[bool | None] = []
    tasks: list[str] = []
    for run in raw.rows(["trajectory_id", "success"]):
        for row in of_run.at(run["trajectory_id"]):
            values.append(row["score"])
            outcomes.append(run["success"])
            tasks.append(row["task_id"])
    if not values:
        return None
    relation = success_relation(values, outcomes, tasks)
    return ProcessSummary(
        statistic=statistic(values, tasks), success=None if relation is None else SuccessRelation.of(relation)
    )


def success_relation(
    scores: Sequence[float | None], outcomes: Sequence[bool | None], tasks: Sequence[Hashable]
) -> Relation | None:
    """The relation over those of the runs that have a score and a recorded outcome; all three are one per run."""
    known = [score is not None and outcome is not None for score, outcome in zip(scores, outcomes, strict=True)]
    return relation(
        [score for score in compress(scores, known) if score is not None],
        [bool(outcome) for outcome in compress(outcomes, known)],
        list(compress(tasks, known)),
    )

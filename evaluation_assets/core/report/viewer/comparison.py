"""Which trajectories of another run of the same tasks are worth reading beside those of a drop."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from statistics import fmean

from evaluation_assets.core.report.viewer.documents import TrajectoryDocument
from evaluation_assets.core.traces.trajectories.model import JsonObject

SCORE_CHANGE = 0.1
"""Smallest change of a task's mean score for which both sides can be read; changed outcomes always can."""


@dataclass(slots=True)
class _Task:
    outcomes: set[bool | None] = field(default_factory=set)
    scores: list[float] = field(default_factory=list)


class ComparedTasks:
    """Outcomes and scores of a drop by task, from its rows of the runs table."""

    def __init__(self) -> None:
        self._tasks: dict[str, _Task] = {}

    def add(self, row: JsonObject) -> None:
        """Add a trajectory."""
        task = self._tasks.setdefault(row["task_id"], _Task())
        task.outcomes.add(_outcome(row))
        if row["score"] is not None:
            task.scores.append(row["score"])

    def only_changed(self, others: Iterable[TrajectoryDocument]) -> Iterator[TrajectoryDocument]:
        """Yield the documents of another run; only those of tasks that came out differently keep their content.

        All trajectories of the drop have to be added before the first of `others` is taken. Documents of tasks that
        the drop does not have are left out.
        """
        for document in others:
            own = self._tasks.get(document.row["task_id"])
            if own is not None:
                yield document if _differs(own, document.row) else replace(document, content=None)


def _differs(own: _Task, other: JsonObject) -> bool:
    if own.outcomes != {_outcome(other)}:
        return True
    return bool(own.scores) and other["score"] is not None and abs(fmean(own.scores) - other["score"]) >= SCORE_CHANGE


def _outcome(row: JsonObject) -> bool | None:
    return row["success"] if row["passed"] is None else row["passed"]

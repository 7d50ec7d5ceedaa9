"""Which trajectories of another run of the same tasks are worth reading beside those of a drop."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from evaluation_assets.core.report.viewer.documents import TrajectoryDocument
from evaluation_assets.core.traces.trajectories.model import JsonObject

SCORE_CHANGE = 0.1
"""Smallest change of a task's mean score for which both sides can be read; changed outcomes always can."""


def only_changed(rows: list[JsonObject], others: Iterable[TrajectoryDocument]) -> Iterator[TrajectoryDocument]:
    """Yield the documents of the other run; only those of tasks that came out differently keep their content.

    `rows` are the rows of the drop, complete once the first of `others` is taken. Documents of tasks that the drop does
    not have are left out.
    """
    tasks: dict[str, list[JsonObject]] | None = None
    for document in others:
        if tasks is None:
            tasks = {}
            for row in rows:
                tasks.setdefault(row["task_id"], []).append(row)
        own = tasks.get(document.row["task_id"])
        if own is not None:
            yield document if _differs(own, document.row) else replace(document, content=None)


def _differs(own: Sequence[JsonObject], other: JsonObject) -> bool:
    if {_outcome(row) for row in own} != {_outcome(other)}:
        return True
    scores = [row["score"] for row in own if row["score"] is not None]
    return bool(scores) and other["score"] is not None and abs(fmean(scores) - other["score"]) >= SCORE_CHANGE


def _outcome(row: JsonObject) -> bool | None:
    return row["success"] if row["passed"] is None else row["passed"]

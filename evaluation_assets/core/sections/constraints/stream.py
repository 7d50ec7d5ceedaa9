"""Constraints of checks.yaml on the trajectories of a drop, as rows with a summary."""

from collections import Counter
from collections.abc import Iterator

from evaluation_assets.core.intake.facts import DropFacts
from evaluation_assets.core.lake.stored import Stored, Stream
from evaluation_assets.core.lake.tables import CONSTRAINT_RESULTS
from evaluation_assets.core.sections.constraints.constraint_rows import Row, constraint_row
from evaluation_assets.core.sections.constraints.evaluation import Evaluator
from evaluation_assets.core.sections.constraints.scope import DropScope
from evaluation_assets.core.sections.constraints.settings import Checks
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of


def constraint_results(drop: str, trajectories: Stored, checks: Checks) -> Stream:
    """Rows of `constraint_results`; without constraints there are none, and no trajectory is read.

    All trajectories of `raw_trajectories` are checked, also those that rules keep from the judges.
    """
    counts: Counter[str] = Counter()

    def rows() -> Iterator[Row]:
        if not checks.constraints:
            return
        evaluator = Evaluator(checks.constraints, DropScope.of(DropFacts.of(trajectories).sidecar))
        for stored in trajectories.rows(TREE_AND_TEXT):
            trajectory = trajectory_of(stored)
            for outcome in evaluator.outcomes(trajectory):
                counts[outcome.status] += 1
                counts[f"failed_{outcome.severity}"] += outcome.status == "failed"
                yield constraint_row(drop, trajectory, outcome)

    def metadata() -> dict[str, int | str]:
        if not checks.constraints:
            return {"constraints": 0, "note": "there is no checks.yaml with constraints"}
        names = ("passed", "failed", "not_applicable", "not_checked", "failed_error", "failed_warn")
        return {"constraints": len(checks.constraints), **{name: counts[name] for name in names}}

    return Stream.of(CONSTRAINT_RESULTS, rows(), metadata)

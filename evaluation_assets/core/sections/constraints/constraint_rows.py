"""Codec of the outcomes of constraints: rows of `constraint_results`."""

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.sections.constraints.evaluation import Outcome
from evaluation_assets.core.traces.trajectories.model import Trajectory

_MOST_VIOLATIONS = 100
"""Violations of one constraint in one trajectory that are stored; their number is stored in full."""


def constraint_row(drop: str, trajectory: Trajectory, outcome: Outcome) -> Row:
    """Encode an outcome as a row of `constraint_results`."""
    violations = outcome.violations
    first = violations[0] if violations else None
    return {
        "drop": drop,
        "trajectory_id": trajectory.id,
        "task_id": trajectory.task_id,
        "constraint": outcome.name,
        "rule": outcome.rule,
        "severity": outcome.severity,
        "status": outcome.status,
        "clip_index": None if first is None else first.clip_index,
        "message": outcome.reason if first is None else first.message,
        "n_violations": len(violations),
        "violations": [
            {"clip_index": violation.clip_index, "message": violation.message}
            for violation in violations[:_MOST_VIOLATIONS]
        ],
    }

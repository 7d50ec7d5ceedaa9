"""Trajectories that a rule removed, as rows of `rejected_records`."""

from evaluation_assets.core.intake.preprocessing.preprocess import Removal
from evaluation_assets.core.lake.row import Row


def removal_row(drop: str, removal: Removal) -> Row:
    """A row of `rejected_records` for a trajectory that a rule removed; `source` is its id, `raw` its text."""
    return {
        "drop": drop,
        "source": removal.trajectory.id,
        "line": None,
        "stage": "preprocess",
        "reason": removal.reason,
        "detail": removal.detail,
        "raw": removal.trajectory.text,
    }

"""Table of what the constraints of checks.yaml found."""

from evaluation_assets.core.lake.tables.model import INT, NAME, TEXT, Column, Table, records
from evaluation_assets.core.lake.tables.shared_columns import DROP, TASK_ID, TRAJECTORY_ID

CONSTRAINT_RESULTS = Table(
    "constraint_results",
    "a trajectory and a constraint of `checks.yaml`",
    (
        DROP,
        TRAJECTORY_ID,
        TASK_ID,
        Column("constraint", NAME, "Name of the constraint in `checks.yaml`."),
        Column("rule", TEXT, "The constraint as a sentence."),
        Column("severity", NAME, "`error` or `warn`, as in `checks.yaml`."),
        Column(
            "status",
            NAME,
            "`passed`, `failed`, `not_applicable` to this trajectory, or `not_checked` because a limit of time or "
            "size was reached.",
        ),
        Column(
            "clip_index",
            INT,
            "Number of the clip of the first call that violates the constraint.",
        ),
        Column("message", TEXT, "First violation, or why the status is not `passed`; empty if it is."),
        Column("n_violations", INT, "Violations in the trajectory."),
        Column("violations", records(clip_index=INT, message=TEXT), "The first 100 violations, in order."),
    ),
)

TABLES = (CONSTRAINT_RESULTS,)

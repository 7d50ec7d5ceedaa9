"""Table of outcomes that are predicted where none is recorded."""

from evaluation_assets.core.lake.tables.model import BOOL, FLOAT, INT, NAME, Column, Table
from evaluation_assets.core.lake.tables.shared_columns import DROP, TASK_ID, TRAJECTORY_ID

PREDICTED_OUTCOMES = Table(
    "predicted_outcomes",
    "a trajectory without a recorded outcome",
    (
        DROP,
        TRAJECTORY_ID,
        TASK_ID,
        Column(
            "success_probability",
            FLOAT,
            "Probability that it has succeeded, calibrated on tasks that were left out; null without a model whose "
            "AUROC is certainly above 0.6.",
        ),
        Column(
            "claims_success",
            BOOL,
            "Whether it ends with an answer that is not a refusal, is not cut off and does not hand the user over.",
        ),
        Column("model", NAME, "Whose runs the model was fitted on, for example `suite checkout`."),
        Column(
            "auroc",
            FLOAT,
            "Chance that the model ranks a run that succeeded above one that failed, by cross-validation.",
        ),
        Column("auroc_low", FLOAT, "One-sided 95% lower bound of `auroc`, clustered by task."),
        Column("training_runs", INT, "Runs with a recorded outcome that the model was fitted on; 0 without a model."),
        Column("training_tasks", INT, "Their tasks."),
    ),
)

TABLES = (PREDICTED_OUTCOMES,)

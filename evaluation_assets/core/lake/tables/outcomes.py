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
            "Probability that it has succeeded, 0..1, calibrated on tasks that were left out; null if there is no "
            "model, or if the lower bound of its AUROC is not above 0.6.",
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
            "Chance that the model ranks a run that succeeded above one that failed, on tasks that were left out; null "
            "without a model.",
        ),
        Column("auroc_low", FLOAT, "One-sided 95% lower bound of `auroc`, clustered by task."),
        Column("training_runs", INT, "Number of runs with a recorded outcome that the model was fitted on; 0 without."),
        Column("training_tasks", INT, "Number of their tasks; 0 without a model."),
    ),
)

TABLES = (PREDICTED_OUTCOMES,)

"""[outcomes] How likely runs without a recorded outcome have succeeded. No model is asked, and nothing gates on it."""

import dagster as dg

from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.stored import Stream
from evaluation_assets.core.pipeline import outcomes
from evaluation_assets.defs import groups
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.stage import stage


@stage(
    dg.AssetSpec(
        tables.PREDICTED_OUTCOMES.name,
        group_name=groups.SESSIONS_AND_SUITES,
        deps=["raw_trajectories", "findings"],
        code_version=outcomes.OUTCOMES_VERSION,
        kinds={"parquet"},
        description=(
            f"Each row is {tables.PREDICTED_OUTCOMES.row}. Learned from the runs with one, of the same suite "
            "or agent in all drops."
        ),
    )
)
def predicted_outcomes(drop: DropRun) -> Stream:
    """Fit a model to runs with a recorded outcome, and predict the others of the drop."""
    return outcomes.predicted_outcomes(drop.home, drop.key)

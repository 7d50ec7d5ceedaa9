"""[outcomes] How likely runs without a recorded outcome have succeeded. No model is asked, and nothing gates on it."""

from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.stored import Stream
from evaluation_assets.core.pipeline import outcomes
from evaluation_assets.defs import groups
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.stage import stage
from evaluation_assets.defs.table_assets import table_spec


@stage(
    table_spec(
        tables.PREDICTED_OUTCOMES,
        groups.SESSIONS_AND_SUITES,
        outcomes.OUTCOMES_VERSION,
        ["raw_trajectories", "findings"],
        f"Each row is {tables.PREDICTED_OUTCOMES.row}. Learned from the runs with one, of the same suite or agent in "
        "all drops.",
    )
)
def predicted_outcomes(drop: DropRun) -> Stream:
    """Fit a model to runs with a recorded outcome, and predict the others of the drop."""
    return outcomes.predicted_outcomes(drop.home, drop.key)

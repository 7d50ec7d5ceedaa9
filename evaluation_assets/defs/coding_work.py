"""[coding] What coding agents did in their sessions: edits, tests, commands, reads. No model is asked."""

from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.stored import Stream
from evaluation_assets.core.sections.coding_work.stream import coding_sessions
from evaluation_assets.defs import groups
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.stage import stage
from evaluation_assets.defs.table_assets import table_spec

CODING_VERSION = "11"
"""Increment when the same sessions would give different figures."""


@stage(
    table_spec(
        tables.CODING_WORK,
        groups.SESSIONS_AND_SUITES,
        CODING_VERSION,
        ["raw_trajectories"],
        f"Each row is {tables.CODING_WORK.row}. None in drops of other agents.",
    )
)
def coding_work(drop: DropRun) -> Stream:
    """Measure the sessions of coding agents."""
    return coding_sessions(drop.key, drop.table("raw_trajectories"))

"""[coding] What coding agents did in their sessions: edits, tests, commands, reads. No model is asked."""

import dagster as dg

from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.stored import Stream
from evaluation_assets.core.sections.coding_work.stream import coding_sessions
from evaluation_assets.defs import groups
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.stage import stage

CODING_VERSION = "5"
"""Increment when the same sessions would give different figures."""


@stage(
    dg.AssetSpec(
        tables.CODING_WORK.name,
        group_name=groups.SESSIONS_AND_SUITES,
        deps=["raw_trajectories"],
        code_version=CODING_VERSION,
        kinds={"parquet"},
        description=f"Each row is {tables.CODING_WORK.row}. None in drops of other agents.",
    )
)
def coding_work(drop: DropRun) -> Stream:
    """Measure the sessions of coding agents."""
    return coding_sessions(drop.key, drop.table("raw_trajectories"))

"""[coding] What coding agents did in their sessions: edits, tests, commands, reads. No model is asked."""

import dagster as dg

from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.stored import Stream
from evaluation_assets.core.sections.coding_work.stream import coding_sessions
from evaluation_assets.defs import groups
from evaluation_assets.defs.drop_config import DropConfig
from evaluation_assets.defs.stage import stage
from evaluation_assets.resources.drop_run import DropRun
from evaluation_assets.resources.installation import HomeResource

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
def coding_work(drop: DropRun, _: DropConfig, home: HomeResource) -> dg.MaterializeResult[Stream]:
    """Measure the sessions of coding agents."""
    (raw,) = home.tables(drop.key, "raw_trajectories")
    return dg.MaterializeResult(value=coding_sessions(drop.key, raw))

"""[coding] What coding agents did in their sessions: edits, tests, commands, reads. No model is asked."""

import dagster as dg

from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.stored import Stream
from evaluation_assets.core.pipeline.coding_work import coding_sessions
from evaluation_assets.defs import groups
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.resources.installation import HomeResource

CODING_VERSION = "2"
"""Increment when the same sessions would give different figures."""


@dg.asset(
    partitions_def=DROPS,
    group_name=groups.SESSIONS_AND_SUITES,
    deps=["raw_trajectories"],
    code_version=CODING_VERSION,
    kinds={"parquet"},
    description=f"Each row is {tables.CODING_WORK.row}. None in drops of other agents.",
)
def coding_work(context: dg.AssetExecutionContext, home: HomeResource) -> dg.MaterializeResult[Stream]:
    """Measure the sessions of coding agents."""
    (raw,) = home.tables(context.partition_key, "raw_trajectories")
    return dg.MaterializeResult(value=coding_sessions(context.partition_key, raw))

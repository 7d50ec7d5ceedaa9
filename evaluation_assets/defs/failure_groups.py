"""[overview] Failures that runs of many drops have in common, and whether resolved ones stay so."""

import dagster as dg

from evaluation_assets.core.gating.metadata import damaged_tables
from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.stored import Stream, batched
from evaluation_assets.core.pipeline.checks.failure_groups import no_reopened_failures
from evaluation_assets.core.pipeline.failure_groups import group_figures, group_rows, member_rows, read_runs
from evaluation_assets.core.sections.failure_groups.grouping import GROUPING_VERSION
from evaluation_assets.core.sections.failure_groups.states import read_states
from evaluation_assets.defs import groups
from evaluation_assets.defs.names import NO_REOPENED_FAILURES
from evaluation_assets.defs.results import check_result
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets.resources.parquet import TABLES_IO

_SOURCES = ("findings", "raw_trajectories", "clips", "tool_use_results", "score_history")


@dg.asset(
    group_name=groups.OVERVIEW,
    code_version=GROUPING_VERSION,
    deps=list(_SOURCES),
    kinds={"parquet"},
    io_manager_key=TABLES_IO,
    description="The findings of all drops, each with the failure group that it belongs to.",
)
def grouped_findings(home: HomeResource) -> dg.MaterializeResult[Stream]:
    """Group what went wrong, and the runs that failed without a finding."""
    table = tables.GROUPED_FINDINGS
    damaged: list[str] = []
    rows = batched(member_rows(read_runs(home.home, damaged.append)), table)
    return dg.MaterializeResult(value=Stream(table, rows, lambda: damaged_tables(damaged)))


@dg.asset(
    group_name=groups.OVERVIEW,
    code_version=GROUPING_VERSION,
    deps=list(_SOURCES),
    kinds={"parquet"},
    io_manager_key=TABLES_IO,
    check_specs=[
        dg.AssetCheckSpec(
            NO_REOPENED_FAILURES,
            asset="failure_groups",
            blocking=True,
            description="No failure that a person resolved was seen again.",
        )
    ],
    description="Failures that runs have in common: how many, since when, in which versions, and their state.",
)
def failure_groups(home: HomeResource):  # Dagster refuses an annotation beside check_specs
    """Count the runs of each group, and read its state from groups.yaml."""
    table = tables.FAILURE_GROUPS
    damaged: list[str] = []
    rows = group_rows(read_runs(home.home, damaged.append), read_states(home.home.groups_file))
    return dg.MaterializeResult(
        value=Stream(table, batched(rows, table), lambda: {**group_figures(rows), **damaged_tables(damaged)}),
        check_results=[check_result(no_reopened_failures(rows), NO_REOPENED_FAILURES)],
    )

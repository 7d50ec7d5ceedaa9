"""[overview] Failures that runs of many drops have in common, and whether resolved ones stay so."""

import dagster as dg

from evaluation_assets.core.gating.metadata import damaged_tables
from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.stored import Stream
from evaluation_assets.core.lake.tables import Table
from evaluation_assets.core.pipeline.checks.failure_groups import no_reopened_failures, states_of_groups
from evaluation_assets.core.pipeline.failure_groups import (
    SOURCES,
    group_facts,
    group_figures,
    group_rows,
    group_table,
    made_from,
    member_rows,
    read_runs,
    with_drops,
)
from evaluation_assets.core.sections.failure_groups.grouping import GROUPING_VERSION
from evaluation_assets.core.sections.failure_groups.states import read_states, write_states
from evaluation_assets.defs import groups
from evaluation_assets.defs.names import NO_REOPENED_FAILURES, STATES_OF_GROUPS
from evaluation_assets.defs.results import check_result
from evaluation_assets.defs.table_assets import table_spec
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets.resources.parquet import TABLES_IO


def _spec(table: Table, description: str) -> dg.AssetSpec:
    return table_spec(table, groups.OVERVIEW, GROUPING_VERSION, SOURCES, description).with_io_manager_key(TABLES_IO)


@dg.multi_asset(
    name="group_failures",
    specs=[
        _spec(tables.GROUPED_FINDINGS, "The findings of all drops, each with the failure group that it belongs to."),
        _spec(
            tables.FAILURE_GROUPS,
            "Failures that runs have in common: how many, since when, in which versions, and their state.",
        ),
    ],
    check_specs=[
        dg.AssetCheckSpec(
            NO_REOPENED_FAILURES,
            asset=tables.FAILURE_GROUPS.name,
            blocking=True,
            description="No failure that a person resolved was seen again.",
        ),
        dg.AssetCheckSpec(
            STATES_OF_GROUPS,
            asset=tables.FAILURE_GROUPS.name,
            description="Each state in groups.yaml is of a group that there is.",
        ),
    ],
)
def failure_groups(home: HomeResource):  # Dagster refuses an annotation beside check_specs
    """Group what went wrong, and the runs that failed without a finding; read the states from groups.yaml."""
    damaged: list[str] = []
    before = made_from(home.home)
    all_runs = read_runs(home.home, damaged.append)
    with home.home.edits(home.home.groups_file):
        states = read_states(home.home.groups_file)
        if resolved_by_hand := with_drops(all_runs, states):
            write_states(home.home.groups_file, resolved_by_hand)
    rows = group_rows(all_runs, states | resolved_by_hand)
    members, counted = tables.GROUPED_FINDINGS, tables.FAILURE_GROUPS
    yield dg.MaterializeResult(
        asset_key=[*home.key_prefix, members.name],
        value=Stream.of(members, member_rows(all_runs), lambda: damaged_tables(damaged)),
    )
    yield dg.MaterializeResult(
        asset_key=[*home.key_prefix, counted.name],
        value=Stream.of(
            counted,
            rows,
            lambda: {
                "gravest": dg.MetadataValue.md(group_table(rows)),
                **group_figures(rows),
                **damaged_tables(damaged),
            },
            # Groups without the runs of a damaged file are made again, and the file is named again.
            group_facts(all_runs.drops, "" if damaged else before).footer,
        ),
        check_results=[
            check_result(no_reopened_failures(states, rows), NO_REOPENED_FAILURES),
            check_result(states_of_groups(states, rows), STATES_OF_GROUPS),
        ],
    )

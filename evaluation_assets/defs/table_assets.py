"""Assets that are tables of the lake: the specs of tables of a drop, and the decorator of tables over all drops."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import dagster as dg

from evaluation_assets.core.lake.tables import Table
from evaluation_assets.defs import groups
from evaluation_assets.resources.parquet import TABLES_IO

Deps = Iterable[str | dg.AssetKey]


def table_spec(table: Table, group: str, version: str, deps: Deps = (), description: str | None = None) -> dg.AssetSpec:
    """The asset of a table. Without a description of its own, it has that of its rows."""
    return dg.AssetSpec(
        table.name,
        group_name=group,
        code_version=version,
        deps=list(deps),
        kinds={"parquet"},
        description=description or f"Each row is {table.row}.",
    )


def table_over_all_drops(
    table: Table,
    version: str,
    deps: Deps,
    description: str | None = None,
    *,
    group: str = groups.OVERVIEW,
    checks: Sequence[dg.AssetCheckSpec] = (),
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """The decorator of a function that makes a table over all drops, which is an asset without partitions."""
    spec = table_spec(table, group, version, deps, description)
    return dg.asset(
        name=table.name,
        group_name=spec.group_name,
        code_version=spec.code_version,
        deps=spec.deps,
        kinds=spec.kinds,
        description=spec.description,
        io_manager_key=TABLES_IO,
        check_specs=checks or None,
    )

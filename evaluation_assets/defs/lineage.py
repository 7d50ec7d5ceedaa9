"""What the lineage page shows: edges that say something new, the columns of every table, owners, links to code."""

import warnings
from collections.abc import Collection, Mapping, Sequence

import dagster as dg

from evaluation_assets.core.lake.tables import TABLES
from evaluation_assets.defs.freshness import REPORT
from evaluation_assets.resources.parquet import column_schema


def readable(assets: Sequence[dg.AssetsDefinition], owners: Sequence[str] = ()) -> list[dg.AssetsDefinition]:
    """The assets without the dependencies that others imply, with the columns of their tables and their owners.

    Assets state everything that they read. If `report` reads `scores`, and `scores` reads `verdicts`, the edge from
    `verdicts` to `report` adds nothing but a line: whatever makes it stale makes `scores` stale.

    Dagster does not pass on staleness, so the report of a drop keeps all of its edges: a judge that was run alone makes
    it stale as soon as the scores between.
    """
    parents = {
        spec.key: {dep.asset_key for dep in spec.deps if dep.asset_key != spec.key}
        for asset in assets
        for spec in asset.specs
    }
    fixed = {key for asset in assets if _has_arguments(asset) for key in asset.keys}
    ancestors: dict[dg.AssetKey, frozenset[dg.AssetKey]] = {}

    def shown(spec: dg.AssetSpec) -> dg.AssetSpec:
        direct = () if spec.key in {*fixed, REPORT} else parents[spec.key]
        implied = {other for own in direct for other in _ancestors(own, parents, ancestors)}
        deps = [dep for dep in spec.deps if dep.asset_key not in implied]
        table = TABLES.get(spec.key.path[0])
        metadata = {} if table is None else {"dagster/column_schema": column_schema(table)}
        return spec.replace_attributes(
            deps=deps, metadata={**spec.metadata, **metadata}, owners=[*spec.owners, *owners]
        )

    return [asset.map_asset_specs(shown) for asset in assets]


def located(assets: Sequence[dg.AssetsDefinition]) -> list[dg.AssetsDefinition]:
    """The assets with the place of their code, which the UI links to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.BetaWarning)  # of each asset at each start, and no user's concern
        return [each for each in dg.with_source_code_references(assets) if isinstance(each, dg.AssetsDefinition)]


def _has_arguments(asset: dg.AssetsDefinition) -> bool:
    """Whether the function takes tables as arguments; Dagster cannot change what such an asset depends on."""
    return any(not asset.op.input_def_named(name).dagster_type.is_nothing for name in asset.keys_by_input_name)


def _ancestors(
    key: dg.AssetKey,
    parents: Mapping[dg.AssetKey, Collection[dg.AssetKey]],
    known: dict[dg.AssetKey, frozenset[dg.AssetKey]],
) -> frozenset[dg.AssetKey]:
    if key not in known:
        direct = parents.get(key, ())
        known[key] = frozenset(direct).union(*(_ancestors(parent, parents, known) for parent in direct))
    return known[key]

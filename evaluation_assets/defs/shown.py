"""The definitions of an installation as another project shows them: with attributes and a key prefix of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import dagster as dg

from evaluation_assets.defs.partitions import DROPS, SUITES, partitions_of
from evaluation_assets.resources.asset_keys import prefixed, prefixed_check
from evaluation_assets.resources.dagster_private import UnresolvedAssetJobDefinition, replace_record
from evaluation_assets.resources.installation import HomeResource
from evaluation_assets.resources.parquet import ParquetIOManager

AnySpec = TypeVar("AnySpec", dg.AssetSpec, dg.AssetCheckSpec)


def shown_as(made: dg.Definitions, specs: Mapping[dg.AssetKey, dg.AssetSpec]) -> dg.Definitions:
    """The same definitions with these specs instead of those with the keys; all keys may begin with one prefix.

    Jobs, resources and partitions know the prefix. Names of jobs, sensors and schedules stay.

    Raises:
        DagsterInvalidDefinitionError: keys are changed in another way, or not all in the same.
    """
    prefix = _prefix_of({key: spec.key for key, spec in specs.items()})
    assets = [
        asset.map_asset_specs(lambda spec: specs[spec.key].replace_attributes(key=spec.key))
        for asset in made.assets or ()
        if isinstance(asset, dg.AssetsDefinition)
    ]
    if prefix:
        keys = {key: spec.key for key, spec in specs.items()}
        assets = [_partitioned(asset.with_attributes(asset_key_replacements=keys), prefix) for asset in assets]
    return dg.Definitions(
        assets=assets,
        jobs=_selecting(made, prefix) if prefix else made.jobs,
        sensors=made.sensors,
        schedules=made.schedules,
        resources={name: _knowing(resource, prefix) for name, resource in (made.resources or {}).items()},
    )


def _prefix_of(keys: Mapping[dg.AssetKey, dg.AssetKey]) -> Sequence[str]:
    prefixes = set[tuple[str, ...]]()
    for key, shown in keys.items():
        prefix = shown.path[: len(shown.path) - len(key.path)]
        if prefixed(key, prefix) != shown:
            raise dg.DagsterInvalidDefinitionError(
                f"{key.to_user_string()} cannot be called {shown.to_user_string()}: runs find tables by the keys of "
                "assets. They may have a `key_prefix`."
            )
        prefixes.add(tuple(prefix))
    if len(prefixes) > 1:
        listed = ", ".join(sorted("/".join(prefix) or "none" for prefix in prefixes))
        raise dg.DagsterInvalidDefinitionError(
            f"all assets need the same `key_prefix`; there are different ones: {listed}"
        )
    return prefixes.pop()


def _partitioned(asset: dg.AssetsDefinition, prefix: Sequence[str]) -> dg.AssetsDefinition:
    """The asset in the partitions of the prefix, with its checks, which `map_asset_specs` leaves out."""

    def renamed(spec: AnySpec) -> AnySpec:
        own = next((each for each in (DROPS, SUITES) if each == spec.partitions_def), None)
        return spec if own is None else replace_record(spec, partitions_def=partitions_of(own, prefix))

    attributes = asset.get_attributes_dict()
    attributes["specs"] = [renamed(spec) for spec in asset.specs]
    checks = attributes["check_specs_by_output_name"]
    attributes["check_specs_by_output_name"] = {name: renamed(check) for name, check in checks.items()}
    return dg.AssetsDefinition.dagster_internal_init(**attributes)


def _selecting(made: dg.Definitions, prefix: Sequence[str]) -> list[dg.JobDefinition | UnresolvedAssetJobDefinition]:
    """The jobs, whose selections name assets and checks."""
    graph = made.resolve_asset_graph()

    def renamed(selection: dg.AssetSelection) -> dg.AssetSelection:
        if chosen := selection.resolve(graph):
            return dg.AssetSelection.assets(*(prefixed(key, prefix) for key in chosen))
        return dg.AssetSelection.checks(*(prefixed_check(key, prefix) for key in selection.resolve_checks(graph)))

    return [
        replace_record(job, selection=renamed(job.selection)) if isinstance(job, UnresolvedAssetJobDefinition) else job
        for job in made.jobs or ()
    ]


def _knowing(resource: object, prefix: Sequence[str]) -> object:
    if isinstance(resource, HomeResource):
        return HomeResource(url=resource.url, lake_url=resource.lake_url, key_prefix=list(prefix))
    if isinstance(resource, ParquetIOManager):
        return replace(resource, key_prefix=prefix)
    return resource

"""Partitions: by drop for most assets, by suite for agent runs."""

import warnings
from collections.abc import Iterable, Sequence

import dagster as dg

DROPS = dg.DynamicPartitionsDefinition(name="drops")

SUITES = dg.DynamicPartitionsDefinition(name="suites")


def check_of_drops(
    name: str, asset: dg.AssetKey | str, description: str, *, blocking: bool = False
) -> dg.AssetCheckSpec:
    """A check that each drop passes or fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.PreviewWarning)  # checks of partitions: at each start, and no user's concern
        return dg.AssetCheckSpec(name, asset=asset, partitions_def=DROPS, description=description, blocking=blocking)


def partitions_of(definition: dg.DynamicPartitionsDefinition, prefix: Sequence[str]) -> dg.DynamicPartitionsDefinition:
    """The partitions of assets whose keys begin with a prefix. An instance knows partitions by name alone.

    Installations on the same instance would otherwise have each other's drops, as missing ones.
    """
    return dg.DynamicPartitionsDefinition(name="/".join([*prefix, definition.name or ""])) if prefix else definition


def add_partitions(
    instance: dg.DagsterInstance,
    definition: dg.DynamicPartitionsDefinition,
    keys: Iterable[str],
    prefix: Sequence[str] = (),
) -> None:
    """Make drops or suites known to Dagster."""
    instance.add_dynamic_partitions(partitions_of(definition, prefix).name or "", list(keys))

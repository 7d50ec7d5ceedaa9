"""Partitions: by drop for most assets, by suite for agent runs."""

from collections.abc import Iterable

import dagster as dg

DROPS = dg.DynamicPartitionsDefinition(name="drops")

SUITES = dg.DynamicPartitionsDefinition(name="suites")


def add_partitions(
    instance: dg.DagsterInstance, definition: dg.DynamicPartitionsDefinition, keys: Iterable[str]
) -> None:
    """Make drops or suites known to Dagster."""
    instance.add_dynamic_partitions(definition.name or "", list(keys))

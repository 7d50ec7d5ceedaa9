"""Partitions: by drop for most assets, by suite for agent runs."""

import dagster as dg

DROPS = dg.DynamicPartitionsDefinition(name="drops")

SUITES = dg.DynamicPartitionsDefinition(name="suites")

"""What is partitioned by what: nearly everything by drops, runs of agents by suites."""

import dagster as dg

DROPS = dg.DynamicPartitionsDefinition(name="drops")

SUITES = dg.DynamicPartitionsDefinition(name="suites")

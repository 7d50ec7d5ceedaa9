"""The one partition dimension: drops."""

import dagster as dg

DROPS = dg.DynamicPartitionsDefinition(name="drops")

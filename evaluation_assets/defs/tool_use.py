"""[tool_use] What agents called and answered, measured by the cases of the drop's suite. No model is asked."""

import json
from collections.abc import Mapping

import dagster as dg

from evaluation_assets.core.lake.stored import Stream
from evaluation_assets.core.pipeline.tool_use import measured_runs, patterns_of
from evaluation_assets.defs import groups
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.resources.installation import HomeResource

TOOL_USE_VERSION = "3"
"""Increment when the same run and case would give different metrics."""


def tool_use_results(min_pass_rates: Mapping[str, float]) -> dg.AssetsDefinition:
    """The results of runs. `min_pass_rates`, by suite, go before those that the suites name."""

    @dg.asset(
        name="tool_use_results",
        partitions_def=DROPS,
        group_name=groups.SESSIONS_AND_SUITES,
        deps=["raw_trajectories"],
        code_version=f"{TOOL_USE_VERSION}|{json.dumps(min_pass_rates, sort_keys=True)}",
        kinds={"parquet"},
        description="Every run of the drop measured by its test case; empty if the drop has no suite.",
    )
    def results(context: dg.AssetExecutionContext, home: HomeResource) -> dg.MaterializeResult[Stream]:
        (raw,) = home.tables(context.partition_key, "raw_trajectories")
        return dg.MaterializeResult(value=measured_runs(home.home, context.partition_key, raw, min_pass_rates))

    return results


@dg.asset(
    partitions_def=DROPS,
    group_name=groups.SESSIONS_AND_SUITES,
    deps=["tool_use_results"],
    code_version=TOOL_USE_VERSION,
    kinds={"parquet"},
    description="Issues of the drop's runs grouped into patterns, each with evidence and a recommendation.",
)
def failure_patterns(context: dg.AssetExecutionContext, home: HomeResource) -> dg.MaterializeResult[Stream]:
    """Group the issues of all runs."""
    (results,) = home.tables(context.partition_key, "tool_use_results")
    return dg.MaterializeResult(value=patterns_of(context.partition_key, results))

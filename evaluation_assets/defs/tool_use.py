"""[tool_use] What agents called and answered, measured by the cases of the drop's suite. No model is asked."""

import json
from collections.abc import Mapping

from evaluation_assets.core.lake import tables
from evaluation_assets.core.lake.stored import Stream
from evaluation_assets.core.pipeline.tool_use import measured_runs, patterns_of
from evaluation_assets.defs import groups
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.stage import Stage, stage
from evaluation_assets.defs.table_assets import table_spec

TOOL_USE_VERSION = "12"
"""Increment when the same run and case would give different metrics."""


def tool_use_results(min_pass_rates: Mapping[str, float]) -> Stage:
    """The results of runs. `min_pass_rates`, by suite, go before those that the suites name."""

    @stage(
        table_spec(
            tables.TOOL_USE_RESULTS,
            groups.SESSIONS_AND_SUITES,
            f"{TOOL_USE_VERSION}|{json.dumps(min_pass_rates, sort_keys=True)}",
            ["raw_trajectories"],
            "Every run of the drop measured by its test case; empty if the drop has no suite.",
        )
    )
    def results(drop: DropRun) -> Stream:
        return measured_runs(drop.home, drop.key, drop.table("raw_trajectories"), min_pass_rates)

    return results


@stage(
    table_spec(
        tables.FAILURE_PATTERNS,
        groups.SESSIONS_AND_SUITES,
        TOOL_USE_VERSION,
        ["tool_use_results"],
        "Issues of the drop's runs grouped into patterns, each with evidence and a recommendation.",
    )
)
def failure_patterns(drop: DropRun) -> Stream:
    """Group the issues of all runs."""
    return patterns_of(drop.key, drop.table("tool_use_results"))

"""[tool_use] What agents called and answered, measured by the cases of the drop's suite. No model is asked."""

import dagster as dg

from evaluation_assets.core import tables
from evaluation_assets.core.facts import DropFacts, SuiteFacts
from evaluation_assets.core.lake import Stored, Stream, batched
from evaluation_assets.core.pipeline.tool_use import MeasuredRuns, patterns_of, suite_of
from evaluation_assets.core.settings import load_settings
from evaluation_assets.core.suites.suite import InvalidSuite
from evaluation_assets.core.suites.tool_use_rows import failure_pattern_row
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.resources.installation import HomeResource

TOOL_USE_VERSION = "3"
"""Increment when the same run and case would give different metrics."""


@dg.asset(
    partitions_def=DROPS,
    group_name="tool_use",
    code_version=TOOL_USE_VERSION,
    kinds={"parquet"},
    description="Every run of the drop measured by its test case; empty if the drop has no suite.",
)
def tool_use_results(
    context: dg.AssetExecutionContext, home: HomeResource, raw_trajectories: Stored
) -> dg.MaterializeResult[Stream]:
    """Measure all trajectories, also those that rules keep from the judges."""
    table = tables.TOOL_USE_RESULTS
    named = DropFacts.of(raw_trajectories).sidecar.suite
    try:
        loaded = suite_of(home.home, named)
    except InvalidSuite as problem:
        facts = SuiteFacts(problem=str(problem))
        note = {"note": f"The suite cannot be used: {problem}"}
        return dg.MaterializeResult(value=Stream(table, iter(()), lambda: note, facts.footer))
    if loaded is None or named is None:
        why = "names no suite" if named is None else f"names {named!r}, which is not in suites/"
        return dg.MaterializeResult(value=Stream(table, iter(()), lambda: {"note": f"No suite: the drop {why}."}))
    least = load_settings(home.home.gate_file).gate.min_pass_rates.get(named, loaded.suite.min_pass_rate)
    runs = MeasuredRuns(context.partition_key, named, loaded, least)
    measured = batched(runs.measured(raw_trajectories), table)
    return dg.MaterializeResult(value=Stream(table, measured, runs.metadata, lambda: runs.facts().footer()))


@dg.asset(
    partitions_def=DROPS,
    group_name="tool_use",
    code_version=TOOL_USE_VERSION,
    kinds={"parquet"},
    description="Issues of the drop's runs grouped into patterns, each with evidence and a recommendation.",
)
def failure_patterns(context: dg.AssetExecutionContext, tool_use_results: Stored) -> dg.MaterializeResult[Stream]:
    """Group the issues of all runs."""
    table = tables.FAILURE_PATTERNS
    suite = SuiteFacts.of(tool_use_results).suite or ""
    found = patterns_of(tool_use_results)
    return dg.MaterializeResult(
        value=Stream(
            table,
            batched((failure_pattern_row(context.partition_key, suite, pattern) for pattern in found), table),
            lambda: {"suite": suite or "none", **{each.failure_class: each.runs for each in found}},
            SuiteFacts(suite=suite or None).footer,
        )
    )

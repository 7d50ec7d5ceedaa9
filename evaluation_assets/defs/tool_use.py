"""[tool_use] What agents called and answered, measured by the cases of the drop's suite. No model is asked."""

import json
from collections.abc import Iterator
from typing import Any

import dagster as dg

from evaluation_assets.core import rows, tables
from evaluation_assets.core.drops import Sidecar
from evaluation_assets.core.gating.settings import load_settings
from evaluation_assets.core.installation import Installation
from evaluation_assets.core.lake import Stored, Stream, batched
from evaluation_assets.core.nullable import mean_of
from evaluation_assets.core.suites.calls import run_of
from evaluation_assets.core.suites.case_results import CaseIndex, evaluate
from evaluation_assets.core.suites.failure_patterns import failure_patterns as patterns_of
from evaluation_assets.core.suites.formats.registry import LoadedSuite, find_suite, load_suite
from evaluation_assets.core.suites.suite import InvalidSuite
from evaluation_assets.core.trajectories.identity import digest
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.resources.installation import HomeResource

TOOL_USE_VERSION = "2"
"""Increment when the same run and case would give different metrics."""

_NAMED = 20


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
    """Measure all trajectories, also those that rules keep from the judges: a loop is a way to fail a case."""
    name = context.partition_key
    sidecar = Sidecar.model_validate_json(raw_trajectories.facts.get("sidecar", "{}"))
    try:
        loaded = _suite_of(home.home, sidecar)
    except InvalidSuite as problem:
        return _empty({"problem": str(problem)}, f"The suite cannot be used: {problem}")
    if loaded is None:
        named = "names no suite" if sidecar.suite is None else f"names {sidecar.suite!r}, which is not in suites/"
        return _empty({}, f"No suite: the drop {named}.")
    suite = loaded.suite
    facts = {
        "suite": sidecar.suite or suite.name,
        "suite_version": digest(suite.model_dump_json(by_alias=True)),
        "min_pass_rate": json.dumps(_min_pass_rate(home.home, sidecar.suite or suite.name, suite.min_pass_rate)),
        "weights": json.dumps(suite.weights),
        "incomplete": json.dumps([f"{task.place}, {task.task}: {task.reason}" for task in loaded.incomplete]),
    }
    passed: list[bool] = []
    failed: list[str] = []
    scores: list[float | None] = []
    strangers: list[str] = []
    not_run: list[str] = []

    def measured() -> Iterator[rows.Row]:
        index = CaseIndex(suite.cases)
        seen: set[str] = set()
        for row in raw_trajectories.rows(["trajectory", "text"]):
            trajectory = rows.trajectory_of(row)
            case = index.find(trajectory.task_id, trajectory.task)
            if case is None:
                strangers.append(trajectory.id)
                continue
            seen.add(case.id)
            result = evaluate(case, run_of(trajectory), suite)
            if result.passed is None:
                failed.append(trajectory.id)
            else:
                passed.append(result.passed)
                scores.append(result.score)
            yield rows.tool_use_row(name, facts["suite"], case, trajectory, result)
        for case in suite.cases:
            if case.id not in seen:
                not_run.append(case.id)
                yield rows.case_without_run(name, facts["suite"], case)
        facts["without_case"] = json.dumps(strangers)

    def summary() -> dict[str, Any]:
        figures = {"pass_rate": sum(passed) / len(passed) if passed else None, "mean_score": mean_of(scores)}
        return {
            "suite": facts["suite"],
            "suite_format": loaded.format,
            "cases": len(suite.cases),
            "runs": len(passed),
            "passed": sum(passed),
            "failed_without_the_agent": len(failed),
            "cases_without_run": len(not_run),
            "trajectories_without_case": len(strangers),
            "incomplete_tasks": len(loaded.incomplete),
            "first_without_run": ", ".join(not_run[:_NAMED]),
            "first_without_case": ", ".join(strangers[:_NAMED]),
            **{figure: value for figure, value in figures.items() if value is not None},
        }

    table = tables.TOOL_USE_RESULTS
    return dg.MaterializeResult(value=Stream(table, batched(measured(), table), summary, facts))


def _min_pass_rate(home: Installation, suite: str, own: float) -> float:
    """The share of runs that has to pass: as gate.yaml says, which suites of other formats have no field for."""
    return load_settings(home.gate_file).gate.min_pass_rates.get(suite, own)


@dg.asset(
    partitions_def=DROPS,
    group_name="tool_use",
    code_version=TOOL_USE_VERSION,
    kinds={"parquet"},
    description="Issues of the drop's runs grouped into patterns, each with evidence and a recommendation.",
)
def failure_patterns(context: dg.AssetExecutionContext, tool_use_results: Stored) -> dg.MaterializeResult[Stream]:
    """Group the issues of all runs."""
    facts = tool_use_results.facts
    suite = facts.get("suite", "")
    found = patterns_of(tool_use_results.rows(["case_id", "passed", "issues"]))
    return dg.MaterializeResult(
        value=Stream(
            tables.FAILURE_PATTERNS,
            batched(
                (rows.failure_pattern_row(context.partition_key, suite, pattern) for pattern in found),
                tables.FAILURE_PATTERNS,
            ),
            lambda: {"suite": suite or "none", **{each.failure_class: each.runs for each in found}},
            {"suite": suite} if suite else {},
        )
    )


def _suite_of(home: Installation, sidecar: Sidecar) -> LoadedSuite | None:
    path = None if sidecar.suite is None else find_suite(home.suites, sidecar.suite)
    return None if path is None else load_suite(path)


def _empty(facts: dict[str, str], why: str) -> dg.MaterializeResult[Stream]:
    return dg.MaterializeResult(value=Stream(tables.TOOL_USE_RESULTS, iter(()), lambda: {"note": why}, facts))

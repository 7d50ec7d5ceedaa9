"""[constraints] The constraints of checks.yaml on the trajectories of a drop. No model is asked."""

from collections.abc import Iterator

from evaluation_assets.core.lake import tables
from evaluation_assets.core.pipeline.checks.constraints import constraints_hold
from evaluation_assets.core.sections.constraints import stream
from evaluation_assets.core.sections.constraints.settings import Checks
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.defs import groups
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.names import CONSTRAINT_WARNINGS
from evaluation_assets.defs.partitions import check_of_drops
from evaluation_assets.defs.results import check_result
from evaluation_assets.defs.stage import Result, Stage, stage
from evaluation_assets.defs.table_assets import table_spec

CONSTRAINTS_VERSION = "1"
"""Increment when the same trajectories and constraints would give other results."""


def constraint_results(checks: Checks) -> Stage:
    """The results of all constraints, with a check on those of severity `warn`; `defs.checks` has the others."""
    has_warnings = any(rule.severity == "warn" for rule in checks.constraints.values())
    table = tables.CONSTRAINT_RESULTS

    @stage(
        table_spec(
            table,
            groups.SESSIONS_AND_SUITES,
            f"{CONSTRAINTS_VERSION}|{digest(checks.model_dump_json())}",
            ["raw_trajectories"],
            f"Each row is {table.row}. None without a `checks.yaml`.",
        ),
        checks=[
            check_of_drops(
                CONSTRAINT_WARNINGS,
                asset=table.name,
                description="The constraints of checks.yaml with severity `warn` hold.",
            )
        ]
        if has_warnings
        else [],
    )
    def results(drop: DropRun) -> Iterator[Result]:
        yield stream.constraint_results(drop.key, drop.table("raw_trajectories"), checks)
        if has_warnings:
            yield check_result(constraints_hold(drop.table(table.name), "warn"), CONSTRAINT_WARNINGS)

    return results

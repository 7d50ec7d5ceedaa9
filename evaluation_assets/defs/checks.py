"""Checks that block a run after its report is written; others belong to the step that writes their table."""

from collections.abc import Iterator, Sequence

import dagster as dg

from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.pipeline.checks.blocking import BLOCKING_CHECKS, CheckedTables
from evaluation_assets.core.pipeline.checks.names import CONSTRAINTS_HOLD
from evaluation_assets.core.sections.constraints.settings import Checks
from evaluation_assets.defs.drop_run import DropRun
from evaluation_assets.defs.freshness import REPORT
from evaluation_assets.defs.partitions import check_of_drops
from evaluation_assets.defs.per_judge import LEVELS, all_by_judge
from evaluation_assets.defs.results import check_result
from evaluation_assets.defs.stage import Stage, stage


def report_checks(judges: Sequence[Judge], constraints: Checks) -> Stage:
    """Coverage, lost judges, the suite's pass rate and, if there are any, constraints, in one step."""
    has_constraints = any(rule.severity == "error" for rule in constraints.constraints.values())
    present = [check for check in BLOCKING_CHECKS if check.name != CONSTRAINTS_HOLD or has_constraints]

    @stage(
        checks=[
            check_of_drops(check.name, asset=REPORT, blocking=True, description=check.description) for check in present
        ],
    )
    def checks(drop: DropRun) -> Iterator[dg.AssetCheckResult]:
        address = drop.home.report_address(drop.key)
        checked = CheckedTables(
            judges=judges,
            clips=drop.table("clips"),
            clip_scores=drop.table("clip_scores"),
            verdicts=all_by_judge(drop, LEVELS, judges),
            tool_use_results=drop.table("tool_use_results"),
            constraint_results=drop.table("constraint_results"),
        )
        for check in present:
            links = {"report": address.section(check.section)}
            if check.runs is not None:
                links["failed_runs"] = address.runs(check.runs)
            yield check_result(check.find(checked), check.name, REPORT, links)

    return checks

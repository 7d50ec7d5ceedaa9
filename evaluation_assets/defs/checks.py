"""Asset checks: record counts, schemas, coverage and outcomes."""

import json
from collections.abc import Sequence

import dagster as dg
import pyarrow.parquet as pq

from evaluation_assets.core import tables
from evaluation_assets.core.judging.judge import Judge
from evaluation_assets.core.judging.shortfall import COLUMNS, Answers
from evaluation_assets.core.lake import Stored
from evaluation_assets.core.scoring.agreement import agreement
from evaluation_assets.core.tables import Table
from evaluation_assets.defs.canaries import canary_judges
from evaluation_assets.defs.partitions import DROPS
from evaluation_assets.resources.installation import HomeResource

MAX_REJECTED = 0.2
"""Maximum share of rejected records; above it, check the drop before trusting its scores."""

MIN_ALPHA = 0.667
"""Krippendorff advises against conclusions below this value."""

MIN_SCORED = 0.9
"""Minimum share of clips with a score."""

_LEVELS = ("clip_verdicts", "category_verdicts", "trajectory_verdicts", "session_verdicts")


@dg.asset_check(
    asset="rejected_records",
    partitions_def=DROPS,
    additional_ins={
        name: dg.AssetIn(name) for name in ("raw_trajectories", "unreadable_records", "preprocessed_trajectories")
    },
    description="Every record of the drop is exactly one of kept, removed and rejected.",
)
def records_add_up(
    rejected_records: Stored,
    raw_trajectories: Stored,
    unreadable_records: Stored,
    preprocessed_trajectories: Stored,
) -> dg.AssetCheckResult:
    """Compare counts and, for trajectories, the ids on both sides of preprocessing."""
    came = raw_trajectories.count + unreadable_records.count
    left = preprocessed_trajectories.count + rejected_records.count
    removed = [row["source"] for row in rejected_records.rows(["source", "stage"]) if row["stage"] == "preprocess"]
    kept = [row["trajectory_id"] for row in preprocessed_trajectories.rows(["trajectory_id"])]
    before = [row["trajectory_id"] for row in raw_trajectories.rows(["trajectory_id"])]
    passed = came == left and sorted(kept + removed) == sorted(before) and len(set(before)) == len(before)
    unreadable = unreadable_records.count
    return dg.AssetCheckResult(
        passed=passed,
        metadata={"records": came, "kept": len(kept), "removed": len(removed), "unreadable": unreadable},
        description=f"Of {came} records, {len(kept)} are kept, {len(removed)} removed and {unreadable} unreadable"
        + (
            "."
            if passed
            else f": {left} of {came} records add up, and {len(set(before))} of {len(before)} IDs are unique."
        ),
    )


@dg.asset_check(
    asset="rejected_records",
    partitions_def=DROPS,
    additional_ins={"preprocessed_trajectories": dg.AssetIn("preprocessed_trajectories")},
    description=f"At most {MAX_REJECTED:.0%} of the records were removed or could not be read.",
)
def reject_rate(rejected_records: Stored, preprocessed_trajectories: Stored) -> dg.AssetCheckResult:
    """The share of records that is not judged."""
    total = rejected_records.count + preprocessed_trajectories.count
    share = rejected_records.count / total if total else None
    reasons: dict[str, int] = {}
    for row in rejected_records.rows(["reason"]):
        reasons[row["reason"]] = reasons.get(row["reason"], 0) + 1
    named = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    return dg.AssetCheckResult(
        passed=share is not None and share <= MAX_REJECTED,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            "records": total,
            **({} if share is None else {"rejected_share": share}),
            **dict(sorted(reasons.items())),
        },
        description="The drop has no records."
        if share is None
        else f"{rejected_records.count} of {total} records ({share:.1%}) are not judged (maximum {MAX_REJECTED:.0%})"
        f"{': ' if named else ''}{named}.",
    )


def schema_checks(judges: Sequence[Judge]) -> list[dg.AssetChecksDefinition]:
    """For every table of the lake: the stored file has the columns and types that others rely on."""
    checks: list[dg.AssetChecksDefinition] = []
    for table in tables.TABLES.values():
        of_table = canary_judges(judges) if table is tables.CANARY_VERDICTS else judges
        keys = [[table.name, judge.name] for judge in of_table] if table.per_judge else [[table.name]]
        checks += [_schema_check(table, dg.AssetKey(key)) for key in keys]
    return checks


def _schema_check(table: Table, key: dg.AssetKey) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        name="schema",
        asset=key,
        partitions_def=None if table.whole else DROPS,
        description="The stored file has exactly the columns and types of its table.",
    )
    def schema(stored: Stored) -> dg.AssetCheckResult:
        with stored.path.open("rb") as source:
            found = pq.ParquetFile(source).schema_arrow
        missing = [field.name for field in table.schema if field not in found]
        unknown = [field.name for field in found if field not in table.schema]
        return dg.AssetCheckResult(
            passed=not missing and not unknown,
            metadata={"columns": len(found.names), "missing": ", ".join(missing), "unknown": ", ".join(unknown)},
            description=f"The file has {len(found.names)} columns, {len(missing)} missing and {len(unknown)} "
            f"unknown{': ' if missing or unknown else ''}{', '.join(missing + unknown)}.",
        )

    return schema


@dg.asset_check(
    asset="clip_scores",
    partitions_def=DROPS,
    description=f"If several judges score, Krippendorff's alpha of every criterion is at least {MIN_ALPHA}.",
)
def panel_agreement(clip_scores: Stored) -> dg.AssetCheckResult:
    """Inter-rater agreement. It shows that judges give the same scores, not that the scores are right."""
    found = agreement(clip_scores.rows(["criterion", "mean", "std", "n_scored"]))
    alphas = {criterion: each.alpha for criterion, each in found.items() if each.alpha is not None}
    poor = sorted(criterion for criterion, alpha in alphas.items() if alpha < MIN_ALPHA)
    return dg.AssetCheckResult(
        passed=not poor,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            **{f"alpha_{criterion}": alpha for criterion, alpha in alphas.items()},
            "subjects": max((each.n_subjects for each in found.values()), default=0),
        },
        description=f"The judges disagree on {len(poor)} of {len(alphas)} criteria (alpha below {MIN_ALPHA}): "
        f"{', '.join(f'{criterion} {alphas[criterion]:.2f}' for criterion in poor)}."
        if poor
        else f"Alpha of all {len(alphas)} criteria is at least {MIN_ALPHA}.",
    )


@dg.asset_check(
    asset="evaluation_report",
    partitions_def=DROPS,
    blocking=True,
    additional_ins={name: dg.AssetIn(name) for name in ("clips", "clip_scores")},
    description=f"At least {MIN_SCORED:.0%} of the clips have a score. Blocks after the report is written.",
)
def enough_scored(clips: Stored, clip_scores: Stored) -> dg.AssetCheckResult:
    """A drop without any clip fails: nothing was judged."""
    scored = {
        (row["trajectory_id"], row["clip_index"])
        for row in clip_scores.rows(["trajectory_id", "clip_index", "mean"])
        if row["mean"] is not None
    }
    total = clips.count
    share = len(scored) / total if total else None
    return dg.AssetCheckResult(
        passed=share is not None and share >= MIN_SCORED,
        metadata={"clips": total, "scored": len(scored), **({} if share is None else {"scored_share": share})},
        description=f"{len(scored)} of {total} clips ({share:.1%}) have a score (minimum {MIN_SCORED:.0%})."
        if share is not None
        else "The drop has no clips: every record was removed or could not be read.",
    )


def judges_answered(judges: Sequence[Judge]) -> dg.AssetChecksDefinition:
    """The check over a panel's verdicts."""

    @dg.asset_check(
        name="judges_answered",
        asset="evaluation_report",
        partitions_def=DROPS,
        blocking=True,
        additional_deps=[dg.AssetKey([level, judge.name]) for level in _LEVELS for judge in judges],
        description="Every judge answered at least one of its questions. Blocks after the report is written.",
    )
    def check(context: dg.AssetCheckExecutionContext, home: HomeResource) -> dg.AssetCheckResult:
        answers = {
            judge.name: Answers.of(
                row
                for level in _LEVELS
                for row in home.home.table(context.partition_key, level, judge.name).rows(COLUMNS)
            )
            for judge in judges
        }
        lost = {name: each.outcomes.total() for name, each in answers.items() if each.is_lost}
        return dg.AssetCheckResult(
            passed=not lost,
            metadata={"judges": len(judges), "lost": len(lost)},
            description="; ".join(f"{name} answered none of {count} questions" for name, count in lost.items())
            or f"Each of {len(judges)} judges answered a question, or had none.",
        )

    return check


@dg.asset_check(
    asset="evaluation_report",
    partitions_def=DROPS,
    blocking=True,
    additional_ins={"tool_use_results": dg.AssetIn("tool_use_results")},
    description="Every case of the drop's suite was run, and enough runs passed. Passes if the drop has no suite.",
)
def suite_pass_rate(tool_use_results: Stored) -> dg.AssetCheckResult:
    """The share of runs that passed against the suite's `min_pass_rate`; rates are compared unrounded."""
    facts = tool_use_results.facts
    if "problem" in facts:
        return dg.AssetCheckResult(passed=False, description=f"The suite cannot be used: {facts['problem']}")
    if "suite" not in facts:
        return dg.AssetCheckResult(passed=True, description="The drop has no suite.")
    failing: dict[str, list[str]] = {}
    runs = passed = failed = 0
    cases: set[str] = set()
    measured: set[str] = set()
    for row in tool_use_results.rows(["case_id", "trajectory_id", "passed", "issues"]):
        cases.add(row["case_id"])
        if row["passed"] is None:
            failed += row["trajectory_id"] is not None
            continue
        measured.add(row["case_id"])
        runs += 1
        passed += row["passed"]
        if not row["passed"]:
            failing.setdefault(row["case_id"], []).extend(issue["kind"] for issue in row["issues"])
    least = json.loads(facts["min_pass_rate"])
    rate = passed / runs if runs else None
    problems = []
    if rate is None or rate < least:
        problems.append(f"{passed} of {runs} runs passed (minimum {least:.1%}).")
    if failed:
        problems.append(f"{failed} runs failed because of the infrastructure and are not counted.")
    if not_run := sorted(cases - measured):
        problems.append(f"{len(not_run)} cases were not run, or failed: {', '.join(not_run[:20])}.")
    blocks = rate is None or rate < least or bool(not_run)
    return dg.AssetCheckResult(
        passed=not blocks,
        metadata={
            "suite": facts["suite"],
            "runs": runs,
            "failed_runs": failed,
            "passed_runs": passed,
            "cases_without_run": len(not_run),
            "min_pass_rate": least,
            "failing": {case: sorted(set(kinds)) for case, kinds in sorted(failing.items())[:50]},
            **({} if rate is None else {"pass_rate": rate}),
        },
        description=" ".join(problems) or f"{passed} of {runs} runs passed (minimum {least:.1%}).",
    )

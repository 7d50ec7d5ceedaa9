"""The tool use section of a report: the drop's runs measured by the test suite."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import fsum
from typing import Any

from evaluation_assets.core.intake.facts import SuiteFacts
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.report.report import (
    CaseSummary,
    CategorySummary,
    PatternSummary,
    ToolUse,
)
from evaluation_assets.core.report.scores.distributions import statistic
from evaluation_assets.core.scoring.intervals import interval_of_mean
from evaluation_assets.core.suites.call_metrics import trial_rates
from evaluation_assets.core.suites.failure_patterns import by_tool, is_low
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.text.counted import counted, percent, runs_of_tasks
from evaluation_assets.core.text.excerpts import in_short
from evaluation_assets.core.text.nullable import mean_of

LISTED = 200
"""Runs and names listed in a report; the table has all."""

_ISSUES = 8
_LONGEST_ISSUE = 200

METRICS = (
    "score",
    "precision",
    "recall",
    "f1",
    "parameter_accuracy",
    "schema_accuracy",
    "coverage",
    "order_score",
    "keyword_score",
    "efficiency",
    "redundancy",
)
_COLUMNS = (
    *("case_id", "trajectory_id", "category", "passed", "answer_outcome", "completed", "n_expected", "n_calls"),
    *("latency_ms", "cost_usd", "tools", "issues"),
    *METRICS,
)


def tool_use_summary(results: Stored, patterns: Stored) -> ToolUse | None:
    """Summarise the rows of `tool_use_results`; `None` if the drop has no suite."""
    facts = SuiteFacts.of(results)
    if facts.suite is None and facts.problem is None:
        return None
    rows = list(results.rows(_COLUMNS))
    runs = [row for row in rows if row["passed"] is not None]
    passed = sum(row["passed"] for row in runs)
    failed = [row["trajectory_id"] for row in rows if row["passed"] is None and row["trajectory_id"] is not None]
    not_run = [row["case_id"] for row in rows if row["trajectory_id"] is None]
    prices = [row["cost_usd"] for row in runs if row["cost_usd"] is not None]
    trials = by_key((row["case_id"], row["passed"]) for row in runs)
    return ToolUse(
        suite=facts.suite or "",
        problem=facts.problem,
        min_pass_rate=facts.min_pass_rate,
        weights=dict(facts.weights),
        cases_total=len({row["case_id"] for row in rows}),
        runs=len(runs),
        passed=passed,
        pass_rate=passed / len(runs) if runs else None,
        metrics={
            metric: statistic([row[metric] for row in runs], [row["case_id"] for row in runs]) for metric in METRICS
        },
        completed=sum(row["completed"] for row in runs),
        answers=dict(sorted(Counter(row["answer_outcome"] for row in runs if row["answer_outcome"]).items())),
        calls=sum(row["n_calls"] for row in runs),
        latency_ms=statistic([row["latency_ms"] for row in runs]),
        cost_usd=fsum(prices) if prices else None,
        unpriced_runs=len(runs) - len(prices),
        trials=trial_rates(trials),
        categories=by_category(rows),
        tools=by_tool(runs),
        patterns=[PatternSummary.model_validate(_pattern(row)) for row in patterns.rows()],
        cases=[_case(row) for row in sorted(runs, key=_worst_first)[:LISTED]],
        failed=failed[:LISTED],
        failed_total=len(failed),
        not_run=not_run[:LISTED],
        not_run_total=len(not_run),
        without_case=list(facts.without_case[:LISTED]),
        without_case_total=len(facts.without_case),
        incomplete=list(facts.incomplete[:LISTED]),
        incomplete_total=len(facts.incomplete),
    )


def by_category(results: Iterable[Row]) -> list[CategorySummary]:
    """Figures by category of the case, in the order of names; cases without category last."""
    groups = by_key((row["category"], row) for row in results)
    return [_category(name, groups[name]) for name in sorted(groups, key=lambda name: (name is None, name or ""))]


def _category(name: str | None, rows: Sequence[Row]) -> CategorySummary:
    runs = [row for row in rows if row["passed"] is not None]
    passed = sum(row["passed"] for row in runs)
    pass_rate, score = passed / len(runs) if runs else None, mean_of(row["score"] for row in rows)
    return CategorySummary(
        category=name,
        cases=len({row["case_id"] for row in rows}),
        runs=len(runs),
        passed=passed,
        pass_rate=pass_rate,
        score=score,
        precision=mean_of(row["precision"] for row in rows),
        recall=mean_of(row["recall"] for row in rows),
        parameter_accuracy=mean_of(row["parameter_accuracy"] for row in rows),
        flagged=is_low(pass_rate, score),
        **_intervals(runs),
        scores=statistic([row["score"] for row in runs]),
    )


def _intervals(runs: Sequence[Row]) -> dict[str, Any]:
    ends: dict[str, Any] = {}
    for name, column in (("pass_rate", "passed"), ("score", "score")):
        known = [row for row in runs if row[column] is not None]
        if known:
            interval = interval_of_mean([([float(row[column]) for row in known], [row["case_id"] for row in known])])
            ends |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    return ends


def _worst_first(row: Row) -> tuple[bool, float, str, str]:
    return row["passed"], 1.0 if row["score"] is None else row["score"], row["case_id"], row["trajectory_id"]


def _case(row: Row) -> CaseSummary:
    issues = [_issue(issue) for issue in sorted(row["issues"], key=lambda issue: not issue["hard"])]
    more = [f"and {len(issues) - _ISSUES} more"] if len(issues) > _ISSUES else []
    return CaseSummary(
        **{name: row[name] for name in CaseSummary.model_fields if name in row and name != "issues"},
        issues=issues[:_ISSUES] + more,
        flagged=not row["passed"] or is_low(row["score"]),
    )


def _issue(issue: Row) -> str:
    place = ".".join(part for part in (issue["tool"], issue["parameter"]) if part) if issue["parameter"] else ""
    return f"{issue['kind']}: {place} {in_short(issue['detail'], _LONGEST_ISSUE)}".replace(":  ", ": ")


def _pattern(row: Row) -> Row:
    names = {name: row[name][:LISTED] for name in ("case_ids", "tool_names", "parameter_names")}
    return {name: row[name] for name in PatternSummary.model_fields} | names


_FAILED_SHOWN = 10
"""Failed runs of a suite listed on the terminal; the report lists all."""


def suite_lines(use: ToolUse) -> Iterator[tuple[str, str]]:
    """A summary for the terminal: labels and texts of a few lines."""
    rate = "-" if use.pass_rate is None else percent(use.pass_rate)
    left_out = f"; {use.failed_total} ended with an error, not counted" if use.failed_total else ""
    runs = runs_of_tasks(use.runs, use.trials[0].n_tasks if use.trials else None)
    yield "suite", f"{use.suite}: {use.passed:,} of {runs} passed ({rate}){left_out}"
    if use.trials and (most := use.trials[-1]).k > 1:
        yield f"  pass^{most.k}", f"{most.pass_hat:.3f} over {counted(most.n_tasks, 'case')}"
    failed = [case for case in use.cases if not case.passed][:_FAILED_SHOWN]
    for case in failed:
        score = "-" if case.score is None else f"{case.score:.3f}"
        issues = "; ".join(case.issues[:2]) + ("; …" if len(case.issues) > 2 else "")
        yield "  failed", f"{case.case_id} {score} {issues}".rstrip()
    if (left := use.runs - use.passed - len(failed)) > 0:
        yield "", f"and {left:,} more"

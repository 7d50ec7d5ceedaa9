"""Figures of the test suite, computed again from the runs of the drop's files."""

from collections import Counter
from collections.abc import Sequence
from math import fsum

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.suites.call_metrics import reaches
from evaluation_assets.core.suites.failure_patterns import CLASSES
from evaluation_assets_tests.recomputed.figure import (
    Figures,
    at_place,
    interval,
    known_of,
    mean_of,
    rate,
    statistic,
    trials,
)
from evaluation_assets_tests.recomputed.run_rows import SuiteRows

_AT = ("drop", "tool_use")
_LOW = 0.6
_METRICS = (
    "score", "precision", "recall", "f1", "parameter_accuracy", "schema_accuracy", "coverage", "order_score",
    "keyword_score", "efficiency", "redundancy",
)  # fmt: skip


def suite_figures(suite: SuiteRows) -> Figures:
    """All figures of `tool_use`, and the pass rate of the headline."""
    runs = [row for row in suite.rows if row["passed"] is not None]
    yield from _totals(suite, runs)
    cases = [row["case_id"] for row in runs]
    for metric in _METRICS:
        yield from statistic((*_AT, "metrics", metric), [row[metric] for row in runs], cases)
    yield from statistic((*_AT, "latency_ms"), [row["latency_ms"] for row in runs])
    by_case: dict[str, list[bool]] = {}
    for row in runs:
        by_case.setdefault(row["case_id"], []).append(row["passed"])
    yield from rate("passed", by_case, sum(row["trajectory_id"] is not None for row in suite.rows))
    yield from trials((*_AT, "trials"), list(by_case.values()))
    yield from _categories(suite.rows)
    yield from _tools(runs)
    yield from _patterns(suite.rows)
    for row in runs:
        values = {name: row[name] for name in ("passed", "score", "n_expected", "n_calls", "latency_ms")}
        values["flagged"] = not row["passed"] or _is_low(row["score"])
        yield from at_place((*_AT, "cases", row["trajectory_id"]), values)


def _totals(suite: SuiteRows, runs: Sequence[Row]) -> Figures:
    passed = sum(row["passed"] for row in runs)
    prices = known_of(row["cost_usd"] for row in runs)
    totals = {
        "cases_total": len({row["case_id"] for row in suite.rows}),
        "runs": len(runs),
        "passed": passed,
        "pass_rate": passed / len(runs) if runs else None,
        "completed": sum(row["completed"] for row in runs),
        "calls": sum(row["n_calls"] for row in runs),
        "cost_usd": fsum(prices) if prices else None,
        "unpriced_runs": len(runs) - len(prices),
        "without_case_total": suite.without_case,
        "incomplete_total": suite.incomplete,
        "not_run_total": sum(row["trajectory_id"] is None for row in suite.rows),
        "failed_total": sum(row["passed"] is None and row["trajectory_id"] is not None for row in suite.rows),
    }
    yield from at_place(_AT, totals)
    answers = Counter(row["answer_outcome"] for row in runs if row["answer_outcome"])
    yield from at_place((*_AT, "answers"), answers)


def _categories(rows: Sequence[Row]) -> Figures:
    groups: dict[str | None, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["category"], []).append(row)
    for category, own in groups.items():
        at = (*_AT, "categories", str(category))
        runs = [row for row in own if row["passed"] is not None]
        passed = sum(row["passed"] for row in runs)
        share = passed / len(runs) if runs else None
        means = {name: mean_of(row[name] for row in own) for name in ("precision", "recall", "parameter_accuracy")}
        score = mean_of(row["score"] for row in own)
        counts = {"cases": len({row["case_id"] for row in own}), "runs": len(runs), "passed": passed}
        flagged = _is_low(share) or _is_low(score)
        yield from at_place(at, {**counts, "pass_rate": share, "score": score, **means, "flagged": flagged})
        yield from statistic((*at, "scores"), [row["score"] for row in runs])
        for name, column in (("pass_rate", "passed"), ("score", "score")):
            known = [row for row in runs if row[column] is not None]
            if known:
                values = ([float(row[column]) for row in known], [row["case_id"] for row in known])
                for place, value in interval(at, values):
                    if place.endswith(("ci_low", "ci_high")):
                        yield place.replace("ci_", f"{name}_"), value


def _tools(runs: Sequence[Row]) -> Figures:
    groups: dict[str, list[Row]] = {}
    for row in runs:
        for own in row["tools"]:
            groups.setdefault(own["tool"], []).append(own)
    for tool, rows in groups.items():
        sums = {
            name: sum(row[name] for row in rows) for name in ("expected", "called", "matched", "defective", "errors")
        }
        precision = sums["matched"] / sums["called"] if sums["called"] else None
        recall = sums["matched"] / sums["expected"] if sums["expected"] else None
        parameters = mean_of(row["parameter_accuracy"] for row in rows)
        shares = {"precision": precision, "recall": recall, "parameter_accuracy": parameters}
        yield from at_place(
            (*_AT, "tools", tool), {**sums, **shares, "flagged": _is_low(recall) or _is_low(parameters)}
        )


def _patterns(rows: Sequence[Row]) -> Figures:
    for failure_class, kinds in CLASSES.items():
        own = [row for row in rows if any(issue["kind"] in kinds for issue in row["issues"])]
        if not own:
            continue
        at = (*_AT, "patterns", failure_class)
        counts = Counter(issue["kind"] for row in own for issue in row["issues"] if issue["kind"] in kinds)
        yield from at_place((*at, "kinds"), counts)
        yield from at_place(at, {"n_runs": len(own), "n_failed_runs": sum(row["passed"] is False for row in own)})


def _is_low(value: float | None) -> bool:
    return value is not None and not reaches(value, _LOW)

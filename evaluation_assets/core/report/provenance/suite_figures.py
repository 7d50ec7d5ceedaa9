"""Figures of the test suite, computed again from the runs of the drop's files."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import fsum
from statistics import fmean

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.report.provenance.figure import (
    Figure,
    Value,
    address,
    interval,
    known_of,
    rate,
    statistic,
    trials,
)
from evaluation_assets.core.report.provenance.run_rows import SuiteRows
from evaluation_assets.core.suites.call_metrics import reaches
from evaluation_assets.core.suites.failure_patterns import CLASSES

_AT = ("drop", "tool_use")
_ROWS = "runs of the drop's files, measured again by the cases of the suite"
_LOW = 0.6
_METRICS = (
    "score", "precision", "recall", "f1", "parameter_accuracy", "schema_accuracy", "coverage", "order_score",
    "keyword_score", "efficiency", "redundancy",
)  # fmt: skip


def suite_figures(suite: SuiteRows) -> Iterator[Figure]:
    """All figures of `tool_use`, and the pass rate of the headline."""
    runs = [row for row in suite.rows if row["passed"] is not None]
    yield from _totals(suite, runs)
    cases = [row["case_id"] for row in runs]
    for metric in _METRICS:
        values = [row[metric] for row in runs]
        yield from statistic((*_AT, "metrics", metric), values, f"`{metric}` of the runs", _ROWS, cases)
    latencies = [row["latency_ms"] for row in runs]
    yield from statistic((*_AT, "latency_ms"), latencies, "durations of the runs, in milliseconds", _ROWS)
    by_case: dict[str, list[bool]] = {}
    for row in runs:
        by_case.setdefault(row["case_id"], []).append(row["passed"])
    yield from rate("passed", by_case, len(runs), _ROWS)
    yield from trials((*_AT, "trials"), list(by_case.values()), "passed", _ROWS)
    yield from _categories(suite.rows)
    yield from _tools(runs)
    yield from _patterns(suite.rows)
    for row in runs:
        for name in ("passed", "score", "n_expected", "n_calls", "latency_ms"):
            yield _figure(("cases", row["trajectory_id"], name), row[name], 1, f"`{name}` of the run")
        low = not row["passed"] or _is_low(row["score"])
        yield _figure(("cases", row["trajectory_id"], "flagged"), low, 1, f"failed, or score below {_LOW}")


def _totals(suite: SuiteRows, runs: Sequence[Row]) -> Iterator[Figure]:
    passed = sum(row["passed"] for row in runs)
    prices = known_of(row["cost_usd"] for row in runs)
    for name, value, formula in (
        ("cases_total", len({row["case_id"] for row in suite.rows}), "number of cases"),
        ("runs", len(runs), "number of runs that count"),
        ("passed", passed, "number of runs that passed"),
        ("pass_rate", passed / len(runs) if runs else None, "runs that passed divided by runs that count"),
        ("completed", sum(row["completed"] for row in runs), "number of runs with an answer, not cut off"),
        ("calls", sum(row["n_calls"] for row in runs), "number of calls"),
        ("cost_usd", fsum(prices) if prices else None, "sum of the known costs"),
        ("unpriced_runs", len(runs) - len(prices), "number of runs without a known cost"),
        ("without_case_total", suite.without_case, "number of runs that are an attempt at no case"),
        ("incomplete_total", suite.incomplete, "number of tasks of the suite that cannot be used"),
        ("not_run_total", sum(row["trajectory_id"] is None for row in suite.rows), "number of cases without a run"),
    ):
        yield _figure((name,), value, len(runs), formula)
    failed = sum(row["passed"] is None and row["trajectory_id"] is not None for row in suite.rows)
    yield _figure(("failed_total",), failed, len(suite.rows), "number of runs that ended with an error")
    for outcome, count in Counter(row["answer_outcome"] for row in runs if row["answer_outcome"]).items():
        yield _figure(("answers", outcome), count, len(runs), f"number of answers that are `{outcome}`")


def _categories(rows: Sequence[Row]) -> Iterator[Figure]:
    groups: dict[str | None, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["category"], []).append(row)
    for category, own in groups.items():
        at = ("categories", str(category))
        runs = [row for row in own if row["passed"] is not None]
        passed = sum(row["passed"] for row in runs)
        share = passed / len(runs) if runs else None
        score = _mean(row["score"] for row in own)
        yield _figure((*at, "cases"), len({row["case_id"] for row in own}), len(own), "number of cases")
        yield _figure((*at, "runs"), len(runs), len(own), "number of runs that count")
        yield _figure((*at, "passed"), passed, len(runs), "number of runs that passed")
        yield _figure((*at, "pass_rate"), share, len(runs), "runs that passed divided by runs that count")
        for name in ("score", "precision", "recall", "parameter_accuracy"):
            known = known_of(row[name] for row in own)
            yield _figure((*at, name), _mean(known), len(known), f"mean of `{name}` of the runs")
        flagged = _is_low(share) or _is_low(score)
        yield _figure((*at, "flagged"), flagged, len(runs), f"pass rate or score below {_LOW}")
        place = (*_AT, *at, "scores")
        yield from statistic(place, [row["score"] for row in runs], f"scores of runs of {category}", _ROWS)
        for name, column in (("pass_rate", "passed"), ("score", "score")):
            known_rows = [row for row in runs if row[column] is not None]
            values = [float(row[column]) for row in known_rows]
            of_cases = [row["case_id"] for row in known_rows]
            for end in interval((*_AT, *at), (values, of_cases), f"mean of `{column}`", _ROWS) if values else ():
                if end.address.endswith(("ci_low", "ci_high")):
                    side = end.address.rpartition("ci_")[2]
                    yield _figure((*at, f"{name}_{side}"), end.value, end.n, end.formula)


def _tools(runs: Sequence[Row]) -> Iterator[Figure]:
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
        parameters = _mean(row["parameter_accuracy"] for row in rows)
        for name, count in sums.items():
            yield _figure(("tools", tool, name), count, len(rows), f"number of calls of {tool}: {name}")
        flagged = _is_low(recall) or _is_low(parameters)
        for name, value, formula in (
            ("precision", precision, "matched calls divided by calls"),
            ("recall", recall, "matched calls divided by expected calls"),
            ("parameter_accuracy", parameters, "mean over runs of the share of parameters that are right"),
            ("flagged", flagged, f"recall or parameters below {_LOW}"),
        ):
            yield _figure(("tools", tool, name), value, len(rows), formula)


def _patterns(rows: Sequence[Row]) -> Iterator[Figure]:
    for failure_class, kinds in CLASSES.items():
        own = [row for row in rows if any(issue["kind"] in kinds for issue in row["issues"])]
        if not own:
            continue
        at = ("patterns", failure_class)
        counts = Counter(issue["kind"] for row in own for issue in row["issues"] if issue["kind"] in kinds)
        for kind, count in counts.items():
            yield _figure((*at, "kinds", kind), count, len(own), f"number of issues of the kind {kind}")
        yield _figure((*at, "n_runs"), len(own), len(rows), "number of runs with such an issue")
        failed = sum(row["passed"] is False for row in own)
        yield _figure((*at, "n_failed_runs"), failed, len(own), "number of failed runs with such an issue")


def _figure(at: Sequence[str], value: Value, n: int, formula: str) -> Figure:
    return Figure(address(*_AT, *at), value, n, formula, _ROWS)


def _mean(values: Iterable[float | None]) -> float | None:
    known = known_of(values)
    return fmean(known) if known else None


def _is_low(value: float | None) -> bool:
    return value is not None and not reaches(value, _LOW)

"""Case results as rows of `tool_use_results`, failure patterns as rows of `failure_patterns`."""

from dataclasses import asdict

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.tables import TOOL_USE_RESULTS
from evaluation_assets.core.suites.case_results import CaseResult
from evaluation_assets.core.suites.comparison import shown
from evaluation_assets.core.suites.failure_patterns import RECOMMENDATIONS, FailurePattern, most_frequent
from evaluation_assets.core.suites.suite import Case
from evaluation_assets.core.traces.trajectories.model import Trajectory

_ARGUMENTS_SHOWN = 2000
"""Characters of a call's arguments that are stored."""


def tool_use_row(drop: str, suite: str, case: Case, trajectory: Trajectory, result: CaseResult) -> Row:
    """A row of `tool_use_results`."""
    return {
        "drop": drop,
        "suite": suite,
        "case_id": case.id,
        "trajectory_id": trajectory.id,
        "trial": trajectory.trial,
        "category": case.category,
        "tags": list(case.tags),
        "passed": result.passed,
        "score": result.score,
        "precision": result.precision,
        "recall": result.recall,
        "f1": result.f1,
        "parameter_accuracy": result.parameter_accuracy,
        "exact_calls": result.exact_calls,
        "n_expected": result.expected_calls,
        "n_calls": len(result.calls),
        "match_ok": result.match_ok,
        "order_score": result.order,
        "edit_similarity": result.edit_similarity,
        "coverage": result.coverage,
        "keyword_score": result.keyword_score,
        "answer_outcome": result.answer,
        "completed": result.completed,
        "efficiency": result.efficiency,
        "redundancy": result.redundancy,
        "loops": result.loops,
        "errors": result.recovery.errors,
        "recovered": result.recovery.recovered,
        "schema_accuracy": result.schema,
        "latency_ms": result.latency_ms,
        "cost_usd": result.cost_usd,
        "calls": [
            {"tool": call.name, "arguments": shown(call.arguments, _ARGUMENTS_SHOWN), "error": call.error}
            for call in result.calls
        ],
        "tools": [asdict(figures) for figures in result.tools],
        "issues": [asdict(issue) for issue in result.issues],
    }


def case_without_run(drop: str, suite: str, case: Case) -> Row:
    """The row of `tool_use_results` for a case that no trajectory of the drop is an attempt at."""
    known = {
        "drop": drop,
        "suite": suite,
        "case_id": case.id,
        "category": case.category,
        "tags": list(case.tags),
        "n_expected": len(case.expected_calls),
        "calls": [],
        "tools": [],
        "issues": [],
    }
    return {column: known.get(column) for column in TOOL_USE_RESULTS.schema.names}


def failure_pattern_row(drop: str, suite: str, pattern: FailurePattern) -> Row:
    """A row of `failure_patterns`."""
    return {
        "drop": drop,
        "suite": suite,
        "failure_class": pattern.failure_class,
        "kinds": dict(sorted(pattern.kinds.items())),
        "n_issues": pattern.kinds.total(),
        "n_hard_issues": pattern.hard_issues,
        "n_runs": pattern.runs,
        "n_failed_runs": pattern.failed_runs,
        "case_ids": most_frequent(pattern.cases),
        "tool_names": most_frequent(pattern.tools),
        "parameter_names": most_frequent(pattern.parameters),
        "examples": pattern.examples,
        "recommendation": RECOMMENDATIONS[pattern.failure_class],
    }

"""Issues by class, and figures by tool, over rows of results."""

from typing import Any, get_args

import pytest

from evaluation_assets.core.suites.case_issues import IssueKind
from evaluation_assets.core.suites.failure_patterns import (
    CLASSES,
    RECOMMENDATIONS,
    by_tool,
    failure_patterns,
    most_frequent,
)


def issue(kind: str, detail: str = "why", tool: str | None = None, parameter: str | None = None) -> dict[str, Any]:
    return {"kind": kind, "detail": detail, "tool": tool, "parameter": parameter, "hard": kind == "missing_call"}


def row(case_id: str, *issues: dict[str, Any], passed: bool | None = False, **fields: Any) -> dict[str, Any]:
    empty = dict.fromkeys(["category", "score", "precision", "recall", "parameter_accuracy"])
    return {"case_id": case_id, "passed": passed, "issues": list(issues), "tools": []} | empty | fields


def test_every_kind_of_issue_has_one_class_and_every_class_a_recommendation() -> None:
    kinds = [kind for own in CLASSES.values() for kind in own]
    assert sorted(kinds) == sorted(get_args(IssueKind))
    assert RECOMMENDATIONS.keys() == CLASSES.keys()


def test_a_pattern_names_runs_once_and_rests_on_evidence() -> None:
    wrong = issue("wrong_parameter", "expected 5, got 9", "forecast", "days")
    (parameters, over_calling) = failure_patterns(
        [
            row("a", wrong, wrong, issue("missing_parameter", "is missing", "forecast", "city")),
            row("b", wrong, issue("repeated_call", "once more", "forecast"), passed=True),
            row("c", passed=None),
        ]
    )
    assert parameters.failure_class == "parameter_error"
    assert parameters.kinds == {"missing_parameter": 1, "wrong_parameter": 3}
    assert (parameters.kinds.total(), parameters.runs, parameters.failed_runs) == (4, 2, 1)
    assert most_frequent(parameters.cases) == ["a", "b"]
    assert most_frequent(parameters.parameters) == ["forecast.days", "forecast.city"]
    assert parameters.examples == ["a: days expected 5, got 9", "b: days expected 5, got 9"]
    assert (over_calling.failure_class, over_calling.runs, over_calling.failed_runs) == ("over_calling", 1, 0)


def test_what_fails_most_runs_comes_first() -> None:
    rows = [row("a", issue("missing_keywords")), row("b", issue("missing_call")), row("c", issue("missing_call"))]
    found = failure_patterns(rows)
    assert [(each.failure_class, each.hard_issues) for each in found] == [("missing_call", 2), ("keywords", 0)]
    assert failure_patterns([]) == []


def test_tools_are_counted_over_runs() -> None:
    def figures(**fields: Any) -> dict[str, Any]:
        counts = dict.fromkeys(["expected", "called", "matched", "defective", "errors"], 0)
        return {"tool": "f", "parameter_accuracy": None} | counts | fields

    rows = [
        row("a", tools=[figures(expected=2, called=1, matched=1, parameter_accuracy=0.5)]),
        row("b", tools=[figures(called=3, errors=1)]),
    ]
    (tool,) = by_tool(rows)
    assert (tool.expected, tool.called, tool.matched, tool.errors) == (2, 4, 1, 1)
    assert (tool.precision, tool.recall, tool.parameter_accuracy) == (0.25, pytest.approx(0.5), 0.5)
    assert tool.flagged


def test_a_long_detail_is_cut_in_its_middle() -> None:
    (pattern,) = failure_patterns([row("a", issue("missing_call", f"call 1, book with {'x' * 900}, was not made"))])
    (example,) = pattern.examples
    assert len(example) == 203 and example.startswith("a: call 1, book") and example.endswith(", was not made")

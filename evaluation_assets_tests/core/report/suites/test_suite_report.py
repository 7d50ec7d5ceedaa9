"""The figures of a suite's categories."""

from typing import Any

from evaluation_assets.core.report.suites.suite_report import by_category


def row(case_id: str, *, passed: bool | None = False, **fields: Any) -> dict[str, Any]:
    empty = dict.fromkeys(["category", "score", "precision", "recall", "parameter_accuracy"])
    return {"case_id": case_id, "passed": passed} | empty | fields


def test_categories_name_their_denominators() -> None:
    rows = [
        row("a", passed=True, score=1.0, recall=1.0, category="x"),
        row("a", passed=False, score=0.5, category="x"),
        row("b", passed=None, category="x"),
        row("c", passed=True),
    ]
    first, last = by_category(rows)
    assert (first.category, first.cases, first.runs, first.passed) == ("x", 2, 2, 1)
    assert (first.score, first.recall, first.precision) == (0.75, 1, None)
    assert first.flagged
    assert last.category is None
    assert not last.flagged

"""Calls of a tool whose arguments are those of another."""

from collections import Counter
from typing import Any

from evaluation_assets.core.sections.findings.detectors.tools import DETECTOR
from evaluation_assets.core.sections.findings.evidence.call_forms import CallForms, form_rows, forms_in
from evaluation_assets.core.sections.findings.evidence.course import Course
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call


def _tool(name: str, *parameters: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {each: {"type": "string"} for each in parameters}}
    return {"name": name, "parameters_schema": {**schema, "required": list(parameters), "additionalProperties": False}}


AGENT = {"id": "agent", "tools_available": [_tool("get_user", "user_id"), _tool("get_order", "order_id")]}
USER, ORDER = call("get_user", user_id="u1"), call("get_order", order_id="W21")
SWAPPED = call("get_user", order_id="W22")


def test_arguments_of_another_defined_tool() -> None:
    ((kind, evidence),) = found(DETECTOR, run(asked("Look.", USER, SWAPPED), agents=[AGENT]))
    assert kind == "unsuitable_tool"
    assert "W22" in evidence


def test_arguments_as_other_calls_of_another_tool_have_them() -> None:
    ((kind, evidence),) = found(DETECTOR, run(asked("Look.", USER, ORDER, SWAPPED)))
    assert kind == "unsuitable_tool"
    assert "W22" in evidence


def test_suitable_calls() -> None:
    both = call("get_user", user_id="u1", order_id="W22")
    for agents in ([AGENT], []):
        assert found(DETECTOR, run(asked("Look.", USER, ORDER), agents=agents)) == []
    assert found(DETECTOR, run(asked("Look.", USER, ORDER, both))) == []


def test_a_defect_alone_says_nothing_about_another_tool() -> None:
    wrong = call("get_user", name="Lea")
    assert found(DETECTOR, run(asked("Look.", USER, ORDER, wrong), agents=[AGENT])) == []
    assert found(DETECTOR, run(asked("Look.", USER, ORDER, wrong))) == []


BOOK, CHANGE = call("book", flight="F1", user_id="u1"), call("change", booking="B1", flight="F1")


def kinds_among(others: int, *calls: dict[str, Any]) -> list[str]:
    """The kinds that a run with these calls has beside other runs that call both tools as they should."""
    made = run(asked("Look.", *calls))
    forms = CallForms.of([made, *(run(asked("Look.", BOOK, CHANGE)) for _ in range(others))])
    return [finding.kind for finding in DETECTOR.findings(Course(made, forms))]


def test_arguments_as_other_runs_of_the_drop_have_them() -> None:
    """`change` has a `flight` too: only many other calls show that it never has a `user_id`."""
    wrong = call("change", flight="F1", user_id="u1")
    assert kinds_among(10, wrong) == ["unsuitable_tool"]
    assert kinds_among(10, BOOK, CHANGE) == kinds_among(10, call("change", booking="B1")) == []
    assert kinds_among(9, wrong) == kinds_among(0, wrong) == []


def test_what_other_runs_do_too_is_usual() -> None:
    wrong = call("change", flight="F1", user_id="u1")
    assert kinds_among(10, wrong, wrong) == []


def test_forms_come_out_as_they_went_in() -> None:
    one, other = run(asked("Look.", USER, ORDER, ORDER)), run(asked("Look.", SWAPPED))
    counts = Counter(forms_in(one))
    rows = form_rows(counts)
    assert rows == [("get_order", ["order_id"], 2), ("get_user", ["user_id"], 1)]
    assert CallForms.of_rows(rows).counts == CallForms.of([one]).counts == counts
    assert CallForms.of([one]).with_replaced(one, other).counts == Counter(forms_in(other))

"""Calls of a tool whose arguments are those of another."""

from typing import Any

from evaluation_assets.core.sections.findings.detectors.tools import DETECTOR
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

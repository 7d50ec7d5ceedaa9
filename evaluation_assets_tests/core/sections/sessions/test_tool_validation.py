"""Calls against the tools an agent was given."""

from typing import Any

import pytest

from evaluation_assets.core.sections.sessions.interactions import interactions_of
from evaluation_assets.core.sections.sessions.tool_validation import tool_issues, validity
from evaluation_assets_tests.core.sections.sessions.making import call, part, session, turn

SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["query"],
}


def issues(schema: Any, *calls: dict[str, Any]) -> list[tuple[str, str, tuple[str, ...]]]:
    tool = {"name": "search", "description": "", "parameters_schema": schema}
    trajectory = session(turn("go", part("a", "done", *calls)), agents=[{"id": "a", "tools_available": [tool]}])
    return [(issue.fault, issue.severity, issue.parameters) for issue in tool_issues(trajectory)]


def test_a_tool_the_agent_does_not_have_is_high() -> None:
    assert issues(SCHEMA, call("delete", query="x")) == [("unauthorized_tool", "HIGH", ())]


def test_strange_and_missing_parameters_are_medium() -> None:
    assert issues(SCHEMA, call("search", colour="red")) == [
        ("hallucinated_parameter", "MEDIUM", ("colour",)),
        ("missing_parameter", "MEDIUM", ("query",)),
    ]


def test_optional_parameters_may_be_left_out() -> None:
    assert issues(SCHEMA, call("search", query="x")) == []


@pytest.mark.parametrize(
    "schema",
    [
        {**SCHEMA, "additionalProperties": True},
        {"anyOf": [SCHEMA, SCHEMA], "type": "object", "properties": {"query": {}}},
    ],
)
def test_an_open_schema_takes_any_parameter(schema: dict[str, Any]) -> None:
    assert issues(schema, call("search", query="x", colour="red")) == []


def test_in_a_flat_map_all_without_a_default_are_required() -> None:
    flat = {"query": "string", "limit": {"type": "integer", "default": 5}}
    assert issues(flat, call("search", limit=3)) == [("missing_parameter", "MEDIUM", ("query",))]


@pytest.mark.parametrize("limit", ["many", {"from": 1}])
def test_a_value_of_another_kind_is_medium(limit: Any) -> None:
    assert issues(SCHEMA, call("search", query="x", limit=limit)) == [("invalid_parameter", "MEDIUM", ("limit",))]


def test_without_definitions_nothing_is_wrong_and_nothing_is_right() -> None:
    trajectory = session(turn("go", part("a", "done", call("search", query="x"))))
    assert tool_issues(trajectory) == []
    assert validity(interactions_of(trajectory)[0]) is None


def test_an_agent_without_tools_may_call_none() -> None:
    agents = [{"id": "a", "tools_available": []}]
    trajectory = session(turn("go", part("a", "done", call("search", query="x"))), agents=agents)
    assert [issue.fault for issue in tool_issues(trajectory)] == ["unauthorized_tool"]


def test_validity_counts_strange_tools_nothing_and_wrong_parameters_half() -> None:
    tool = {"name": "search", "parameters_schema": SCHEMA}
    calls = [call("search", query="x"), call("search", colour="red"), call("delete")]
    trajectory = session(turn("go", part("a", "done", *calls)), agents=[{"id": "a", "tools_available": [tool]}])
    assert validity(interactions_of(trajectory)[0]) == pytest.approx((1 + 0.5 + 0) / 3)

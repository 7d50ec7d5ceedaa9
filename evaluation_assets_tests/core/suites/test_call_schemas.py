"""Calls against the definitions of their tools, also hostile and broken ones."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.suites.call_schemas import DefectKind, defects, parameter_schema
from evaluation_assets.core.suites.calls import Call
from evaluation_assets.core.suites.comparison import compare_call
from evaluation_assets.core.suites.suite import ExpectedCall
from evaluation_assets.core.traces.trajectories.model import Tool
from evaluation_assets_tests.core.suites.measuring import call, case, expected, measure

WEATHER = Tool(
    name="get_forecast",
    parameters={
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "minimum": 1, "maximum": 7},
            "units": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            "filter": {"type": "object", "properties": {"from": {"type": "float"}}, "required": ["from"]},
        },
        "required": ["city", "days"],
    },
)


@pytest.mark.parametrize(
    ("made", "found"),
    [
        (call("get_forecast", city="Hue", days=5), []),
        (call("forecast"), [("unknown_tool", None)]),
        (Call("get_forecast", None), [("unreadable_arguments", None)]),
        (call("get_forecast", city="Hue"), [("missing_required", "days")]),
        (call("get_forecast", city="Hue", days=5, town="x"), [("undeclared_parameter", "town")]),
        (call("get_forecast", city=5, days=5), [("wrong_type", "city")]),
        (call("get_forecast", city="Hue", days=5, units="kelvin"), [("not_in_enum", "units")]),
        (call("get_forecast", city="Hue", days=9), [("invalid_value", "days")]),
        (call("get_forecast", city="Hue", days=5, filter={}), [("missing_required", "filter.from")]),
        (call("get_forecast", city="Hue", days=5, filter={"from": 1}), []),
    ],
)
def test_calls_are_checked_against_the_tools_definition(made: Call, found: list[tuple[str, str | None]]) -> None:
    assert [(defect.kind, defect.parameter) for defect in defects(made, [WEATHER])] == found


def test_types_of_programming_languages_and_flat_maps_are_understood() -> None:
    flat = Tool(name="f", parameters={"x": "float", "tags": "tuple", "any": "any", "n": {"type": "int", "default": 1}})
    assert defects(call("f", x=1, tags=["a"], any=None), [flat]) == []
    assert [defect.kind for defect in defects(call("f", x="1", tags={}, any=0), [flat])] == ["wrong_type", "wrong_type"]
    assert [defect.parameter for defect in defects(call("f"), [flat])] == ["x", "tags", "any"]
    marked = Tool(name="f", parameters={"x": {"type": "string", "required": True}, "y": {"type": "string"}})
    assert [defect.parameter for defect in defects(call("f"), [marked])] == ["x"]


@pytest.mark.parametrize(
    ("value", "is_right"),
    [("1" + "0" * 29, True), ("-1" + "0" * 19, True), ("12", False), ("0" * 30, False), ("1" * 30 + "x", False)],
)
def test_an_integer_beyond_64_bits_is_read_as_its_digits_and_is_an_integer(value: str, is_right: bool) -> None:
    for kind in ("integer", "number"):
        tool = Tool(name="f", parameters={"type": "object", "properties": {"id": {"type": kind}}})
        assert [each.kind for each in defects(call("f", id=value), [tool])] == ([] if is_right else ["wrong_type"])


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object", "properties": {"x": {"pattern": "(a+)+$"}}},
        {"type": "object", "properties": {"x": {"type": "string", "minLength": "many"}}},
        {"type": "object", "properties": ["x"]},
        {"type": "object", "properties": {"x": 5}},
        {"properties": {"x": {"enum": "y"}}},
    ],
)
def test_a_hostile_or_broken_definition_finds_nothing_and_harms_nothing(parameters: dict[str, Any]) -> None:
    assert defects(call("f", x="a" * 40 + "b"), [Tool(name="f", parameters=parameters)]) == []


def doubling(levels: int) -> dict[str, Any]:
    """Three kilobytes that refer to one another, twice at every level."""
    below = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": below | {f"d{levels}": {"type": "string"}}}


def test_a_definition_that_doubles_at_every_level_is_not_checked_and_says_so() -> None:
    tool = {"name": "f", "parameters": doubling(40)}
    result = measure(case(expected("f"), tools=[tool]), call("f", x=1), weighting={"schema": 1, "recall": 1})
    (issue,) = result.issues
    assert issue.kind == "not_checked" and "more than 10,000 references" in issue.detail
    assert result.passed and result.schema == 1


UNUSABLE = (
    ({"$ref": "#"}, "refers to itself without end"),
    ({"$ref": "file:///etc/passwd"}, "refers to 'file:///etc/passwd', which is not in it"),
    ({"$ref": "http://127.0.0.1:9/schema.json"}, "which is not in it"),
    ({"$ref": "#/$defs/missing"}, "which is not in it"),
    ({"$ref": "http://["}, "which is not in it"),
    ({"$ref": "#/x", "x": 5}, "cannot be used"),
)


@pytest.mark.parametrize(("schema", "reason"), UNUSABLE)
def test_a_rule_whose_schema_leads_nowhere_is_an_issue_that_says_so(schema: dict[str, Any], reason: str) -> None:
    result = measure(case(expected("f", x={"schema": schema})), call("f", x="a"))
    (issue,) = result.issues
    assert issue.kind == "invalid_parameter" and "not checked: the JSON Schema" in issue.detail
    assert reason in issue.detail and not result.passed


@pytest.mark.parametrize(("schema", "reason"), UNUSABLE)
def test_a_definition_that_leads_nowhere_is_not_checked_and_says_so(schema: dict[str, Any], reason: str) -> None:
    (defect,) = defects(call("f", x={}), [Tool(name="f", parameters=schema)])
    assert defect.kind == "not_checked" and reason in defect.detail


def test_a_rule_with_a_schema_that_is_too_deep_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"not": schema}
    with pytest.raises(ValueError, match="too deep"):
        ExpectedCall.model_validate(expected("f", x={"schema": schema}))


@pytest.mark.parametrize(
    "rule",
    [
        {"regex": "(a|aa)+"},
        {"schema": {"pattern": "^(a|aa)+$"}},
        {"schema": {"patternProperties": {"^(a|aa)+$": {}}}},
        {"schema": doubling(40)},
    ],
)
def test_a_rule_that_would_take_for_ever_is_an_issue_that_says_so(rule: dict[str, Any]) -> None:
    text = "a" * 40 + "c"
    value = {text: 1, "x": 1} if "schema" in rule and "pattern" not in rule["schema"] else text
    result = measure(case(expected("f", x=rule)), call("f", x=value))
    (issue,) = result.issues
    assert issue.kind == "invalid_parameter" and "not checked" in issue.detail
    assert not result.passed


@pytest.mark.parametrize(("value", "right"), [("ab-12", True), ("xab-12", False), (5, True)])
def test_patterns_of_a_schema_are_checked(value: Any, right: bool) -> None:
    want = ExpectedCall.model_validate(expected("t", p={"schema": {"pattern": r"^[a-c]+-\d+$"}}))
    assert compare_call(want, call("t", p=value)).is_right is right


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=3), children, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["type", "properties", "required", "x", "$ref", "items"]), json_values))
def test_any_definition_can_be_read(parameters: dict[str, Any]) -> None:
    schema = parameter_schema(parameters)
    assert schema is None or isinstance(schema, dict)
    found = defects(call("f", x=1), [Tool(name="f", parameters=parameters)])
    assert all(each.kind in get_args(DefectKind) for each in found)

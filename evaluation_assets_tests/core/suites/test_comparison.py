"""Arguments of calls against the rules for their parameters."""

from typing import Any

import pytest

from evaluation_assets.core.suites.calls import Call
from evaluation_assets.core.suites.comparison import compare_call
from evaluation_assets.core.suites.suite import ExpectedCall
from evaluation_assets_tests.core.suites.measuring import call, expected


@pytest.mark.parametrize(
    ("rule", "value", "status"),
    [
        ("Hanoi", "Hanoi", "right"),
        ("Hanoi", "hanoi", "wrong"),
        ({"equals": "Hanoi", "ignore_case": True}, "HANOI", "right"),
        ({"equals": "San Diego, CA", "ignore_punctuation": True}, "SanDiego CA", "right"),
        (1, 1.0, "right"),
        (1, "1", "wrong"),
        (1, True, "wrong"),
        (True, True, "right"),
        ({"equals": {"a": [1, {"b": 2}], "c": None}}, {"c": None, "a": [1.0, {"b": 2}]}, "right"),
        ({"equals": {"a": 1}}, {"a": 1, "b": 2}, "wrong"),
        ([1, 2], [2, 1], "wrong"),
        ({"equals": 3.14, "tolerance": 0.01}, 3.145, "right"),
        ({"equals": 3.14, "tolerance": 0.01}, 3.16, "wrong"),
        ({"equals": 20, "tolerance": 0.01}, 19.99, "right"),
        ({"equals": 0.5, "tolerance": 0.01}, 0.51, "right"),
        ({"equals": 0.3, "tolerance": 0.1}, 0.41, "wrong"),
        ({"equals": 0.5, "tolerance": 0.01}, 10**400, "wrong"),
        ({"equals": 0.5, "tolerance": 0.01}, float("nan"), "wrong"),
        ({"one_of": ["celsius", "fahrenheit"]}, "fahrenheit", "right"),
        ({"one_of": ["celsius", "fahrenheit"]}, "kelvin", "wrong"),
        ({"regex": r"\d{4}-\d\d"}, "2024-08", "right"),
        ({"regex": r"\d{4}-\d\d"}, "2024-08-15", "invalid"),
        ({"regex": r"a+"}, "a" * 20_000, "invalid"),
        ({"schema": {"type": "integer", "minimum": 1}}, 5, "right"),
        ({"schema": {"type": "integer", "minimum": 1}}, 0, "invalid"),
        ({"equals": None}, None, "right"),
        ({}, {"anything": 1}, "right"),
        (None, 5, "right"),
    ],
)
def test_a_parameter_is_right_or_says_why_not(rule: Any, value: Any, status: str) -> None:
    want = ExpectedCall.model_validate(expected("t", p=rule))
    (outcome,) = compare_call(want, call("t", p=value)).parameters
    assert outcome.status == status
    assert bool(outcome.reason) == (status != "right")


def test_required_optional_forbidden_and_other_parameters() -> None:
    want = ExpectedCall.model_validate(
        expected("t", due={}, may={"equals": 1, "optional": True}, never={"forbidden": True})
        | {"other_parameters": "forbidden"}
    )
    given_ = compare_call(want, call("t", never=0, more=1))
    assert [(outcome.name, outcome.status) for outcome in given_.parameters] == [
        ("due", "missing"),
        ("never", "forbidden"),
        ("more", "unexpected"),
    ]
    assert compare_call(want, call("t", due="x")).is_right


def test_arguments_that_are_no_object_are_missing_with_that_reason() -> None:
    want = ExpectedCall.model_validate(expected("t", code={}))
    (outcome,) = compare_call(want, Call("t", None)).parameters
    assert outcome.reason.startswith("is missing: the arguments are not a JSON object")


def test_texts_that_look_the_same_are_told_apart() -> None:
    want = ExpectedCall.model_validate(expected("t", p="Hu\u1ebf"))
    (outcome,) = compare_call(want, call("t", p="Hue\u0302\u0301")).parameters
    assert outcome.reason.endswith("in another Unicode form")

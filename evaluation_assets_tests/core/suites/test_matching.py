"""Which call answers which expected call, and whether order and extra calls count."""

import pytest

from evaluation_assets_tests.core.suites.measuring import call, case, expected, kinds, measure


def test_matching_is_optimal_where_greedy_would_fail() -> None:
    wants = (expected("f", x=1), expected("f", x=1, y=2))
    result = measure(case(*wants, match="superset"), call("f", x=1, y=2), call("f", x=1))
    assert result.passed
    assert result.parameter_accuracy == 1


def test_a_second_call_is_extra_and_a_second_expectation_needs_a_second_call() -> None:
    twice = measure(case(expected("f")), call("f"), call("f"))
    assert (twice.precision, twice.recall, kinds(twice)) == (0.5, 1, ["repeated_call"])
    once = measure(case(expected("f"), expected("f")), call("f"))
    assert (once.precision, once.recall, kinds(once)) == (1, 0.5, ["missing_call"])
    assert not once.passed


def test_names_as_providers_allow_them_are_the_same_tool() -> None:
    assert measure(case(expected("math.sqrt", x=4)), call("math_sqrt", x=4)).passed


@pytest.mark.parametrize(
    ("match", "calls", "passes"),
    [
        ("exact", "ab", True),
        ("exact", "ba", False),
        ("exact", "abc", False),
        ("in_order", "acb", True),
        ("in_order", "ba", False),
        ("any_order", "ba", True),
        ("any_order", "bac", False),
        ("any_order", "a", False),
        ("superset", "cba", True),
        ("superset", "a", False),
        ("subset", "a", True),
        ("subset", "", True),
        ("subset", "abc", False),
        ("in_order", "aab", True),
    ],
)
def test_order_and_extra_calls_count_only_as_the_case_asks(match: str, calls: str, passes: bool) -> None:
    of = case(expected("a", x=1), expected("b", x=1), match=match)
    result = measure(of, *(call(name, x=1) for name in calls))
    assert result.match_ok is passes
    assert result.passed is passes
    wrong = measure(of, *(call(name, x=2) for name in calls))
    assert wrong.match_ok is (match == "subset" and not calls)


def test_only_order_being_wrong_is_said_so() -> None:
    of = case(expected("a"), expected("b"), match="exact")
    assert kinds(measure(of, call("b"), call("a"))) == ["wrong_order"]

"""The score and the issues of a case, and which case a run belongs to."""

from typing import Any

import pytest
from pydantic import ValidationError

from evaluation_assets.core.suites import call_metrics
from evaluation_assets.core.suites.calls import Call, Run, run_of
from evaluation_assets.core.suites.case_results import CaseIndex, evaluate
from evaluation_assets.core.suites.suite import Suite
from evaluation_assets.core.traces.trajectories.model import Tool
from evaluation_assets_tests.core import making
from evaluation_assets_tests.core.suites.measuring import call, case, expected, kinds, measure


def test_a_score_of_exactly_the_least_passes_whatever_floating_point_makes_of_it() -> None:
    result = measure(
        case(expected("f"), expected("g"), keywords=[*"abcde"]), call("f"), call("g"), call("h"), answer="abc"
    )
    assert result.parts == {"precision": 2 / 3, "recall": 1, "content": 0.6}
    assert result.score is not None and result.score == pytest.approx(0.8) and result.score < 0.8
    assert result.passed
    assert not call_metrics.reaches(0.799999, 0.8)


@pytest.mark.parametrize(
    ("calls", "part"),
    [
        ([], None),
        ([call("f", x=1)], 1.0),
        ([call("f", x=1), call("g", x=1)], 1.0),
        ([call("f", x=1), call("g", x="one")], 0.5),
        ([call("f", x="one"), call("g", x=1)], 0.0),
    ],
)
def test_calls_that_were_not_expected_earn_nothing_by_agreeing_with_their_definition(
    calls: list[Call], part: float | None
) -> None:
    of = case(expected("f"), tools=[{"name": name, "parameters": {"x": "integer"}} for name in "fg"])
    result = measure(of, *calls, weighting={"schema": 1, "recall": 1})
    assert result.parts.get("schema") == part


def test_a_call_where_none_is_needed_scores_zero() -> None:
    of = case(should_not_call_tools=True, keywords=["weather"])
    assert measure(of, answer="The weather is short-term.").score == 1
    called = measure(of, call("get_weather"), answer="The weather is short-term.")
    assert (called.score, called.passed, kinds(called)) == (0, False, ["call_not_allowed"])
    assert (called.precision, called.f1) == (0, 0)


def test_where_rightly_nothing_is_called_there_is_no_share_of_calls() -> None:
    idle = measure(case(should_not_call_tools=True))
    assert (idle.passed, idle.precision, idle.recall, idle.f1) == (True, None, None, None)
    lazy = measure(case(expected("f")))
    assert (lazy.precision, lazy.recall, lazy.f1) == (None, 0, 0)


def test_a_missing_call_fails_the_case_whatever_its_score() -> None:
    of = case(*(expected(name) for name in "abcdefghij"))
    result = measure(of, *(call(name) for name in "abcdefghi"))
    assert result.score == pytest.approx((1 + 0.9) / 2)
    assert not result.passed


@pytest.mark.parametrize("match", [None, "superset", "in_order"])
def test_a_call_that_has_to_succeed_fails_the_case_until_it_does(match: str | None) -> None:
    of = case(expected("cancel", id=7) | {"succeeds": True}, match=match)
    failed = Call("cancel", {"id": 7}, error="HTTP 500")
    result = measure(of, failed)
    assert (result.passed, result.exact_calls, result.parameter_accuracy) == (False, 0, 1)
    (issue,) = result.issues
    assert (issue.kind, issue.hard, issue.call) == ("missing_call", True, 0)
    assert issue.detail == 'call 1, cancel with {"id": 7}, failed: HTTP 500'
    again = measure(case(expected("cancel", id=7) | {"succeeds": True}, match="superset"), failed, call("cancel", id=7))
    assert (again.passed, again.exact_calls, kinds(again)) == (True, 1, [])
    assert measure(
        case(expected("cancel", id=7), match=match), failed
    ).passed  # as long as the case does not ask for it


def test_with_same_effects_a_call_that_failed_is_told_with_its_error() -> None:
    of = case(expected("cancel", id=7), match="same_effects")
    other, failed = Call("cancel", {"id": 8}, error="not found"), Call("cancel", {"id": 7}, error="HTTP 500")
    (issue,) = measure(of, other, failed).issues
    assert (issue.detail, issue.call) == ('call 1, cancel with {"id": 7}, failed: HTTP 500', 1)
    assert measure(of, other).issues[0].detail == 'call 1, cancel with {"id": 7}, was not made'


def test_calls_that_were_not_expected_are_told_with_their_arguments() -> None:
    of = case(expected("pay", id=7), match="any_order")
    again = measure(of, call("pay", id=7), call("pay", id=8)).issues[0]
    other = measure(of, call("pay", id=7), call("look")).issues[0]
    instead = measure(of, call("look", id=9)).issues[1]
    assert again.detail == 'call 2, pay with {"id": 8}, is one more than expected'
    assert other.detail == "call 2, look, was not expected"
    assert instead.detail == 'call 1 went to look with {"id": 9} while an expected call is missing'


def test_parts_that_do_not_apply_are_left_out_and_the_weights_renormalised() -> None:
    only_words = measure(case(keywords=["a", "b"]), call("x"), answer="A")
    assert (only_words.score, only_words.parts) == (0.5, {"content": 0.5})
    with_calls = measure(case(expected("f", x=1), keywords=["a"]), call("f", x=2), answer="b")
    assert with_calls.score == pytest.approx((0.3 * 1 + 0.3 * 1 + 0.3 * 0 + 0.1 * 0) / 1)


def test_the_weighting_of_completion_coverage_content_and_efficiency() -> None:
    of = case(expected("search"), keywords=["memory", "gpu"], optimal_steps=1)
    result = measure(of, call("search"), call("search"), answer="Memory!", weighting="completion")
    assert result.score == pytest.approx(0.3 * 1 + 0.25 * 1 + 0.3 * 0.5 + 0.15 * 0.5)


def test_a_wrong_value_may_count_in_part() -> None:
    of = case(expected("f", x=1, y=2))
    suite = Suite(name="s", wrong_value="credit", cases=(of,))
    result = evaluate(of, Run(calls=(call("f", x=1, y=3),)), suite)
    assert (result.parameter_accuracy, result.passed) == (0.75, True)
    by_pattern = case(expected("f", x=1, y={"regex": "a+"}))
    assert evaluate(by_pattern, Run(calls=(call("f", x=1, y="b"),)), suite).parameter_accuracy == 0.75
    strict = suite.model_copy(update={"wrong_value_credit": 0})
    assert evaluate(of, Run(calls=(call("f", x=1, y=3),)), strict).parameter_accuracy == 0.5


def test_credit_without_wrong_values_that_have_any_is_refused() -> None:
    with pytest.raises(ValidationError, match="wrong_value_credit needs wrong_value: credit"):
        Suite(name="s", wrong_value_credit=0.5)


@pytest.mark.parametrize(
    ("given", "issue"),
    [
        ({"city": "Hue", "days": 3}, "wrong_parameter"),
        ({"city": "Hue"}, "missing_parameter"),
        ({"city": "Hue", "days": "2"}, "wrong_parameter"),
    ],
)
def test_a_required_parameter_that_is_wrong_or_missing_fails_the_case_whatever_its_score(
    given: dict[str, Any], issue: str
) -> None:
    of = case(expected("forecast", city="Hue", days=2, units={"equals": "celsius", "optional": True}))
    result = measure(of, call("forecast", **given))
    assert result.score is not None and result.score > 0.8
    assert (kinds(result), result.passed) == ([issue], False)
    assert measure(of, call("forecast", city="Hue", days=2, units="kelvin")).passed
    assert (
        measure(of, call("forecast", **given), call("forecast", city="Hue", days=2)).issues[0].kind == "repeated_call"
    )


def test_exact_calls_and_expected_calls_count_the_same_calls() -> None:
    of = case(expected("find_berth", n=1), expected("book_berth", n=1), match="same_effects")
    result = measure(of, call("find_berth", n=1), call("book_berth", n=1))
    assert (result.passed, result.exact_calls, result.expected_calls) == (True, 2, 2)


def test_an_unexpected_call_went_to_the_wrong_tool_when_another_is_missing_else_it_is_unnecessary() -> None:
    of = case(expected("lookup"))
    assert kinds(measure(of, call("search"), call("search", q=1))) == ["missing_call", "wrong_tool", "unnecessary_call"]


def test_budgets() -> None:
    of = case(expected("f"), max_calls=1, max_latency_ms=100, max_cost_usd=0.01)
    result = measure(of, call("f"), call("f"), latency_ms=150.0, cost_usd=0.02)
    assert kinds(result) == ["repeated_call", "too_many_calls", "latency_over_budget", "cost_over_budget"]
    assert not result.passed
    slow = measure(of, call("f"), latency_ms=150.0)
    assert slow.passed
    assert not measure(case(max_calls=0), call("f")).passed


def test_an_unknown_tool_fails_the_case_and_a_defect_does_not() -> None:
    of = case(expected("f"), tools=[{"name": "f", "parameters": {"x": "integer"}}])
    assert kinds(measure(of, call("f", x="one"))) == ["schema_defect"]
    made_up = measure(of, call("f", x=1), call("g"))
    assert "unknown_tool" in kinds(made_up)
    assert not made_up.passed
    assert made_up.schema == 0.5


def test_tools_of_the_agent_are_used_where_the_suite_names_none() -> None:
    result = measure(case(expected("f")), call("f"), tools=(Tool(name="g"),))
    assert kinds(result) == ["unknown_tool"]


def test_a_wrong_answer_fails_and_not_found_is_an_outcome_of_its_own() -> None:
    of = case(answer="42")
    assert measure(of, answer="42").passed
    assert kinds(measure(of, answer="41")) == ["wrong_answer"]
    gave_up = measure(of, answer="NOT_FOUND")
    assert (gave_up.answer, gave_up.score, kinds(gave_up)) == ("not_found", 0, ["not_found"])


def test_a_case_with_nothing_but_a_budget_passes_without_a_score() -> None:
    result = measure(case(max_calls=3), call("f"))
    assert (result.score, result.passed) == (None, True)


def test_a_trajectory_is_a_run() -> None:
    text = making.call('{"q": 1}') + making.result("Error: no") + making.call("raw text") + making.answer("42")
    run = run_of(making.trajectory(text, duration=1.5, final_result="已达最大步骤(10)"))
    assert [(made.name, made.arguments, made.error) for made in run.calls] == [
        ("microsandbox_execute", {"q": 1}, "Error: no"),
        ("microsandbox_execute", None, None),
    ]
    assert (run.answer, run.cut_off, run.latency_ms, run.tools) == ("42", True, 1500, None)


def test_a_run_belongs_to_the_case_of_its_id_or_of_its_words() -> None:
    first, second = case(id="1", message="What is\nthis?"), case(id="2", message="other")
    index = CaseIndex([first, second, case(id="3", message="other")])
    assert index.find("1", "whatever") is first
    assert index.find("t-9", "What  is this?") is first
    assert index.find("t-9", "other") is None


@pytest.mark.parametrize("match", [None, "any_order", "superset"])
@pytest.mark.parametrize("wrong_value", ["fail", "credit"])
def test_a_parameter_where_no_others_are_allowed_fails_the_case(match: str | None, wrong_value: str) -> None:
    want = expected("get_weather", city="Hue") | {"other_parameters": "forbidden"}
    of = case(want, match=match)
    own = Suite.model_validate(
        {"name": "s", "cases": [of.model_dump(by_alias=True)], "wrong_value": wrong_value, "min_score": 0.5}
    )
    given = call("get_weather", city="Hue", units="c")
    (issue,) = evaluate(of, Run(calls=(given,), answer="done"), own).issues
    assert (issue.kind, issue.parameter, issue.hard) == ("unexpected_parameter", "units", True)
    assert evaluate(of, Run(calls=(call("get_weather", city="Hue"),), answer="done"), own).passed

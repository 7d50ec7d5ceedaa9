"""Runs measured by cases: matching, parameters, answers, metrics, score and issues."""

from typing import Any, get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evaluation_assets.core.suites import call_metrics
from evaluation_assets.core.suites.answers import AnswerOutcome, compare_answer
from evaluation_assets.core.suites.call_schemas import DefectKind, defects, parameter_schema
from evaluation_assets.core.suites.calls import Call, Run, run_of
from evaluation_assets.core.suites.case_results import CaseIndex, CaseResult, evaluate
from evaluation_assets.core.suites.comparison import compare_call
from evaluation_assets.core.suites.effects import changes_state
from evaluation_assets.core.suites.matching import align
from evaluation_assets.core.suites.suite import Case, ExpectedCall, ParameterRule, Part, ReferenceAnswer, Suite
from evaluation_assets.core.trajectories.model import Tool
from evaluation_assets_tests.core import making


def call(name: str, /, **arguments: Any) -> Call:
    return Call(name, arguments)


def expected(tool: str, /, **parameters: Any) -> dict[str, Any]:
    return {"tool": tool, "parameters": parameters}


def case(*calls: dict[str, Any], **fields: Any) -> Case:
    return Case.model_validate({"id": "c", "message": "do it", "expected_calls": calls} | fields)


def measure(of: Case, *calls: Call, answer: str | None = "done", weighting: Any = "calls", **run: Any) -> CaseResult:
    suite = Suite(name="s", weighting=weighting, cases=(of,))
    return evaluate(of, Run(calls=calls, answer=answer, **run), suite)


def kinds(result: CaseResult) -> list[str]:
    return [issue.kind for issue in result.issues]


# ---- parameters ------------------------------------------------------------------------------------------------


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
    assert outcome.reason.startswith("is missing: the arguments are no JSON object")


# ---- answers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "answer", "outcome"),
    [
        ("11614.72", " 11614.72\n", "exact"),
        ("11614.72", "$11,614.72", "normalised"),
        ("11614.72", "11 614.72 USD", "normalised"),
        ("11614.72", r"So it is \boxed{\$11,614.72}.", "normalised"),
        ("-5", "-$5.00", "normalised"),
        ("3.61e-19", "3.610E-19", "normalised"),
        ("2", "2.", "normalised"),
        ("New York", "new  york", "normalised"),
        (r"\frac{1}{2}", r"\boxed{\frac{1}{2}}", "normalised"),
        ("42", "43", "different"),
        ("42", "", "missing"),
        ("42", None, "missing"),
        ("42", "NOT_FOUND", "not_found"),
        ("42", r"\boxed{NOT_FOUND}", "not_found"),
        ("NOT_FOUND", "NOT_FOUND", "exact"),
        ("1,2", "12", "different"),
        ("0.5", ".50", "normalised"),
        ("0", "-0.00", "normalised"),
    ],
)
def test_answers_compare_exactly_first_then_normalised(reference: str, answer: str | None, outcome: str) -> None:
    assert compare_answer(ReferenceAnswer(value=reference), answer) == outcome


def test_an_answer_can_be_held_to_its_exact_text_or_given_tolerance() -> None:
    assert compare_answer(ReferenceAnswer(value="42", compare="exact"), "42.0") == "different"
    assert compare_answer(ReferenceAnswer(value="3.14", tolerance=0.01), "3.149") == "within_tolerance"
    assert compare_answer(ReferenceAnswer(value="3.14", tolerance=0.01), "3.16") == "different"


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_compared(reference: str, answer: str) -> None:
    same = compare_answer(ReferenceAnswer(value=reference), reference)
    assert same == ("exact" if reference.strip() else "missing")
    assert compare_answer(ReferenceAnswer(value=reference), answer) in get_args(AnswerOutcome)


# ---- matching --------------------------------------------------------------------------------------------------


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


# ---- effects ---------------------------------------------------------------------------------------------------

CANCEL, BOOK, LOOK = call("cancel_trip", id=1), call("book_trip", id=2), call("get_trip", id=1)
FAILED = Call("cancel_trip", {"id": 9}, error="Error: no such trip")


@pytest.mark.parametrize(
    ("calls", "score", "passes"),
    [
        ((CANCEL,), 1.0, True),
        ((LOOK, FAILED, CANCEL, call("search_trips")), 1.0, True),
        ((CANCEL, BOOK), 0.75, False),
        ((call("cancel_trip", id=3),), 0.0, False),
        ((LOOK,), 0.0, False),
        ((), 0.0, False),
    ],
)
def test_the_same_effects_are_the_expected_changes_and_no_other(
    calls: tuple[Call, ...], score: float, passes: bool
) -> None:
    of = case(expected("get_trip", id=1), expected("cancel_trip", id=1), match="same_effects")
    result = measure(of, *calls)
    assert (result.score, result.passed, result.match_ok) == (pytest.approx(score), passes, passes)


@pytest.mark.parametrize(
    ("calls", "passes"), [((), True), ((LOOK,), True), ((FAILED,), True), ((BOOK,), False), ((LOOK, CANCEL), False)]
)
def test_where_nothing_is_to_be_changed_reading_is_fine(calls: tuple[Call, ...], passes: bool) -> None:
    result = measure(case(match="same_effects"), *calls)
    assert (result.score, result.passed) == (float(passes), passes)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("cancel_reservation", True),
        ("modify_pending_order_items", True),
        ("transfer_money", True),
        ("SendEmail", True),
        ("github_create_issue", True),
        ("GorillaFileSystem.rm", False),  # no verb that is known
        ("get_order_status", False),
        ("calculate", False),
        ("transfer_to_human_agents", False),
        ("find_user_id_by_name_zip", False),
        ("isBooked", False),
    ],
)
def test_a_tools_verb_tells_whether_it_changes_something(name: str, changes: bool) -> None:
    assert changes_state(name) is changes


def test_what_a_dialogue_told_the_user_counts_wherever_it_was_said() -> None:
    of = case(keywords=("$23,553",))
    assert measure(of, said="In all $23,553.\nGoodbye", answer="Goodbye").keyword_score == 1.0
    assert measure(of, answer="Goodbye").keyword_score == 0.0


# ---- score and issues ------------------------------------------------------------------------------------------


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


def test_a_missing_call_fails_the_case_whatever_its_score() -> None:
    of = case(*(expected(name) for name in "abcdefghij"))
    result = measure(of, *(call(name) for name in "abcdefghi"))
    assert result.score == pytest.approx((1 + 0.9) / 2)
    assert not result.passed


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
    suite = Suite(name="s", wrong_value_credit=0.5, cases=(of,))
    assert evaluate(of, Run(calls=(call("f", x=1, y=3),)), suite).parameter_accuracy == 0.75


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


# ---- metrics ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "cut_off", "completed"),
    [
        ("4", False, True),
        ("", False, False),
        (None, False, False),
        ("4", True, False),
        ("I\u2019m unable to do that.", False, False),
        ("I'm sorry, but I cannot help with that request.", False, False),
        ("Sorry. I don't have access to the internet.", False, False),
        ("The log says 'error occurred' twice: the disk was full.", False, True),
        ("The cause: the disk was full. I cannot access more, but this explains it.", False, True),
    ],
)
def test_completion_is_an_answer_that_is_no_refusal_of_a_run_that_was_not_cut_off(
    answer: str | None, cut_off: bool, completed: bool
) -> None:
    assert call_metrics.completed(answer, cut_off=cut_off) is completed


@pytest.mark.parametrize(
    ("optimal", "made", "efficiency"),
    [(2, 4, 0.5), (2, 1, 1.0), (3, 0, 0.0), (0, 0, None), (0, 3, 0.0), (None, 3, None)],
)
def test_efficiency_is_defined_for_every_number_of_steps(
    optimal: int | None, made: int, efficiency: float | None
) -> None:
    assert call_metrics.efficiency(optimal, made) == efficiency


def test_a_run_that_makes_none_of_the_expected_calls_is_not_efficient() -> None:
    of = case(expected("f"), optimal_steps=3)
    assert [measure(of, *made).efficiency for made in ((), (call("g"),), (call("f"),))] == [0, 0, 1]


def test_loops_are_the_same_calls_with_the_same_results() -> None:
    stuck = [Call("a", {}, result="1"), Call("b", {}, result="2")] * 3
    assert call_metrics.loops(stuck) == [call_metrics.Loop(0, 2, 3)]
    polling = [Call("a", {}, result=str(number)) for number in range(5)]
    assert call_metrics.loops(polling) == []
    assert call_metrics.redundancy(stuck) == pytest.approx(4 / 6)
    assert call_metrics.redundancy([]) is None


def test_recovery_is_a_success_of_the_same_tool_soon_after_an_error() -> None:
    failed, worked = Call("a", {"x": 1}, error="boom"), Call("a", {"x": 2})
    assert call_metrics.recovery([failed, failed, worked]) == call_metrics.Recovery(2, 2)
    assert call_metrics.recovery([failed, Call("b", {}), Call("b", {}), Call("b", {}), worked]).rate == 0
    assert call_metrics.recovery([worked]).rate is None


def test_a_reference_to_no_earlier_call_dangles() -> None:
    first = Call("a", {"q": "x"}, label="var1")
    good, bad = Call("b", {"id": ["$var1.id$"]}, label="var2"), Call("c", {"sum": "2 * $var3.n$"}, label="var4")
    assert call_metrics.dangling_references([first, good, bad]) == [(2, "var3")]
    assert call_metrics.dangling_references([Call("c", {"price": "$x$"})]) == []


def test_pass_at_k_and_pass_hat_k_are_over_tasks() -> None:
    rates = call_metrics.trial_rates({"a": [True, False], "b": [True, True], "c": [False, False, True]})
    assert [(rate.k, rate.n_tasks) for rate in rates] == [(1, 3), (2, 3)]
    assert rates[0].pass_hat == pytest.approx((0.5 + 1 + 1 / 3) / 3)
    assert rates[0].pass_at == pytest.approx((0.5 + 1 + 1 / 3) / 3)
    assert rates[1].pass_hat == pytest.approx(1 / 3)
    assert rates[1].pass_at == pytest.approx((1 + 1 + 2 / 3) / 3)
    assert call_metrics.trial_rates({}) == []


# ---- definitions of tools --------------------------------------------------------------------------------------

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


# ---- trajectories ----------------------------------------------------------------------------------------------


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


# ---- what holds for any calls ----------------------------------------------------------------------------------

tools = st.sampled_from(["a", "b", "update_c"])
arguments = st.dictionaries(st.sampled_from(["x", "y"]), st.integers(0, 2))
any_call = st.builds(Call, tools, arguments, error=st.sampled_from([None, "boom"]))
any_calls = st.lists(any_call, max_size=6)
wanted = st.builds(
    lambda tool, parameters: ExpectedCall(
        tool=tool, parameters={name: ParameterRule(equals=value) for name, value in parameters.items()}
    ),
    tools,
    arguments,
)
matches = st.sampled_from([None, "exact", "in_order", "any_order", "superset", "subset", "same_effects"])
any_case = st.builds(
    lambda calls, match, steps, words: Case(
        id="c", message="m", expected_calls=tuple(calls), match=match, optimal_steps=steps, keywords=words
    ),
    st.lists(wanted, max_size=5),
    matches,
    st.none() | st.integers(0, 4),
    st.sampled_from([(), ("done", "now")]),
)
own_weights = st.dictionaries(st.sampled_from(get_args(Part)), st.floats(0.01, 10), min_size=1)
weightings = st.sampled_from(["calls", "completion"]) | own_weights
definitions = st.none() | st.fixed_dictionaries(
    {},
    optional={name: st.fixed_dictionaries({}, optional={"x": st.just("integer")}) for name in ("a", "b", "stranger")},
)


@given(any_case, any_calls, weightings)
def test_every_number_is_within_0_and_1(of: Case, calls: list[Call], weighting: Any) -> None:
    result = measure(of, *calls, weighting=weighting)
    numbers = {
        name: getattr(result, name)
        for name in (
            *("score", "precision", "recall", "f1", "parameter_accuracy", "order", "edit_similarity", "coverage"),
            *("keyword_score", "efficiency", "redundancy", "schema"),
        )
    } | {"recovery": result.recovery.rate}
    assert {name: value for name, value in numbers.items() if value is not None and not 0 <= value <= 1} == {}


def test_a_failed_attempt_does_not_take_the_place_of_the_call_that_worked() -> None:
    of = case(expected("cancel_order", x=1), match="same_effects")
    failed, worked = Call("cancel_order", {"x": 1}, error="busy"), call("cancel_order", x=1)
    for calls in ((failed, worked), (worked, failed)):
        result = measure(of, *calls)
        assert (result.match_ok, result.recall) == (True, 1)


def test_a_call_answers_the_expected_call_that_has_parameters_to_check() -> None:
    unchecked = expected("a") | {"other_parameters": "allowed"}
    of = case(unchecked, expected("a", y=0), unchecked)
    for calls in ([call("a"), call("a", y=0)], [call("a", y=0), call("a")]):
        assert call_metrics.parameter_accuracy(align(of.expected_calls, calls)) == 1


@settings(max_examples=500)
@given(any_case, any_calls, st.randoms(use_true_random=False))
def test_the_order_of_calls_changes_nothing_where_no_order_is_asked(of: Case, calls: list[Call], random: Any) -> None:
    of = of.model_copy(update={"match": None if of.match in ("exact", "in_order") else of.match})
    shuffled = list(calls)
    random.shuffle(shuffled)
    first, second = measure(of, *calls), measure(of, *shuffled)
    assert first.score == pytest.approx(second.score)
    assert first.exact_calls == second.exact_calls
    assert (first.precision, first.recall, first.match_ok) == (second.precision, second.recall, second.match_ok)
    assert first.passed == second.passed


@settings(max_examples=1000)
@given(any_case, any_calls, st.integers(0, 6), weightings, definitions, st.sampled_from([{}, {"x": 1}, {"x": "one"}]))
def test_an_unexpected_call_never_raises_a_score(
    of: Case, calls: list[Call], place: int, weighting: Any, known: dict[str, Any] | None, given_: dict[str, Any]
) -> None:
    # A case that names no call, but a number of steps, expects so many of any.
    assume(of.expected_calls or len(calls) >= (of.optimal_steps or 0))
    tools = None if known is None else tuple(Tool(name=name, parameters=known[name]) for name in known)
    without = measure(of, *calls, weighting=weighting, tools=tools)
    with_it = measure(of, *calls[:place], call("stranger", **given_), *calls[place:], weighting=weighting, tools=tools)
    if with_it.score is not None:
        assert without.score is None or with_it.score <= without.score + call_metrics.TOLERANCE
    assert without.passed or not with_it.passed


@given(any_case, any_calls, st.integers(0, 6))
def test_an_unexpected_change_never_raises_a_score_of_effects(of: Case, calls: list[Call], place: int) -> None:
    of = of.model_copy(update={"match": "same_effects"})
    without = measure(of, *calls)
    other = call("delete_d", x=99)
    with_it = measure(of, *calls[:place], other, *calls[place:])
    assert without.score is not None and with_it.score is not None
    assert with_it.score <= without.score + 1e-12
    assert without.passed or not with_it.passed


@given(st.lists(wanted, max_size=5))
def test_the_expected_calls_themselves_are_perfect(wants: list[ExpectedCall]) -> None:
    of = Case(id="c", message="m", expected_calls=tuple(wants), match="exact")
    calls = [
        Call(want.tool, {name: rule.equals for name, rule in want.parameters.items()}) for want in of.expected_calls
    ]
    result = measure(of, *calls)
    assert result.passed
    assert result.match_ok
    assert {result.score, result.precision, result.recall, result.f1, result.parameter_accuracy} <= {1.0, None}


@given(st.lists(wanted, max_size=5), any_calls)
def test_an_alignment_uses_everything_at_most_once(wants: list[ExpectedCall], calls: list[Call]) -> None:
    alignment = align(wants, calls)
    taken = [pair.call for pair in alignment.pairs]
    answered = [pair.expected for pair in alignment.pairs]
    assert sorted([*taken, *alignment.surplus]) == list(range(len(calls)))
    assert sorted([*answered, *alignment.missing]) == list(range(len(wants)))

"""Properties that hold for any case and any calls."""

from typing import Any, get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evaluation_assets.core.suites import call_metrics
from evaluation_assets.core.suites.calls import Call
from evaluation_assets.core.suites.matching import align
from evaluation_assets.core.suites.suite import Case, ExpectedCall, ParameterRule, Part
from evaluation_assets.core.traces.trajectories.model import Tool
from evaluation_assets_tests.core.suites.measuring import call, case, expected, measure

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

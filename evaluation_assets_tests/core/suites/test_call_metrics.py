"""Metrics of calls: completion, efficiency, loops, recovery, pass@k and pass^k."""

import pytest

from evaluation_assets.core.suites import call_metrics
from evaluation_assets.core.suites.calls import Call
from evaluation_assets_tests.core.suites.measuring import call, case, expected, measure


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


@pytest.mark.parametrize(
    ("keyword", "answer", "found"),
    [
        ("23553", "You saved $23,553 in all.", True),
        ("23553", "You saved 23 553 in all.", False),
        ("1234567", "It is 1,234,567.", True),
        ("23,553", "You saved $23,553.", True),
        ("235", "You saved $2,35.", False),
        ("Refund", "a full REFUND", True),
    ],
)
def test_a_number_is_found_with_its_thousands_separators(keyword: str, answer: str, found: bool) -> None:
    assert call_metrics.keyword_score([keyword], answer) == (float(found), () if found else (keyword,))

"""Cases that are drafted from passing runs: what is taken, what is left to a person, and that those runs pass them."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.suites.calls import Call, Run
from evaluation_assets.core.suites.case_results import evaluate
from evaluation_assets.core.suites.drafts import RecordedTask, common_answer, draft_case
from evaluation_assets.core.suites.recorded_expectations import gold_call
from evaluation_assets.core.suites.suite import Case, Suite
from evaluation_assets_tests.core.suites.measuring import call


def drafted(*passing: Run, reference: str | None = None, turns: int = 1) -> Case:
    task = RecordedTask(id="t", message="do it", reference=reference, n_turns=turns, passing=list(passing))
    return draft_case(task)


def expected(case: Case) -> list[tuple[str, dict[str, Any]]]:
    """Expected calls with the value of each parameter; an ellipsis where any is right."""
    return [
        (each.tool, {name: rule.equals if rule.accepted else ... for name, rule in each.parameters.items()})
        for each in case.expected_calls
    ]


def run(*calls: Call, answer: str | None = "done") -> Run:
    return Run(calls=calls, answer=answer)


def test_calls_of_a_single_run_are_expected_with_their_values() -> None:
    failed = Call("search", {"q": "B"}, error="timeout")
    case = drafted(run(failed, call("search", q="A"), call("search", q="A"), call("pay", amount=3)))
    assert expected(case) == [("search", {"q": "A"}), ("pay", {"amount": 3})]
    assert case.match == "superset" and case.review == "expectations are from 1 passing run"


def test_what_the_source_expects_is_expected_unless_a_passing_run_does_it_otherwise() -> None:
    gold = Case(id="4", message="pay 3", expected_calls=(gold_call("pay", {"amount": 3}, None),), match="same_effects")
    wrong = run(call("pay", amount=4))
    task = RecordedTask(id="t", message="pay", reference=None, n_turns=1, recorded=gold, failing=[wrong])
    case = draft_case(task)
    assert (case.id, expected(case), case.match) == ("t", [("pay", {"amount": 3})], "same_effects")
    assert case.review == "expectations are those that the source recorded"
    other = run(call("transfer", sum=3))
    case = draft_case(replace(task, passing=[other]))
    assert expected(case) == [("transfer", {"sum": 3})] and case.review == "expectations are from 1 passing run"
    assert draft_case(replace(task, failing=[run(call("pay", amount=3))])).review == (
        "expectations are those that the source recorded; 1 of 1 run with the failure would pass, say what they lack"
    )


def test_only_what_passing_runs_have_in_common_is_expected() -> None:
    case = drafted(
        run(call("search", q="A", page=1), call("open", url="u"), call("pay", amount=3)),
        run(call("pay", amount=3), call("search", q="A", page=2, lang="en")),
    )
    assert expected(case) == [("pay", {"amount": 3}), ("search", {"q": "A", "page": ...})]


def test_a_long_value_only_has_to_be_given() -> None:
    assert expected(drafted(run(call("write", path="a.py", text="x" * 300)))) == [
        ("write", {"path": "a.py", "text": ...})
    ]


@pytest.mark.parametrize(
    ("answers", "answer"),
    [
        (["3", "There are 3."], "3"),
        (["Paris", "paris."], "Paris"),
        (["3", "4"], None),
        (["3", None], None),
        ([None], None),
        (["a long answer " * 10], None),
        (["a long answer " * 10] * 2, "a long answer " * 10),
    ],
)
def test_an_answer_is_expected_if_all_passing_runs_give_it(answers: list[str | None], answer: str | None) -> None:
    case = drafted(*(run(answer=each) for each in answers))
    assert (case.answer and case.answer.value) == answer
    has_to_be_said = answer is None and any(answers)
    assert ("say what an answer has to contain" in (case.review or "")) is has_to_be_said


def test_the_answer_of_the_source_is_taken_unless_passing_runs_contradict_it() -> None:
    stated = drafted(run(answer="It is 12."), reference="12").answer
    assert stated is not None and stated.value == "12"
    assert drafted(run(answer="a dozen"), reference="12").answer is None
    alone = drafted(reference="12")
    assert alone.answer is not None and alone.review == "expectations are those that the source recorded"


def test_a_conversation_and_calls_that_differ_are_told() -> None:
    case = drafted(run(call("a"), answer=None), run(call("b"), answer=None), turns=4)
    assert case.review == (
        "expectations are from 2 passing runs; passing runs have no call in common; "
        "the conversation had 4 turns, the case has only its task"
    )
    assert case.lacks == f"unconfirmed: {case.review}"


def test_runs_with_the_failure_that_would_pass_are_told() -> None:
    passing = run(call("pay", amount=3))
    task = RecordedTask(id="t", message="pay", reference=None, n_turns=1, passing=[passing])
    task.failing = [run(call("pay", amount=3), call("pay", amount=3)), run(call("pay", amount=4))]
    assert (draft_case(task).review or "").endswith("; 1 of 2 runs with the failure would pass, say what they lack")
    task.failing = [run(call("pay", amount=4))]
    assert draft_case(task).review == "expectations are from 1 passing run"
    task.failing = [run(Call("pay", {"amount": 3}, error="HTTP 500"))]
    assert draft_case(task).review == "expectations are from 1 passing run"  # the call has to succeed


CALLS = st.builds(
    Call,
    st.sampled_from(["search", "pay", "math.sqrt"]),
    st.none() | st.dictionaries(st.sampled_from("abc"), st.sampled_from([1, "1", None, [1], {"x": 1}]), max_size=3),
    error=st.none() | st.just("timeout"),
)
RUNS = st.builds(
    Run,
    calls=st.lists(CALLS, max_size=5).map(tuple),
    answer=st.none() | st.sampled_from(["3", "3.0", "It is 3.", "four", ""]),
)


@given(st.lists(RUNS, min_size=1, max_size=4), st.none() | st.just("3"))
def test_every_run_passes_the_case_that_is_drafted_from_it(runs: list[Run], reference: str | None) -> None:
    case = drafted(*runs, reference=reference)
    suite = Suite(name="s", cases=(case,))
    for each in runs:
        result = evaluate(case, each, suite)
        assert result.passed, result.issues


def test_no_answer_is_common_to_no_run() -> None:
    assert common_answer([]) is None

"""What the source of a run expects of it, by the labels of tau-bench, tau2-bench and SWE-bench."""

from dataclasses import replace
from typing import Any

import pytest
from upath import UPath

from evaluation_assets.core.judging.rules.whole import completion
from evaluation_assets.core.suites.recorded_expectations import unmet_expectations
from evaluation_assets.core.traces.formats.base import DropFile
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.sections.findings.finding import asked, run
from evaluation_assets_tests.core.sections.sessions.making import call
from evaluation_assets_tests.third_party import data

GOLD = [{"name": "get_trip", "arguments": {"id": 1}}, {"name": "cancel_trip", "arguments": {"id": 1}}]
LOOK, CANCEL = call("get_trip", "{}", id=7), call("cancel_trip", "ok", id=1)
OTHER, BOOK = call("cancel_trip", "ok", id=3), call("book_trip", "ok", seats=[{"row": 1, "seat": "A"}])


def unmet(*calls: Any, success: bool | None = False, **labels: Any) -> list[tuple[str, int | None]]:
    made = run(asked("Cancel it", *calls, answer="It is cancelled."))
    issues = unmet_expectations(replace(made, success=success, labels={"expected_calls": GOLD} | labels))
    return [(issue.kind, issue.call) for issue in issues]


@pytest.mark.parametrize(
    ("calls", "found"),
    [
        ((LOOK, CANCEL), []),
        ((LOOK,), [("missing_call", None)]),
        ((LOOK, OTHER), [("wrong_parameter", 1)]),
        ((CANCEL, LOOK, BOOK), [("unnecessary_call", 2)]),
        ((BOOK,), [("missing_call", None), ("wrong_tool", 0)]),
    ],
)
def test_calls_that_change_state_are_held_against_the_gold_calls(calls: tuple, found: list) -> None:
    assert unmet(*calls) == found
    assert unmet(*calls, success=None) == found
    assert unmet(*calls, success=True) == [], "the source counts it as a success"


@pytest.mark.parametrize(("task", "is_named"), [("Cancel trip W300.", True), ("Cancel trip W3001.", False)])
def test_a_wrong_value_that_the_user_named_is_told_as_theirs(task: str, is_named: bool) -> None:
    gold = [{"name": "cancel_trip", "arguments": {"id": "W100"}}]
    made = run(asked(task, call("cancel_trip", "ok", id="W300")))
    (issue,) = unmet_expectations(replace(made, success=False, labels={"expected_calls": gold}))
    assert issue.detail == 'expected "W100", got "W300"' + (", which the user named" if is_named else "")


def test_what_has_to_be_told_is_looked_for_in_all_that_was_said() -> None:
    assert unmet(CANCEL, expected_outputs=["cancelled"]) == []
    assert unmet(CANCEL, expected_outputs=["327"]) == [("missing_keywords", None)]
    assert unmet(CANCEL, criteria={"reward_basis": ["DB"], "communicate_info": ["327"]}) == [("missing_keywords", None)]


def test_arguments_that_the_source_does_not_compare_may_be_any() -> None:
    assert unmet(OTHER, expected_calls=[GOLD[1] | {"compare_args": []}]) == []


def test_nothing_is_said_where_no_state_counts() -> None:
    assert unmet(LOOK, criteria={"reward_basis": ["NL_ASSERTION"]}) == []


@pytest.mark.parametrize(
    "calls", [None, "cancel_trip", 5, [5], [{"tool": "cancel_trip"}], [{"name": "a", "arguments": "id"}], {"name": "a"}]
)
def test_labels_with_another_meaning_are_left_alone(calls: Any) -> None:
    assert unmet(LOOK, expected_calls=calls) == []


@pytest.mark.parametrize(
    ("expected", "answer", "success", "is_wrong"),
    [
        ("1,500", "It costs 1500 dollars.", False, False),
        ("Paris\nLyon", "lyon", False, False),
        ("Paris", "It is Lyon.", False, True),
        ("Paris", "It is Lyon.", None, False),
        ("Paris", "It is Lyon.", True, False),
        ("Paris", None, False, False),
        ("Paris", "NOT_FOUND", False, True),
        (" ", "Lyon", False, False),
        (None, "Lyon", False, False),
    ],
)
def test_the_answer_of_a_failed_run_is_held_against_the_reference(
    expected: str | None, answer: str | None, success: bool | None, is_wrong: bool
) -> None:
    said = run(asked("Where?", answer="Somewhere."))
    made = replace(said, success=success, reference_answer=expected, final_answer=answer)
    assert [issue.kind for issue in unmet_expectations(made)] == ["wrong_answer"] * is_wrong


@pytest.mark.parametrize(
    ("expected", "answer", "is_wrong"),
    [
        ("Li Peng", "Wen Jiabao", True),
        ("234.9", "133.7", True),
        ("picric acid", "Picric acid", False),
        ("Barack Obama", "Obama", False),
        ("shrimp", "The dish that was ordered is a salad with some king prawns in it", False),
        ("shrimp", "晚餐", False),
        ("", "42", False),
    ],
)
def test_a_short_answer_that_has_nothing_of_the_reference_is_wrong_where_no_outcome_is_known(
    expected: str, answer: str, is_wrong: bool
) -> None:
    made = replace(run(asked("Who?", answer=answer)), reference_answer=expected or None, final_answer=answer)
    assert [issue.kind for issue in unmet_expectations(made)] == ["wrong_answer"] * is_wrong


@pytest.mark.parametrize("success", [False, None])
@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        ("Badly Drawn Boy", "Neither Badly Drawn Boy nor Wolf Alice is known for that."),
        ("CSI: Cyber", "CSI Cyber"),
        ("2", "The 2 options were compared; the answer is 7."),
        ("17", "17,000"),
        ("yes", "No."),
        ("Lyon", "It is Lyon."),
    ],
)
def test_an_answer_is_never_wrong_here_and_right_to_the_embedded_judge(
    expected: str, answer: str, success: bool | None
) -> None:
    made = replace(run(asked("Who?", answer=answer)), success=success, reference_answer=expected, final_answer=answer)
    is_wrong = any(issue.kind == "wrong_answer" for issue in unmet_expectations(made))
    points = completion(made, answer).points
    assert not (is_wrong and points is not None and points >= 5)
    assert success is None or is_wrong or points == 9


def test_a_nested_value_is_told_at_the_place_that_differs() -> None:
    gold = [{"name": "book_trip", "arguments": {"seats": [{"row": 1, "seat": "B"}]}}]
    made = replace(run(asked("Book", BOOK)), success=False, labels={"expected_calls": gold})
    (issue,) = unmet_expectations(made)
    assert (issue.tool, issue.parameter, issue.detail) == ("book_trip", "seats", 'at [0].seat expected "B", got "A"')


def test_most_failures_of_recorded_runs_are_explained_by_their_gold_calls() -> None:
    path = data("tau-bench/gpt-4o-airline.even-tasks.json")
    read = read_trajectories([DropFile(UPath(path), path.name)], UnmappedFields())
    failed = [each for each in read if isinstance(each, Trajectory) and each.success is False]
    assert sum(any(unmet_expectations(each)) for each in failed) >= 0.9 * len(failed)


def of_patch(success: bool | None = False, **labels: Any) -> list[tuple[str, str]]:
    made = replace(run(asked("Mend it", answer="diff")), success=success, labels=labels)
    return [(issue.kind, issue.detail) for issue in unmet_expectations(made)]


def test_tests_that_the_patch_of_a_run_fails_are_counted_and_named() -> None:
    counts = {"FAIL_TO_PASS": {"success": 1, "failure": 5}, "PASS_TO_PASS": {"success": 300, "failure": 1}}
    names = {"FAIL_TO_PASS": ["a", "b", "c", "d"], "PASS_TO_PASS": ["z"]}
    assert of_patch(tests=counts, failed_tests=names) == [
        ("failing_tests", "5 of 6 tests that the patch has to make pass fail: a, b, c and 2 more"),
        ("failing_tests", "1 of 301 tests that passed before fails: z"),
    ]
    assert of_patch(tests={"FAIL_TO_PASS": {"failure": 2}}) == [
        ("failing_tests", "2 of 2 tests that the patch has to make pass fail")
    ], "an earlier version named none"
    assert of_patch(success=True, tests=counts) == [], "the source counts it as a success"
    assert of_patch(patch_applied=False, tests={}) == [("wrong_answer", "the patch cannot be applied")]


@pytest.mark.parametrize("tests", [None, 3, [], {"FAIL_TO_PASS": 3}, {"FAIL_TO_PASS": {"failure": "2"}}, {"other": {}}])
def test_labels_of_another_meaning_say_nothing_of_tests(tests: Any) -> None:
    assert of_patch(tests=tests) == []


def test_labels_that_are_wrong_in_part_are_read_as_far_as_they_go() -> None:
    counts = {"verifier": {"failure": 2, "success": "x"}}
    for names in (5, {"verifier": 5}, {"verifier": {"a": 1}}):
        assert of_patch(tests=counts, failed_tests=names) == [("failing_tests", "2 of 2 tests of the task fail")]
    assert of_patch(tests=counts, failed_tests={"verifier": [7]})[0][1].endswith("fail: 7 and 1 more")


def test_failed_patches_of_swe_bench_have_the_tests_that_they_fail() -> None:
    folder = data("mini-swe-agent")
    files = [UPath(path) for path in sorted(folder.rglob("*.json"))]
    runs = list(read_trajectories([DropFile(path, path.name) for path in files], UnmappedFields()))
    failed = [each for each in runs if isinstance(each, Trajectory) and each.success is False]
    found = [{issue.kind for issue in unmet_expectations(each)} for each in failed]
    assert len(failed) == 13 and found == [{"failing_tests"}] * 13

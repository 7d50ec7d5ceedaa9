"""Runs that end before the agent has answered."""

import pytest

from evaluation_assets.core.sections.findings.detectors.cut_off import DETECTOR
from evaluation_assets.core.sections.findings.evidence.course import Course
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call, part, session, turn

QUESTION = asked("Cancel order W21.", answer="Shall I cancel it?")


def test_a_run_that_ends_at_a_request_is_cut_off() -> None:
    assert found(DETECTOR, run(QUESTION, turn("Yes, please. And send me the receipt."))) == [
        ("cut_off", "Yes, please.")
    ]


@pytest.mark.parametrize(
    "farewell", ["Thanks, bye!", "Danke, das war alles.", "谢谢", "Great. ###STOP###", "Merci, bonne journée."]
)
def test_a_farewell_needs_no_answer(farewell: str) -> None:
    assert found(DETECTOR, run(QUESTION, turn(farewell))) == []


def test_thanks_with_a_question_are_no_farewell() -> None:
    assert found(DETECTOR, run(QUESTION, turn("Thanks! Can you also change the address?")))


def test_a_call_without_result_at_the_end_is_cut_off() -> None:
    last = turn("Yes.", part("agent", None, call("cancel_order", None, order_id="W21")))
    ((kind, evidence),) = found(DETECTOR, run(QUESTION, last))
    assert kind == "cut_off"
    assert "W21" in evidence


def test_a_log_that_keeps_no_results_is_not_cut_off_at_its_last_call() -> None:
    calls = (call("find_order", None, order_id="W21"), call("cancel_order", None, order_id="W21"))
    assert found(DETECTOR, run(turn("Cancel W21.", part("agent", None, *calls)))) == []
    assert found(DETECTOR, run(turn("Cancel W21.", part("agent", None, call("find_order"), *calls))))


def test_a_call_that_ends_the_run_is_its_end() -> None:
    for tool in (
        "transfer_to_human_agents",
        "submit_answer",
        "transferToAgent",
        "escalate_to_human",
        "endCall",
        "hangUp",
    ):
        assert found(DETECTOR, run(QUESTION, turn("No.", part("agent", None, call(tool, "done"))))) == []


def test_a_command_that_hands_in_the_work_is_its_end() -> None:
    for command, is_cut in (("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff", False), ("git diff", True)):
        last = turn(
            "Mend it.", part("agent", None, {"message": "I look."}, call("run_command", "diff", command=command))
        )
        assert bool(found(DETECTOR, run(QUESTION, last))) is is_cut


def test_a_run_with_an_answer_is_whole() -> None:
    assert found(DETECTOR, run(asked("Cancel W21.", call("cancel_order"), answer="It is cancelled."))) == []


@pytest.mark.parametrize(
    "last", ["[Request interrupted by user]", "<local-command-caveat>Caveat: ...", "Stop hook feedback: ok"]
)
def test_what_the_client_says_is_no_request(last: str) -> None:
    assert found(DETECTOR, run(QUESTION, turn(last))) == []


def test_a_user_of_a_coding_agent_who_objects_and_leaves_has_not_cut_it_off_midway() -> None:
    work = asked("Mend the tests.", call("bash", "2 failed", command="pytest"), answer="All tests pass.")
    (objection,) = DETECTOR.findings(Course(run(work, turn("No, the tests still fail."))))
    (request,) = DETECTOR.findings(Course(run(work, turn("Now mend the docs."))))
    (elsewhere,) = DETECTOR.findings(Course(run(QUESTION, turn("No, not that order."))))
    assert [each.severity for each in (objection, request, elsewhere)] == ["MEDIUM", "HIGH", "HIGH"]


def test_words_to_an_agent_who_never_acts_cut_the_run_off() -> None:
    agents = [{"id": each, "name": each.title(), "role": each} for each in ("clerk", "writer")]
    told = part("clerk", "Writer: the total is 609,000 tonnes.")
    assert found(DETECTOR, session(turn("A memo.", told), agents=agents)) == [
        ("cut_off", "Writer: the total is 609,000 tonnes.")
    ]
    assert found(DETECTOR, session(turn("A memo.", told, part("writer", "Here it is.")), agents=agents)) == []

"""Failures that nobody takes up."""

import pytest

from evaluation_assets.core.sections.findings.detectors.errors import DETECTOR
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call


def ignored(trajectory: Trajectory) -> bool:
    """Whether an error was ignored, not only unresolved."""
    return any(kind == "ignored_error" for kind, _ in found(DETECTOR, trajectory))


FAILED = call("cancel_order", error="Error: order is locked", order_id="W21")


@pytest.mark.parametrize("after", [[], [call("get_order", "{}", order_id="W22")]], ids=["at the end", "and goes on"])
def test_a_failure_without_consequence_is_ignored(after: list) -> None:
    ((kind, evidence),) = found(DETECTOR, run(asked("Cancel it.", FAILED, *after, answer="Your order is on its way.")))
    assert kind == "ignored_error"
    assert "locked" in evidence


@pytest.mark.parametrize("characters", [100, 3_000, 30_000])
def test_a_failure_that_is_admitted_at_the_end_of_a_long_answer_is_not_ignored(characters: int) -> None:
    answer = "I looked into this for you. " * (characters // 28) + "Unfortunately the order is locked."
    assert not ignored(run(asked("Cancel it.", FAILED, answer=answer)))


def test_a_failure_at_the_very_end_is_ignored() -> None:
    assert ignored(run(asked("Cancel it.", FAILED, answer=None)))


@pytest.mark.parametrize(
    "answer",
    [
        "Unfortunately the order is locked.",
        "Die Bestellung konnte leider nicht storniert werden.",
        "抱歉，无法取消订单。",
        "No se pudo cancelar.",
    ],
)
def test_a_failure_that_the_agent_speaks_of_is_taken_up(answer: str) -> None:
    assert not ignored(run(asked("Cancel it.", FAILED, answer=answer)))


def test_a_tool_that_never_succeeds_is_an_unresolved_error_at_its_last_failure() -> None:
    first = call("cancel_order", error="Error: busy", order_id="W21")
    ((kind, evidence),) = found(DETECTOR, run(asked("Cancel it.", first, FAILED, answer="Sorry, it is locked.")))
    assert (kind, evidence) == ("unresolved_error", "Error: order is locked")


def test_a_tool_that_succeeds_later_or_hands_in_the_work_is_resolved() -> None:
    later = call("cancel_order", order_id="W22")
    assert found(DETECTOR, run(asked("Cancel both.", FAILED, later, answer="Sorry, one is locked."))) == []
    handed_in = call("submit", error="Error: nothing was changed")
    assert found(DETECTOR, run(asked("Do it.", handed_in, answer="I could not do it."))) == []


def test_a_failure_that_is_tried_again_is_taken_up() -> None:
    again = call("cancel_order", order_id="W21", force=True)
    assert found(DETECTOR, run(asked("Cancel it.", FAILED, again, answer="It is cancelled."))) == []


def test_a_search_without_a_match_is_an_answer() -> None:
    nothing = call("bash", error="exit code 1", command="grep -rn lamp src")
    assert found(DETECTOR, run(asked("Is it used?", nothing, answer="It is unused."))) == []


LOOKUP = call("get_order", error="the request timed out", order_id="W2378156")


def test_that_the_agent_cannot_do_what_was_asked_says_nothing_of_a_failed_lookup() -> None:
    refused = "Unfortunately, I cannot cancel orders that were sent. I can transfer you to a colleague instead."
    assert ignored(run(asked("Cancel it.", LOOKUP, answer=refused)))
    said = "Unfortunately, I cannot cancel it: the order could not be found, there was an error."
    assert not ignored(run(asked("Cancel it.", LOOKUP, answer=said)))


def test_the_same_lookup_for_another_order_is_no_other_attempt() -> None:
    others = [call("get_order", "open", order_id=order) for order in ("X5550001", "Y7770001", "Z9990001", "Q1110001")]
    assert found(DETECTOR, run(asked("Where are they?", LOOKUP, *others, answer="All are open.")))
    again = call("get_order", "open", order_id="W2378156")
    assert found(DETECTOR, run(asked("Where are they?", LOOKUP, *others, again, answer="All are open."))) == []
    nearly = call("get_order", "open", order_id="#W2378156")
    assert found(DETECTOR, run(asked("Where is it?", LOOKUP, nearly, answer="It is open."))) == []


UNSERVED = call("bash", error="Error: service unavailable, try again later", command="python test_orders.py")


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("All tests pass. I fix the next problem.", "python test_items.py"),
        ("That is the error in the issue; the fix is right.", "cat orders.py"),
    ],
)
def test_work_that_goes_on_after_a_command_that_was_not_run_ignores_it(said: str, command: str) -> None:
    after = call("bash", "ok", command=command) | {"thought": said}
    assert found(DETECTOR, run(asked("Mend it.", UNSERVED, after, answer="Done.")))


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("The service was unavailable, I look at the file.", "cat orders.py"),
        ("The command failed.", "cat orders.py"),
        ("La commande a échoué.", "cat orders.py"),
        ("", "python -m pytest test_orders.py"),
        ("", "timeout 60 python test_orders.py -x"),
    ],
)
def test_a_command_that_was_not_run_is_taken_up(said: str, command: str) -> None:
    after = call("bash", "ok", command=command) | {"thought": said}
    assert found(DETECTOR, run(asked("Mend it.", UNSERVED, after, answer="Done."))) == []


def test_a_search_that_was_not_run_is_no_answer() -> None:
    nothing = call("bash", error="Error: the request timed out", command="grep -rn lamp src")
    assert found(DETECTOR, run(asked("Is it used?", nothing, answer="It is unused.")))

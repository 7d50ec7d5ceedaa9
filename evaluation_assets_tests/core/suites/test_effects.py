"""Changes of state against the expected ones."""

import pytest

from evaluation_assets.core.suites.calls import Call
from evaluation_assets.core.suites.effects import changes_state, hands_over, hangs_up
from evaluation_assets_tests.core.suites.measuring import call, case, expected, measure

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
        ("reschedule_delivery", True),
        ("locks__lock", True),
        ("open_claim", True),
        ("open_page", False),
        ("file_letter", True),
        ("file_search", False),
        ("mail_customer", True),
        ("email_search", False),
        ("terminate_contract", True),
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


@pytest.mark.parametrize("tool", ["mcp__order_desk__get_trip", "mcp__payments__list_cards"])
def test_the_name_of_a_server_is_no_verb(tool: str) -> None:
    assert not changes_state(tool)
    assert changes_state(tool.replace("get", "cancel").replace("list", "delete"))


@pytest.mark.parametrize(
    ("tool", "is_one"),
    [
        ("transfer_to_human_agents", True),
        ("transferToBilling", True),
        ("mcp__desk__escalateToSupervisor", True),
        ("handoff_to_sales", True),
        ("connect_agent", True),
        ("transfer_money", False),
        ("forward_message", False),
        ("mcp__transfer_to_agents__get_rate", False),
    ],
)
def test_a_user_is_handed_over_to_people(tool: str, *, is_one: bool) -> None:
    assert hands_over(tool) is is_one


def test_a_conversation_is_ended() -> None:
    assert all(map(hangs_up, ("end_call", "endCall", "end_conversation", "hangup", "hang_up", "EndChat")))
    assert not any(map(hangs_up, ("end_date", "call_end", "get_call", "find_weekend")))

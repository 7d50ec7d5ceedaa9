"""Actions that agents say they have done."""

import pytest

from evaluation_assets.core.sections.findings.actions import actions
from evaluation_assets.core.sections.findings.cues import document
from evaluation_assets.core.sections.findings.detectors.claims import DETECTOR
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call

READ = call("get_order", '{"id": "W2378156", "state": "open"}', id="W2378156")
CANCEL = call("cancel_order", "{}", id="W2378156")

CLAIMS = {
    "en": "I have cancelled your order.",
    "de": "Ich habe Ihre Bestellung storniert.",
    "fr": "J'ai annulé votre commande.",
    "es": "He cancelado su pedido.",
    "pt": "O seu pedido foi cancelado.",
    "it": "Ho annullato il suo ordine.",
    "zh": "已经为您取消订单。",
    "ja": "ご注文をキャンセルしました。",
    "ko": "주문을 취소했습니다.",
    "vi": "Đơn hàng đã được hủy.",
    "ru": "Я отменил ваш заказ.",
}


@pytest.mark.parametrize("said", CLAIMS.values(), ids=CLAIMS)
def test_a_claim_without_a_call_that_does_it_is_unperformed(said: str) -> None:
    assert found(DETECTOR, run(asked("Cancel it.", READ, answer=said))) == [("unperformed_claim", said)]
    assert found(DETECTOR, run(asked("Cancel it.", READ, CANCEL, answer=said))) == []


@pytest.mark.parametrize(
    "said",
    [
        "Order W2378156 is now cancelled.",
        "Your new booking is confirmed!",
        "Your order of May 21 has been cancelled.",
        "Your flight in May has been cancelled.",
    ],
)
def test_a_state_that_is_new_is_claimed_and_the_month_of_may_is_no_condition(said: str) -> None:
    assert found(DETECTOR, run(asked("Do it.", READ, answer=said))) == [("unperformed_claim", said)]
    assert found(DETECTOR, run(asked("Do it.", READ, CANCEL, answer=said))) == []


def test_a_flight_that_was_changed_is_booked() -> None:
    said = "You are now booked on the flight at noon."
    assert found(DETECTOR, run(asked("Change it.", call("update_flights", id="W1"), answer=said))) == []


def test_every_action_and_frame_is_in_these_languages() -> None:
    frames = document()["claim"]
    assert set(frames) == set(CLAIMS)
    for action in actions():
        assert action.tools or action.name == "other"


def test_a_call_that_failed_does_nothing() -> None:
    failed = call("cancel_order", error="locked", id="W2378156")
    said = "Your order has been cancelled."
    assert found(DETECTOR, run(asked("Cancel it.", failed, answer=said))) == [("unperformed_claim", said)]


@pytest.mark.parametrize("said", ["Your order was cancelled.", "Order W2378156 is cancelled."])
def test_after_a_call_that_failed_a_state_is_claimed(said: str) -> None:
    failed = call("cancel_order", error="locked", id="W2378156")
    assert found(DETECTOR, run(asked("Cancel it.", failed, answer=said))) == [("unperformed_claim", said)]
    assert found(DETECTOR, run(asked("Cancel it.", failed, CANCEL, answer=said))) == []
    assert found(DETECTOR, run(asked("Cancel it.", READ, answer=said))) == []


def test_a_call_for_another_order_does_not_do_it() -> None:
    said = "Done:\n\nThe following orders have been cancelled:\n\n1. W2378156 (lamp)\n2. W5550001 (chair)\n\nGoodbye."
    trajectory = run(asked("Cancel both.", READ, CANCEL, answer=said))
    assert found(DETECTOR, trajectory) == [("unperformed_claim", "2. W5550001 (chair)")]


@pytest.mark.parametrize(
    "said",
    [
        "Your order can be cancelled.",
        "Once it has been cancelled, I will tell you.",
        "I have not cancelled it.",
        "It may have been cancelled.",
        "Has it been cancelled?",
        "Die Bestellung ist noch nicht storniert.",
        "如果订单已经取消，请告诉我。",
        "I have looked at your order.",
    ],
)
def test_what_is_no_claim(said: str) -> None:
    assert found(DETECTOR, run(asked("Cancel it.", READ, answer=said))) == []


def test_what_a_result_says_is_no_claim_of_the_agent() -> None:
    read = call("get_order", '{"id": "W2378156", "state": "cancelled"}', id="W2378156")
    assert found(DETECTOR, run(asked("What about it?", read, answer="Order W2378156 has been cancelled."))) == []


def test_agents_that_run_code_may_have_done_anything() -> None:
    shell = call("bash", command="python cancel.py")
    assert found(DETECTOR, run(asked("Cancel it.", shell, answer="I have cancelled your order."))) == []


def test_a_ticket_is_created_by_a_tool_for_tickets_alone() -> None:
    said = "I have also created a support ticket."
    assert found(DETECTOR, run(asked("Cancel it.", CANCEL, answer=said))) == [("unperformed_claim", said)]
    assert found(DETECTOR, run(asked("Help.", call("open_ticket", '{"ticket": 7}', text="Late."), answer=said))) == []

"""What agents say of a change, and the record of the change."""

from typing import Any

import orjson
import pytest

from evaluation_assets.core.sections.findings.detectors.booked import DETECTOR
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call


def record(*amounts: float, **fields: Any) -> str:
    """A booking with its payments."""
    payments = [{"payment_id": f"card_{number}", "amount": amount} for number, amount in enumerate(amounts)]
    booking = {"id": "B7", "cabin": "economy", "price": 350, "passengers": 2, "payments": payments}
    return orjson.dumps({**booking, **fields}).decode()


READ = call("get_booking", record(498), id="B7")


def said(answer: str, *calls: dict[str, Any]) -> list[tuple[str, str]]:
    """What is found in an answer after a change that added a payment of 1,200."""
    changes = calls or (call("update_booking", record(498, 1200, cabin="business"), id="B7", cabin="business"),)
    return found(DETECTOR, run(asked("Business class, please.", READ, *changes, answer=answer)))


@pytest.mark.parametrize(
    "answer",
    [
        "The payment of **$600** has been processed using the card on file.",
        "Your card was charged $600.",
        "A refund of $600 has been credited.",
        "Ihre Karte wurde mit 600 € belastet.",
        "Votre carte a été débitée de 600 €.",
        "Hemos cobrado 600 € a su tarjeta.",
        "O valor de 600 € foi debitado.",
        "Sono stati addebitati 600 € sulla carta.",
        "已从您的卡中扣款 $600。",
        "お客様のカードに $600 を請求しました。",
        "카드로 $600 결제되었습니다.",
        "С вашей карты списано $600.",
    ],
)
def test_an_amount_that_was_not_booked_contradicts_the_record(answer: str) -> None:
    assert said(answer) == [("contradicted_answer", answer)]


@pytest.mark.parametrize(
    "answer",
    [
        "The payment of $1,200 has been processed.",
        "Your card was charged $600 for each passenger.",
        "Your card would be charged $600 if you change it again.",
        "Your card was charged $600, and $600 for the second passenger.",
        "The price of the flight is $350, which was charged.",
        "The upgrade is worth $600.",
        "Was your card charged $600?",
        "Ihre Karte wurde mit 1.200,00 € belastet.",
    ],
)
def test_an_amount_of_the_record_or_of_something_else_contradicts_nothing(answer: str) -> None:
    assert said(answer) == []


def test_sums_of_what_was_booked_since_the_last_message_are_right() -> None:
    changes = (
        call("update_booking", record(498, 1200, 50, id="B7"), id="B7", cabin="business"),
        call("update_bags", record(498, 1200, 50, 30), id="B7", bags=1),
    )
    for amount, is_wrong in ((1280, False), (1250, False), (80, False), (30, False), (1290, True)):
        assert bool(said(f"A total of ${amount} was charged.", *changes)) is is_wrong


def test_money_that_went_the_other_way_contradicts_what_is_said() -> None:
    back = call("update_booking", record(498, -114), id="B7", cabin="basic")
    answer = "The additional cost of $114 has been charged to your card."
    assert said(answer, back) == [("contradicted_answer", answer)]
    assert said("$114 was refunded to your card.", back) == []
    assert said("The difference of $114 has been processed.", back) == []


def test_without_a_new_entry_or_a_record_nothing_is_known_of_an_amount() -> None:
    answer = "Your card was charged $600."
    assert said(answer, call("update_booking", record(498), id="B7", seat="2A")) == []
    assert said(answer, call("update_booking", "ok", id="B7", cabin="business")) == []
    assert said(answer, call("update_booking", record(498, 1200), error="locked", id="B7")) == []
    assert said(answer, call("get_booking", record(498, 1200), id="B7")) == []


UPGRADED = record(498, 1200, cabin="business", paid_with="card_1")
WITH_CARD = call("update_booking", UPGRADED, id="B7", paid_with="card_1")


@pytest.mark.parametrize(
    "answer",
    [
        "The payment method has been successfully updated.",
        "Die Zahlungsart wurde geändert.",
        "Le mode de paiement a été modifié.",
        "El método de pago ha sido actualizado.",
        "付款方式已更新。",
    ],
)
def test_a_change_that_left_the_record_as_it_was_is_not_done(answer: str) -> None:
    first = asked("Upgrade it.", READ, WITH_CARD, answer="It is upgraded.")
    again = call("update_booking", UPGRADED, id="B7", paid_with="gift_9")
    assert found(DETECTOR, run(first, asked("Use the gift card.", again, answer=answer))) == [
        ("unperformed_claim", answer)
    ]


@pytest.mark.parametrize(
    ("arguments", "result", "answer"),
    [
        ({"paid_with": "gift_9"}, UPGRADED, "Unfortunately the payment method cannot be changed."),
        ({"paid_with": "gift_9"}, UPGRADED.replace("card_1", "gift_9"), "The payment method has been updated."),
        ({"paid_with": "card_1"}, UPGRADED, "The booking has been updated."),
        ({"password": "s3cret"}, UPGRADED, "The password has been updated."),
    ],
    ids=["it is admitted", "it is changed", "it was so before", "the record never shows it"],
)
def test_a_change_that_was_made_or_never_shows_is_no_claim(arguments: Any, result: str, answer: str) -> None:
    first = asked("Upgrade it.", READ, WITH_CARD, answer="It is upgraded.")
    again = call("update_booking", result, id="B7", **arguments)
    assert found(DETECTOR, run(first, asked("Change it.", again, answer=answer))) == []

"""Records that a call takes, and who chose them."""

import pytest

from evaluation_assets.core.sections.findings.detectors.choices import DETECTOR
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call

PROFILE = call(
    "get_user",
    '{"name": "Ann", "bookings": ["B7F9"], "payment_methods": {'
    '"card_741": {"id": "card_741", "source": "credit_card", "brand": "visa", "last_four": "1777"},'
    '"card_852": {"id": "card_852", "source": "credit_card", "brand": "mastercard", "last_four": "5018"},'
    '"gift_963": {"id": "gift_963", "source": "gift_card", "amount": 150}}}',
    id="ann",
)
PAID = call("update_booking", id="B7F9", cabin="business", payment_id="card_741")
UNCHOSEN = [("unsupported_argument", "card_741")]


def said(*messages: str, paid: dict = PAID, profile: dict = PROFILE) -> list[tuple[str, str]]:
    """What is found in a call that pays after these messages of the user."""
    turns = [asked(message, answer="All right. Anything else?") for message in messages]
    return found(DETECTOR, run(asked("Upgrade B7F9.", profile, answer="Sure?"), *turns, asked("Yes.", paid)))


@pytest.mark.parametrize("message", ["Business class, please.", "Ja, bitte.", "好的", "It costs 209 more, I know."])
def test_a_record_that_nobody_named_is_chosen_by_nobody(message: str) -> None:
    assert said(message) == UNCHOSEN


@pytest.mark.parametrize(
    "message",
    [
        "Take card_741.",
        "Take the one with 741 in its number.",
        "Use my Visa.",
        "Use the card that ends in 1777.",
        "Use a credit card.",
        "Use one of my credit cards.",
        "Use the original payment method.",
        "Whichever you like.",
        "Nehmen Sie die hinterlegte Karte.",
        "用原来的卡。",
    ],
)
def test_a_record_is_chosen_by_its_id_its_facts_or_left_open(message: str) -> None:
    assert said(message) == []


def test_what_the_agent_proposes_is_chosen_too() -> None:
    proposed = asked("Upgrade B7F9.", PROFILE, answer="Shall I charge your Visa?")
    assert found(DETECTOR, run(proposed, asked("Yes.", PAID))) == []


def test_what_another_record_has_with_what_is_changed_is_no_choice() -> None:
    booking = call("get_booking", '{"id": "B7F9", "paid_with": "card_741"}', id="B7F9")
    before = asked("Upgrade B7F9.", PROFILE, booking, answer="Sure?")
    assert found(DETECTOR, run(before, asked("Yes.", PAID))) == []


def test_the_only_record_and_all_records_are_no_choice() -> None:
    one = call("get_user", '{"payment_methods": {"card_741": {"id": "card_741"}}}', id="ann")
    assert said("Go on.", profile=one) == []
    every = call("remove_cards", ids=["card_741", "card_852", "gift_963"])
    assert said("Go on.", paid=every) == []


def test_lookups_and_failed_calls_choose_nothing() -> None:
    assert said("Go on.", paid=call("get_card", payment_id="card_741")) == []
    assert said("Go on.", paid=call("update_booking", error="locked", payment_id="card_741")) == []


ENDINGS = [
    "Use my card ending in 7334.",
    "My card: the last four digits are 7334.",
    "Die Karte endet auf 7334.",
    "La tarjeta terminada en 7334.",
    "尾号7334的卡。",
    "下4桁が7334のカード。",
]


@pytest.mark.parametrize("message", ENDINGS)
def test_digits_of_a_card_that_no_result_has_choose_none(message: str) -> None:
    booking = call("get_booking", '{"id": "B7F9", "payments": [{"payment_id": "card_741", "amount": 9}]}', id="B7F9")
    assert said(message, profile=booking) == UNCHOSEN
    shown = call("get_booking", '{"id": "B7F9", "paid_with": {"id": "card_741", "digits": "7334"}}', id="B7F9")
    assert said(message, profile=shown) == []
    assert said("My flight ends in 2024.", profile=booking) == []
    assert said(message, profile=booking, paid=call("update_booking", id="B7F9", seat="12A")) == []

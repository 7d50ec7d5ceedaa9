"""Calls that do otherwise than what was agreed on."""

import pytest

from evaluation_assets.core.sections.findings.detectors.agreed import DETECTOR
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call

PROPOSED = "£350.00 monthly, first payment on 5 October 2026. Shall I set it up?"
DONE = "It will send £350 each month, beginning 5 October."


def ordered(amount: float, day: str, answer: str = DONE) -> list[tuple[str, str]]:
    first = asked("£300 a month, from the 1st of next month.", answer="£300 from 1 October?")
    made = call("create_standing_order", '{"id": "SO-7"}', amount=amount, first=day)
    return found(
        DETECTOR, run(first, asked("Make it 350, the 5th.", answer=PROPOSED), asked("Yes", made, answer=answer))
    )


def test_the_only_day_and_amount_that_were_agreed_on_are_those_of_the_call() -> None:
    assert ordered(350, "2026-10-05") == []
    assert ordered(35000, "2026-10-05") == []
    assert ordered(300, "2026-10-05") == [("contradicted_argument", "300")]
    assert ordered(350, "2026-10-01") == [("contradicted_argument", "2026-10-01")]


def test_nothing_is_agreed_on_that_the_agent_does_not_say_again() -> None:
    assert ordered(300, "2026-10-01", answer="It is set up.") == []


@pytest.mark.parametrize(("message", "code", "expected"), [
    ("Send 2,000 Swiss francs to him.", "EUR", 1),
    ("Send 2,000 Swiss francs to him.", "CHF", 0),
    ("Send 20 dollars to him.", "CAD", 0),
    ("Send 20 to him.", "EUR", 0),
])  # fmt: skip
def test_a_currency_that_nobody_named_contradicts_the_user(message: str, code: str, expected: int) -> None:
    assert len(found(DETECTOR, run(asked(message, call("transfer", amount=2000, currency=code))))) == expected


def test_a_converted_amount_has_another_currency() -> None:
    steps = (
        call("convert", '{"result": 55.12}', amount=52, source="CHF", target="EUR"),
        call("submit_expense", amount=55.12, currency="EUR"),
    )
    assert found(DETECTOR, run(asked("Lunch for 52 francs.", *steps))) == []


SLOTS = {
    "json": '[{"id": "S-81", "doctor": "Nakamura", "start": "2026-03-10T11:20"},'
    ' {"id": "S-84", "doctor": "Nakamura", "start": "2026-03-12T16:40"}]',
    "csv": "id,doctor,start\nS-81,Nakamura,2026-03-10 11:20\nS-84,Nakamura,2026-03-12 16:40",
    "markdown": "| id | start |\n|---|---|\n| S-81 | 2026-03-10 11:20 |\n| S-84 | 2026-03-12 16:40 |",
    "html": "<table><tr><th>id</th><th>start</th></tr><tr><td>S-81</td><td>2026-03-10 11:20</td></tr>"
    "<tr><td>S-84</td><td>2026-03-12 16:40</td></tr></table>",
}


@pytest.mark.parametrize("slots", SLOTS.values(), ids=SLOTS)
def test_another_record_of_a_list_than_people_speak_of_contradicts_them(slots: str) -> None:
    def booked(slot: str, answer: str = "You have Thursday, 12 March at 16:40.") -> list[tuple[str, str]]:
        asks = "There are Tuesday, 10 March at 11:20, and Thursday, 12 March at 16:40. Which one?"
        first = asked("A dermatologist, please.", call("find_slots", slots), answer=asks)
        return found(DETECTOR, run(first, asked("Thursday works.", call("book_slot", slot=slot), answer=answer)))

    assert booked("S-84") == []
    assert booked("S-81") == [("contradicted_argument", "S-81")]
    assert booked("S-81", answer="You have Tuesday, 10 March at 11:20.") == []
    assert booked("S-81", answer="Done.") == []


def test_an_amount_that_the_result_has_otherwise_contradicts_the_answer() -> None:
    def refunded(amount: float, answer: str) -> list[tuple[str, str]]:
        made = call("issue_refund", f'{{"refund": "R-1", "amount": {amount}}}', amount=18.0)
        return found(DETECTOR, run(asked("Refund it.", made, answer=answer)))

    assert refunded(18.0, "I refunded €18.") == []
    assert refunded(1800, "I refunded €18.") == []
    assert refunded(9.0, "I refunded €9 of the €18.") == []
    assert refunded(9.0, "I refunded €18.") == [("contradicted_answer", "I refunded €18.")]


@pytest.mark.parametrize(
    ("said", "is_wrong"),
    [
        ("I've e-mailed the quote to Jonas at j.keller@bau.example and told him its price.", True),
        ("I've e-mailed the quote to jonas@keller.example, a copy to j.keller@bau.example.", False),
        ("I've sent it to Jonas; you get a copy at j.keller@bau.example.", False),
    ],
)
def test_what_was_sent_goes_to_the_address_that_is_named(said: str, *, is_wrong: bool) -> None:
    look = call("search_contacts", '["j.keller@bau.example", "jonas@keller.example"]')
    send = call("send_email", "{}", to="jonas@keller.example")
    expected = [("contradicted_argument", "jonas@keller.example")] * is_wrong
    assert found(DETECTOR, run(asked("Mail the quote to Jonas.", look, send, answer=said))) == expected

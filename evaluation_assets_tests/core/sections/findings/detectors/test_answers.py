"""What agents say, compared with what they were given."""

import pytest

from evaluation_assets.core.sections.findings.course import Course
from evaluation_assets.core.sections.findings.detectors.answers import DETECTOR
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call

RESULT = '{"order_id": "W2378156", "price": 241.0, "fee": 33, "sent": "2024-05-20", "at": "18:00:00"}'
LONG = '{"cents": 129900, "seconds": 1800, "points": 1249.87}'


def said(answer: str, result: str = RESULT, message: str = "Where is my order?") -> list[str]:
    return [kind for kind, _ in found(DETECTOR, run(asked(message, call("get_order", result), answer=answer)))]


@pytest.mark.parametrize(
    "answer",
    [
        "Your order W2378165 was sent.",
        "It costs $214.",
        "It was sent on May 21, 2024.",
        "It was sent at 7:00 PM.",
        "Die Bestellung kostet 214,00 €.",
        "订单已于5月21日发出。",
    ],
)
def test_a_misread_value_contradicts_the_result(answer: str) -> None:
    assert said(answer) == ["contradicted_answer"]


@pytest.mark.parametrize("answer", ["The museum was founded in 1887.", "You get 750 bonus points."])
def test_a_value_that_nothing_resembles_is_unsupported(answer: str) -> None:
    assert said(answer) == ["unsupported_answer"]


@pytest.mark.parametrize(
    "answer",
    [
        "Order #W2378156 was sent on May 20 at 6 PM and costs $241.00.",
        "With the fee it is $274, without it $241.",
        "Three of them are $723.",
        "That leaves $208.",
        "241 + 33 + 241 + 33 = 548",
        "Shall I send it on May 27, 2024?",
        "It takes 5 to 7 days.",
        "Sent on May 20-21, 2024.",
    ],
)
def test_given_and_computed_values_are_supported(answer: str) -> None:
    assert said(answer) == []


def test_other_units_and_rounded_figures_are_supported() -> None:
    assert said("It took 30 minutes, gave about 1,250 points and cost $1,299.00.", LONG) == []
    assert said("It took 31 minutes, gave about 1,350 points and cost $1,399.00.", LONG) != []


@pytest.mark.parametrize(
    ("answer", "is_wrong"),
    [
        ("It is 75°F (24°C).", False), ("It is 75°F (27°C).", True), ("A walk of 100 miles (161 km).", False),
        ("A walk of 100 miles (171 km).", True), ("It weighs 220 lbs.", False), ("It costs 24 coins.", True),
    ],
)  # fmt: skip
def test_a_figure_in_the_other_unit_of_a_measure_is_supported(answer: str, is_wrong: bool) -> None:
    assert bool(said(answer, '{"fahrenheit": 75, "miles": 100, "kg": 100}')) is is_wrong


def test_what_the_user_said_is_support() -> None:
    assert said("Booked for 2026-03-04.", message="Book it for March 4, 2026.") == []


def test_without_results_an_agent_speaks_from_what_it_knows() -> None:
    assert found(DETECTOR, run(asked("When was it founded?", answer="In 1887."))) == []


def test_a_wrong_value_is_reported_where_it_is_said_first() -> None:
    trajectory = run(asked("Price?", call("get", RESULT), answer="It is $214."), asked("Sure?", answer="Yes, $214."))
    (finding,) = DETECTOR.findings(Course(trajectory))
    assert (finding.place.turn, finding.evidence) == (0, "It is $214.")


def test_a_figure_that_a_later_result_has_was_computed() -> None:
    proposed = asked("What would it cost?", call("get", RESULT), answer="I will refund $3,925.")
    booked = asked("Do it.", call("refund", '{"amount": -3925}'), answer="Done.")
    assert found(DETECTOR, run(proposed, booked)) == []
    assert found(DETECTOR, run(proposed, asked("No.", answer="Fine.")))


def test_cards_are_named_by_their_last_digits() -> None:
    read = call("get", '{"total": 250, "payment": "gift_card_3481935"}')
    assert found(DETECTOR, run(asked("How was it paid?", read, answer="By the gift card ending in 1935."))) == []
    assert found(DETECTOR, run(asked("How was it paid?", read, answer="By the gift card ending in 1985.")))

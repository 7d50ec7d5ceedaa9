"""Values in arguments that nobody gave."""

import pytest

from evaluation_assets.core.sections.findings.detectors.arguments import DETECTOR
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call

MESSAGE = "Please cancel order W2378156 of May 4, 2026."


@pytest.mark.parametrize("value", ["W2378165", "2026-05-05", "88120441"])
def test_a_value_that_nobody_gave_is_unsupported(value: str) -> None:
    assert found(DETECTOR, run(asked(MESSAGE, call("cancel_order", order=value)))) == [("unsupported_argument", value)]


def test_the_whole_argument_is_quoted_once() -> None:
    made = call("send", to="lea-88120441-77120441@example.org")
    assert found(DETECTOR, run(asked(MESSAGE, made))) == [("unsupported_argument", "lea-88120441-77120441@example.org")]


@pytest.mark.parametrize("value", ["#W2378156", "2026-05-04", "04/05/2026", 3, "economy"])
def test_a_given_value_is_supported(value: object) -> None:
    assert found(DETECTOR, run(asked(MESSAGE, call("cancel_order", order=value)))) == []


def test_the_result_of_an_earlier_call_is_support() -> None:
    read = call("list_orders", '["W5550001"]')
    assert found(DETECTOR, run(asked("Cancel my order.", read, call("cancel_order", order="W5550001")))) == []


def test_another_order_than_the_user_named_contradicts_him() -> None:
    read = call("list_orders", '["W5550001", "W2378156"]')
    trajectory = run(asked(MESSAGE, read, call("cancel_order", order="W5550001")))
    assert found(DETECTOR, trajectory) == [("contradicted_argument", "W5550001")]


def test_code_and_searches_may_name_what_they_like() -> None:
    steps = call("bash", command="ls v88120441"), call("search", query="all lamps with 88120441 lumen or so")
    assert found(DETECTOR, run(asked("Find it.", *steps))) == []


def test_a_code_in_a_text_that_was_misread_is_unsupported() -> None:
    def told(order: str) -> list[tuple[str, str]]:
        summary = f"The user wants order {order} cancelled, and asks for model QX900200 instead."
        return found(DETECTOR, run(asked(MESSAGE, call("transfer_to_human", summary=summary))))

    assert told("W2378156") == []
    assert told("W2378159") == [("unsupported_argument", "W2378159")]


def test_lookups_may_be_of_the_day_before_or_after_a_given_date() -> None:
    for day, expected in (("2026-05-05", 0), ("2026-05-03", 0), ("2026-05-09", 1)):
        assert len(found(DETECTOR, run(asked(MESSAGE, call("search", date=day))))) == expected, day
    assert found(DETECTOR, run(asked(MESSAGE, call("book", date="2026-05-05"))))


def test_a_code_that_begins_with_a_digit_is_one() -> None:
    assert found(DETECTOR, run(asked("Cancel 3FRNFB.", call("cancel_order", order="9FRNFB")))) == [
        ("unsupported_argument", "9FRNFB")
    ]
    assert found(DETECTOR, run(asked("Hello.", call("search", within="24hours")))) == []


def test_a_part_of_a_code_is_no_support_for_one_that_is_nearly_the_same() -> None:
    assert found(DETECTOR, run(asked("I am mia_li_3668.", call("get_user", user="mih_li_3668"))))
    assert found(DETECTOR, run(asked("The card is 4421486.", call("pay", card="credit_card_4421486")))) == []


@pytest.mark.parametrize(
    ("amount", "is_wrong"), [(55, False), (56, True), (550, True), (-55, True), (72, False), (305, False)]
)
def test_a_number_that_nobody_says_in_the_place_of_another_contradicts_it(amount: int, *, is_wrong: bool) -> None:
    made = call("pay_order", "done, 72 points", amount=amount)
    said = "The rest of 55 is paid: 305 less 250."
    expected = [("contradicted_argument", str(amount))] if is_wrong else []
    assert found(DETECTOR, run(asked("Pay the rest, 55, of 305.", made, answer=said))) == expected


def test_a_negative_number_that_was_given_so_is_right() -> None:
    made = call("get_weather", "fine", longitude=-74, latitude=40)
    assert found(DETECTOR, run(asked("The weather at 40, -74?", made))) == []


def test_a_date_with_a_digit_too_few_is_no_date() -> None:
    made = call("book_flight", date="024-05-20")
    assert found(DETECTOR, run(asked("Book May 20, 2024.", made))) == [("contradicted_argument", "024-05-20")]


def test_who_edits_files_looks_wherever_he_likes() -> None:
    look, edit = call("read_lines", offset=50550, path="a.py"), call("write", path="a.py", content="lamp")
    assert found(DETECTOR, run(asked("Mend it.", look))) == [("unsupported_argument", "50550")]
    assert found(DETECTOR, run(asked("Mend it.", look, edit))) == []

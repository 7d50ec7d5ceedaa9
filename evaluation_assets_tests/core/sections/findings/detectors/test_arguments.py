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


TODAY = [{"id": "agent", "name": "Agent", "role": "desk", "description": "Today is Tuesday, 2026-11-03. Be polite."}]


@pytest.mark.parametrize(
    ("message", "day"),
    [
        ("Deliver it the day after tomorrow.", "2026-11-05"),
        ("Bitte übermorgen liefern.", "2026-11-05"),
        ("明後日に変更してください。", "2026-11-05"),
        ("Book it for next Wednesday.", "2026-11-11"),
        ("On the 9th, please.", "2026-11-09"),
        ("In two weeks.", "2026-11-17"),
        ("Desde mañana.", "2026-11-04"),
    ],
)
def test_a_day_that_words_give_is_supported_and_the_next_one_is_not(message: str, day: str) -> None:
    def told(written: str) -> list[tuple[str, str]]:
        return found(DETECTOR, run(asked(message, call("book_slot", day=written)), agents=TODAY))

    assert told(day) == []
    wrong = f"{day[:-2]}{int(day[-2:]) + 1:02}"
    assert told(wrong) == [("unsupported_argument", wrong)]


def test_days_that_words_give_are_not_checked_if_nothing_says_what_day_it_is() -> None:
    assert found(DETECTOR, run(asked("Deliver it tomorrow.", call("book_slot", day="2026-11-05")))) == []


def test_a_stay_ends_so_many_nights_after_it_begins() -> None:
    made = call("book_hotel", checkin="2026-11-07", checkout="2026-11-10")
    assert found(DETECTOR, run(asked("A room from Saturday, for 3 nights.", made), agents=TODAY)) == []


def test_lookups_choose_their_range_but_not_a_date_of_birth() -> None:
    ranged = call("list_payments", since="2026-08-01", until="2026-08-31")
    assert found(DETECTOR, run(asked("What did I pay?", ranged))) == []
    born = call("search_patient", date_of_birth="1975-11-18")
    assert found(DETECTOR, run(asked("Born on 17/11/1975.", born))) == [("unsupported_argument", "1975-11-18")]


@pytest.mark.parametrize("value", ["+351912345678", "1Z999AA10123456784", "11000"])
def test_what_a_user_tells_in_pieces_is_given(value: str) -> None:
    message = "Call 0351 912 345 678 about 1Z 999 AA1 01 2345 6784, 110 00 Praha."
    assert found(DETECTOR, run(asked(message, call("register", value=value)))) == []


@pytest.mark.parametrize(
    ("start", "is_given"), [("2026-11-04T15:30:00+01:00", True), ("2026-11-04T13:30:00+01:00", False)]
)
def test_a_time_may_be_given_in_words(start: str, is_given: bool) -> None:
    made = call("create_event", start=start, end="2026-11-04T16:15:00+01:00")
    assert (found(DETECTOR, run(asked("Tomorrow, half past three.", made), agents=TODAY)) == []) is is_given


def test_factors_of_units_may_be_in_an_expression_but_no_misread_number() -> None:
    message = "How much is 1450000 m in miles?"
    assert found(DETECTOR, run(asked(message, call("calculate", expression="1450000 / 1609.344")))) == []
    wrong = call("calculate", expression="1540000 / 1609.344")
    assert found(DETECTOR, run(asked(message, wrong))) == [("unsupported_argument", "1540000 / 1609.344")]


def test_a_number_in_place_of_another_is_found_whatever_marks_that_one_has() -> None:
    run_ = run(
        asked("Bitte 1.250,00 Euro überweisen.", call("transfer", amount=1520), answer="1.250 € sind überwiesen.")
    )
    assert found(DETECTOR, run_) == [("contradicted_argument", "1520")]


@pytest.mark.parametrize("address", ["ana@velora.exmaple", "li.wang@velora.example"])
def test_an_address_that_is_nearly_a_given_one_contradicts_it(address: str) -> None:
    message = "Send it to ana@velora.example and li.wei@velora.example."
    assert found(DETECTOR, run(asked(message, call("send_report", to=address)))) == [("contradicted_argument", address)]
    assert found(DETECTOR, run(asked(message, call("send_report", to="ana@velora.example")))) == []


def test_numbers_with_hyphens_are_codes() -> None:
    made = call("cancel_order", order="100-77-4521")
    assert found(DETECTOR, run(asked("Cancel 100-77-4512.", made))) == [("unsupported_argument", "100-77-4521")]


@pytest.mark.parametrize(
    ("message", "day"),
    [
        ("The court on 6/12 at 5pm, please.", "2026-06-12"),
        ("Den Platz am 12.6. bitte.", "2026-06-12"),
        ("Den Platz am 12.06 um 17 Uhr bitte.", "2026-06-12"),
        ("I stay July 3-7.", "2026-07-07"),
        ("From July 3 to 7, please.", "2026-07-07"),
        ("From 3 to 7 July, please.", "2026-07-03"),
        ("Vom 3. bis 7. Juli bitte.", "2026-07-03"),
        ("Du 3 au 7 juillet.", "2026-07-03"),
        ("Del 3 al 7 de julio.", "2026-07-03"),
        ("7月3日から7日まで", "2026-07-07"),
        ("7月3号到7号", "2026-07-07"),
    ],
)
def test_a_day_without_its_year_or_with_a_month_beside_it_is_given(message: str, day: str) -> None:
    assert found(DETECTOR, run(asked(message, call("book_court", day=day)))) == []
    wrong = f"{day[:-2]}{int(day[-2:]) + 1:02}"
    assert found(DETECTOR, run(asked(message, call("book_court", day=wrong)))) == [("unsupported_argument", wrong)]


@pytest.mark.parametrize(
    ("message", "due"),
    [
        ("Extend my loan by two weeks.", "2026-06-03"),
        ("대출 기간을 2주 연장해 주세요.", "2026-06-03"),
        ("대출 기간을 일주일 연장해 주세요.", "2026-05-27"),
        ("Push it to the following day.", "2026-05-21"),
        ("Verschieb es um einen Monat.", "2026-06-20"),
        ("Make it three nights.", "2026-05-23"),
    ],
)
def test_users_count_from_a_day_of_a_result(message: str, due: str) -> None:
    read = call("get_loan", '{"due": "2026-05-20"}')
    assert found(DETECTOR, run(asked(message, read, call("update_loan", due=due)))) == []
    wrong = f"{due[:-2]}{int(due[-2:]) + 1:02}"
    assert found(DETECTOR, run(asked(message, read, call("update_loan", due=wrong)))) == [
        ("unsupported_argument", wrong)
    ]


@pytest.mark.parametrize(
    ("message", "at", "is_given"),
    [
        ("Move it to an hour later.", "16:00", True),
        ("Push it back by 30 minutes.", "15:30", True),
        ("Eine halbe Stunde früher, bitte.", "14:30", True),
        ("Push it back by 30 minutes.", "15:45", False),
        ("Any time in the morning.", "09:20", True),
        ("Irgendwann nachmittags.", "14:10", True),
        ("At 9 in the morning.", "10:00", False),
        ("Tomorrow morning, please.", "09:20", True),
        ("Good morning, move it please.", "09:20", False),
        ("Guten Abend, bitte verschieben.", "09:20", False),
        ("Boa tarde, mude o horário.", "09:20", False),
        ("晚上好，请改一下时间。", "09:20", False),
    ],
)
def test_users_count_from_a_time_or_leave_it_open(message: str, at: str, is_given: bool) -> None:
    read = call("get_event", '{"start": "2026-05-14T15:00"}')
    made = found(DETECTOR, run(asked(message, read, call("update_event", start=at))))
    assert made == ([] if is_given else [("unsupported_argument", at)])


@pytest.mark.parametrize(
    "message", ["A car until March 23, 2026, at most $40 a day.", "Until March 23, 2026, once a day."]
)
def test_a_rate_is_no_span(message: str) -> None:
    assert found(DETECTOR, run(asked(message, call("book_car", until="2026-03-24")), agents=TODAY)) == [
        ("unsupported_argument", "2026-03-24")
    ]


def test_a_price_for_a_night_is_no_stay() -> None:
    read = call("search_hotels", '{"price": 132}')
    step = call("book_hotel", until="2026-03-24")
    message = "A hotel until March 23, 2026, at most $150 a night."
    assert found(DETECTOR, run(asked(message, read, step), agents=TODAY)) == [("unsupported_argument", "2026-03-24")]


def test_a_code_may_stand_beside_letters_of_a_script_without_spaces() -> None:
    for order, expected in (("A20260311", []), ("A20260312", [("unsupported_argument", "A20260312")])):
        step = call("update_order", order=order)
        assert found(DETECTOR, run(asked("帮我查一下订单A20260311的物流。", step))) == expected, order


@pytest.mark.parametrize("number", ["55-0129", "30-77160"])
def test_two_groups_of_digits_are_a_code(number: str) -> None:
    message = "I am patient 55-0192, employee 30-77161."
    assert found(DETECTOR, run(asked(message, call("book_slot", patient=number)))) == [("unsupported_argument", number)]
    assert found(DETECTOR, run(asked(message, call("book_slot", patient="55-0192")))) == []


def test_day_and_month_with_points_have_one_order() -> None:
    step = call("book_court", day="2026-12-08")
    assert found(DETECTOR, run(asked("Am 12.8. bitte.", step))) == [("unsupported_argument", "2026-12-08")]
    assert found(DETECTOR, run(asked("On 12/8, please.", step))) == []

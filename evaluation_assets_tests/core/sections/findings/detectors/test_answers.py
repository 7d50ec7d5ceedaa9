"""What agents say, compared with what they were given."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.findings.detectors.answers import DETECTOR
from evaluation_assets.core.sections.findings.evidence.course import Course
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call, part, session, turn

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


def test_a_duration_is_compared_with_durations_alone() -> None:
    """Policies are often not recorded: a result that has `25` or `34` says nothing of `24 hours`."""
    assert said("It can be returned within 24 hours or **30** days.", '{"seat": 34, "row": 20}') == []
    assert said("It can be returned within 24 hours.", '{"returns": "within 34 hours", "row": 20}') == [
        "contradicted_answer"
    ]
    assert said("It can be returned within 24 hours.", "{}", "Why not within 34 hours?") == ["contradicted_answer"]


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


def test_figures_that_only_support_each_other_are_unsupported() -> None:
    assert said("There were 216,618 men and 350,284 women, a difference of 133,666.") == ["unsupported_answer"]
    assert said("With the fee it is $274, for three of them $822.") == []


def test_a_sentence_with_several_wrong_values_is_one_finding_by_the_gravest() -> None:
    assert said("Founded in 1887, it costs $214 and 950 points.") == ["contradicted_answer"]


@pytest.mark.parametrize(
    "answer",
    [
        "Your pace is 42.195 / 1.9944 = 21.157 km/h.",
        "The area is 18 × 13.5 = 243 square metres.",
        "Area = \\frac{3 \\sqrt{3}}{2} (33)^2 = 2.6 \\cdot 1089",
    ],
)
def test_products_and_quotients_of_a_line_are_supported(answer: str) -> None:
    assert said(answer, '{"km": 42.195, "fee": 33}') == []


def test_a_long_result_supports_what_rounds_any_of_its_figures() -> None:
    result = ", ".join(f"'Bar {number}': {number * 13.1654340355:.9f}" for number in range(100, 200))
    assert said(f"Bar 199 is {199 * 13.1654340355:.2f} meters away.", result) == []
    assert said("Bar 199 is 9620.00 meters away.", result) == ["unsupported_answer"]


def test_a_flight_that_arrives_on_the_next_day_does() -> None:
    result = '{"date": "2024-05-25", "departure": "18:00:00", "arrival": "00:10:00+1"}'
    assert said("It arrives on May 26, 2024 at 12:10 AM.", result) == []
    assert said("It arrives on May 27, 2024 at 12:10 AM.", result) == ["contradicted_answer"]


def test_a_date_of_another_time_is_unsupported_and_contradicts_nothing() -> None:
    assert said("The king was born on July 6, 1935.") == ["unsupported_answer"]


RECORD = (
    "Here they are: [{'id': 319, 'day': '2023-05-17'}, {'id': 320, 'day': '2023-05-16'}, {'id': 321, 'last': True}]"
)
PAGE = "A search found: " + " ".join(
    f"[Result {number}8](https://example.com/{number}) of 1{number}7 pages." for number in range(5)
)


@pytest.mark.parametrize("handed_on", [RECORD, PAGE, PAGE.replace("https://example.com", "/wiki")])
def test_an_agent_that_hands_on_a_page_or_a_record_claims_nothing(handed_on: str) -> None:
    assert said(handed_on) == []
    trajectory = run(
        asked("Which?", call("get_order", RESULT), answer=handed_on), asked("And?", answer="It is 319 or 117.")
    )
    assert {kind for kind, _ in found(DETECTOR, trajectory)} <= {"unsupported_answer"}


def test_an_answer_that_cites_what_was_found_is_checked() -> None:
    links = [f"https://example.com/{number}" for number in range(6)]
    answer = "The museum was founded in 1887. Sources: " + " ".join(links)
    assert said(answer, " ".join(links)) == ["unsupported_answer"]


def test_the_total_of_a_field_in_any_earlier_result_is_supported() -> None:
    legs = [{"flight": f"HAT{number}", "prices": {"business": 100 * number + 7}} for number in range(1, 4)]
    searched = call("search", orjson.dumps([legs]).decode())
    others = [call("get_user", f'{{"id": "U{number}", "age": 3{number}}}') for number in range(3)]

    def about(answer: str) -> list[str]:
        return [kind for kind, _ in found(DETECTOR, run(asked("How much?", searched, *others, answer=answer)))]

    assert about("The first two legs cost $314, all three $621.") == []
    assert about("The first and the third leg cost $415.") == ["unsupported_answer"]


@pytest.mark.parametrize(("code", "is_wrong"), [("print('40025482'.zfill(10))", True), ("print(look_up('it'))", False)])
def test_code_that_prints_what_it_was_given_supports_nothing(code: str, is_wrong: bool) -> None:
    said_first = asked("Which ID?", call("search", "no result"), answer="Its ID is 40025482.")
    printed = asked("Go on.", call("execute_python", "0040025482", code=code), answer="Done.")
    assert bool(found(DETECTOR, run(said_first, printed))) is is_wrong


def test_names_of_files_are_no_claims() -> None:
    assert said("I assume that it is `sales_jan2023_final.csv`.") == []


def test_what_an_agent_without_recorded_calls_says_of_its_pages_is_not_checked() -> None:
    looked = part("searcher", None, call("get_order", RESULT))
    browsed, summed_up = part("browser", PAGE), part("browser", "The total is 59 million, since May 3.")
    handed = session(turn("Which?", looked, browsed, summed_up))
    assert found(DETECTOR, handed) == []
    assert [kind for kind, _ in found(DETECTOR, session(turn("Which?", looked, summed_up)))]


def test_a_total_of_the_items_of_a_list_is_supported() -> None:
    result = '{"a": 3538, "b": 482, "c": 4390, "d": 465, "e": 3024, "f": 630}'
    pairs = (("3,538", "3,056"), ("4,390", "3,925"), ("3,024", "2,394"))
    items = "".join(f"* Paid: ${paid}\n  Savings: ${saved}\n" for paid, saved in pairs)
    assert said(f"{items}\nTotal savings: $9,375", result) == []
    assert said(f"{items}\nTotal savings: $9,735", result) == ["unsupported_answer"]
    assert said("- First: $3,538\n- Second: $4,390\n- Third: $3,024\n\nTogether: $10,952", result) == []


def test_who_edits_files_names_parts_as_he_likes() -> None:
    read, edit = call("read_file", "a board", path="board.tsx"), call("write", path="board.tsx", content="<board />")
    said = "It has an RP2040."
    assert found(DETECTOR, run(asked("Make a board.", read, answer=said))) == [("unsupported_answer", said)]
    assert found(DETECTOR, run(asked("Make a board.", read, edit, answer=said))) == []


@pytest.mark.parametrize(
    ("answer", "kinds"),
    [
        ("45 of 180 tickets (25%) are open.", []),
        ("From 180 to 45, that is 75 percent less.", []),
        ("45 of 180 tickets (52%) are open.", ["unsupported_answer"]),
        ("45 tickets are open.\n\n180 were closed, so 25% are.", ["unsupported_answer"]),
    ],
)
def test_a_percentage_may_be_the_share_of_two_figures_in_its_line(answer: str, kinds: list[str]) -> None:
    found_kinds = said(answer, '{"open": 45, "all": 180}')
    assert [kind.replace("contradicted", "unsupported") for kind in found_kinds] == kinds


CSV = "country,revenue,orders\nDE,1284300.50,2310\nFR,640112.00,1188\nNL,288450.75,502"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("In total €2,212,863.25 from 4,000 orders.", "In total €2,122,863.25 from 4,000 orders."),
        ("Germany has 58% of it.", "Germany has 85% of it."),
        ("| Germany | €1,284,300.50 | 2,310 | €555.97 |", "| Germany | €1,284,300.50 | 2,310 | €595.57 |"),
        ("Germany has about 2,400 orders.", "Germany has about 2,900 orders."),
    ],
)
def test_what_a_table_comes_to_is_supported(right: str, wrong: str) -> None:
    assert said(right, CSV) == []
    assert said(wrong, CSV)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("You spent €27.55: €4.80, €6.25, €5.10 and €11.40.", "You spent €72.55: €4.80, €6.25, €5.10 and €11.40."),
        ("It costs €684.00, €813.96 including 19% VAT.", "It costs €684.00, €831.96 including 19% VAT."),
        ("That is €27.56 for each of you two.", "That is €25.76 for each of you two."),
        ("It will be 52 to 61 °F.", "It will be 52 to 71 °F."),
        ("Your refund is €11.40.", "Your refund is €14.10."),
        ("That is €136.80 a year.", "That is €163.80 a year."),
        ("C'est entre 8h-10h et 14h-16h, à €11.40.", "C'est entre 8h-10h et 14h-16h, à €14.10."),
    ],
)
def test_what_amounts_come_to_is_supported(right: str, wrong: str) -> None:
    result = '{"bought": [4.8, 6.25, 5.1, 11.4], "net": 684.0, "gross": 55.12, "low": 11, "high": 16}'
    assert said(right, result) == []
    assert said(wrong, result)


def test_the_same_field_of_several_results_may_be_added_up() -> None:
    read = [call("get_shipment", f'{{"weight_kg": {weight}}}', id=weight) for weight in (310, 95.5, 77)]
    other = [call("find_driver", '{"id": "DR-12"}'), call("assign", "{}"), call("assign", "{}")]
    assert found(DETECTOR, run(asked("Assign them.", *read, *other, answer="482.5 kg in total."))) == []


def test_instructions_may_give_a_price_and_what_is_added_to_it() -> None:
    told = [{"id": "agent", "name": "A", "role": "r", "description": "A card costs 12.50 EUR, express adds 9.90 EUR."}]
    turns = asked("A new card?", call("get_card", '{"id": "K1"}'), answer="With express it's €22.40.")
    assert found(DETECTOR, run(turns, agents=told)) == []


def test_days_between_two_dates_may_be_counted() -> None:
    def told(days: int) -> list[tuple[str, str]]:
        today = [{"id": "agent", "name": "A", "role": "r", "description": "Today is 2026-09-15. Claim within 60 days."}]
        read = call("get_charge", '{"date": "2026-06-02", "amount": 84.9}')
        return found(DETECTOR, run(asked("Is it too late?", read, answer=f"That was {days} days ago."), agents=today))

    assert told(105) == []
    assert told(150) == [("unsupported_answer", "That was 150 days ago.")]


def test_days_of_the_week_are_right_or_wrong() -> None:
    def told(day: str) -> list[tuple[str, str]]:
        today = [{"id": "agent", "name": "A", "role": "r", "description": "Today: 2026-03-09 (Monday)."}]
        read = call("find_slots", '{"slots": []}', day="2026-03-11")
        return found(DETECTOR, run(asked("When?", read, answer=f"The next day is Monday, {day} March."), agents=today))

    assert told("16") == []
    assert [kind for kind, _ in told("17")] == ["contradicted_answer"]


def test_an_example_of_a_code_claims_nothing() -> None:
    assert said("I need a number in the form HB-123-456.") == []
    assert said("Your number is HB-123-456.") == ["unsupported_answer"]


def test_what_one_agent_asks_of_another_is_no_answer() -> None:
    read = part("searcher", None, call("search", '{"rent": 8.9}'))
    asks = part("searcher", "Analyst, please compute it for 70 m².")
    assert found(DETECTOR, session(turn("Compare rents.", read, asks, part("analyst", "Done.")))) == []


def test_a_date_in_an_address_of_a_result_supports_the_answer() -> None:
    result = "[1] https://example.org/history#:~:text=On%2013%20January%202004%2C%20the"
    assert said("It was founded on January 13, 2004.", result) == []
    assert said("It was founded on January 14, 2004.", result) == ["contradicted_answer"]


def thinking(thought: str, answer: str, *steps: dict[str, Any]) -> list[str]:
    """What is found in an answer whose agent thought this right before it."""
    last = {"thought": thought, "action": answer}
    return [kind for kind, _ in found(DETECTOR, run(asked("What is it?", *steps, last, answer=None)))]


@given(st.integers(10_000, 9_999_999), st.data())
def test_a_digit_other_than_the_agent_thought_contradicts_it(number: int, data: st.DataObject) -> None:
    thought = str(number)
    place = data.draw(st.integers(1, len(thought) - 1))
    digit = data.draw(st.sampled_from([each for each in "123456789" if each != thought[place]]))
    other = thought[:place] + digit + thought[place + 1 :]
    assert thinking(f"So it is {thought}.", f"The number is {other}.") == ["contradicted_answer"]
    assert thinking(f"So it is {thought}.", f"The number is {thought}.") == []


@pytest.mark.parametrize(
    ("thought", "answer"),
    [
        ("The code is B4417X.", "The code is B4477X."),
        ("She was born on March 5, 1971.", "She was born on March 5, 1931."),
    ],
)
def test_a_code_or_date_other_than_the_agent_thought_contradicts_it(thought: str, answer: str) -> None:
    assert thinking(thought, answer) == ["contradicted_answer"]


@pytest.mark.parametrize(
    ("thought", "answer"),
    [
        ("It is 66.66 percent.", "It is 66.67 percent."),
        ("It is 4184, plus 5.", "It is 4189."),
        ("It is from March 5, 2021, and valid for 5 years.", "It ends on March 5, 2026."),
        ("It began on March 5, 2021.", "It ends on March 5, 2022."),
        ("First comes step1.", "Then comes step2."),
        ("It is 4184 or 4187.", "It is 4187."),
        ("It is 4184.", "It is 4187, not 4184."),
        ("It is 4184.", "It is 5371."),
    ],
)
def test_what_an_agent_rounds_counts_or_computes_is_no_slip(thought: str, answer: str) -> None:
    assert thinking(thought, answer) == []


def test_a_figure_that_was_given_is_no_slip() -> None:
    assert thinking("It is 4184.", "It is 4187.", call("get", "4187")) == []
    assert thinking("It is 4184.", "It is 4187.", call("get", "ok")) == ["contradicted_answer"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Of your certificate $201 remain.", []),
        ("Of your gift card $201 remain.", [("unsupported_answer", "Of your gift card $201 remain.")]),
        ("Of your certificate $222 remain.", [("unsupported_answer", "Of your certificate $222 remain.")]),
    ],
)
def test_what_remains_of_a_record_that_is_named_is_computed(said: str, expected: list[tuple[str, str]]) -> None:
    user = call("get_user", '{"certificate_1": {"source": "certificate", "amount": 500}, "visa_1": {"source": "visa"}}')
    steps = user, call("search", "The fare is 299."), call("search", "Nothing else."), call("search", "Nothing more.")
    assert found(DETECTOR, run(asked("What remains?", *steps, answer=f"The fare is $299. {said}"))) == expected


def test_a_figure_with_three_decimals_may_be_rounded() -> None:
    assert said("It is 136 miles.", result="distance 136.453, minutes 138") == []


def test_what_is_proposed_and_then_done_is_checked_in_the_call() -> None:
    look = call("get_stay", '{"check_in": "2026-08-10", "check_out": "2026-08-12"}')
    first = asked("Quiero tres noches.", look, answer="Puedo ampliarla hasta el 13 de agosto.")
    done, other = (call("update_stay", "{}", until=f"2026-08-{day}") for day in (13, 14))
    assert found(DETECTOR, run(first, asked("Sí.", done))) == []
    assert [kind for kind, _ in found(DETECTOR, run(first, asked("Sí.", other)))] == ["contradicted_answer"]


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ("40 shares at $81.37 would cost $3,254.80. You could buy 36 shares for $2,929.32.", True),
        ("40 shares at $81.37 would cost $3,245.80.", False),
        ("36 of them are $2,929.32.", True),
    ],
)
def test_a_price_times_a_number_needs_no_sign(answer: str, *, is_right: bool) -> None:
    assert (said(answer, result='{"price": 81.37}', message="Buy 40 shares.") == []) is is_right


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ("You spent 100.00 € in all.", True),
        ("You spent 110.00 € in all.", False),
        ("The mean is 33.33 €.", True),
        ("You spent 33.33 €.", False),
    ],
)
def test_amounts_are_added_up_whatever_their_sign(answer: str, *, is_right: bool) -> None:
    result = '[{"amount": -32.5}, {"amount": -48.2}, {"amount": -19.3}]'
    assert (said(answer, result) == []) is is_right


@pytest.mark.parametrize(("answer", "is_right"), [("It leads by $257 thousand.", True), ("By $275 thousand.", False)])
def test_a_difference_of_records_may_be_rounded(answer: str, *, is_right: bool) -> None:
    assert (said(answer, '[{"total": 1284300.4}, {"total": 1027440.1}]') == []) is is_right


def test_a_day_of_the_month_may_stand_alone() -> None:
    assert (
        said("32,50 € le 4 et 19,30 € le 27.", '[{"le": "2026-03-04", "m": 32.5}, {"le": "2026-03-27", "m": 19.3}]')
        == []
    )


@pytest.mark.parametrize(
    ("message", "amount"),
    [
        ("Send three hundred and fifty dollars to Max.", "$350"),
        ("Send fifteen hundred dollars to Max.", "$1,500"),
        ("Send a hundred and twenty dollars.", "$120"),
        ("Send two thousand five hundred.", "$2,500"),
        ("I need twenty-five dollars.", "$25"),
    ],
)
def test_a_user_may_spell_a_number_out(message: str, amount: str) -> None:
    assert said(f"I would send {amount}.", '{"payee": "Max"}', message) == []
    assert said(f"I would send {amount}9.", '{"payee": "Max"}', message) != []


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [("It costs 1.9 billion crowns.", True), ("It costs 9.1 billion crowns.", False), ("About 3.7 million.", True)],
)
def test_a_small_figure_with_a_scale_is_checked(answer: str, *, is_right: bool) -> None:
    assert (said(answer, "The tunnel costs 1.9 billion crowns, for 3,677,472 people.") == []) is is_right


@pytest.mark.parametrize(("answer", "is_right"), [("It runs 1:02:05.", True), ("2:18 h", True), ("2:28 h", False)])
def test_a_length_may_be_given_in_seconds_or_minutes(answer: str, *, is_right: bool) -> None:
    assert (said(answer, '{"seconds": 3725, "minutes": 138}') == []) is is_right


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ("It is worth about $12.9 billion (312 million shares at $41.50).", True),
        ("It is worth about $19.2 billion (312 million shares at $41.50).", False),
        ("About 0.3 billion shares.", True),
    ],
)
def test_a_figure_with_a_scale_may_be_computed_or_rough(answer: str, *, is_right: bool) -> None:
    assert (said(answer, '{"shares": 312000000, "price": 41.5}') == []) is is_right


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ("It starts at 5 pm in Tokyo, which is 9:00 am in Lisbon.", True),
        ("It starts at 5 pm in Tokyo, which is 9:30 am in Lisbon.", False),
        ("It starts at 6 pm in Tokyo.", False),
        ("It starts at 6 pm in Tokyo, which is 9 pm in Lisbon.", False),
    ],
)
def test_a_time_may_be_told_in_another_zone(answer: str, *, is_right: bool) -> None:
    for start in ("2026-07-15T17:00+09:00", "2026-07-15T17:00:00-09:00"):
        assert (said(answer, f'{{"start": "{start}"}}') == []) is is_right


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ("Der Termin ist am 12. August.", True),
        ("Der Termin ist am 21. August.", False),
        ("Es el día 21 de agosto.", False),
        ("It is on the 21st of August.", False),
    ],
)
def test_a_date_does_not_support_itself_by_its_day(answer: str, *, is_right: bool) -> None:
    agents = [{"id": "agent", "name": "Agent", "role": "desk", "description": "Today is 2026-08-03."}]
    trajectory = run(asked("When?", call("get_slot", '{"date": "2026-08-12"}'), answer=answer), agents=agents)
    assert (found(DETECTOR, trajectory) == []) is is_right

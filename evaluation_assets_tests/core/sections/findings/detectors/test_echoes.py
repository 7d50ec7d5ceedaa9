"""Results that have a value of their call otherwise."""

from typing import Any

import orjson
import pytest

from evaluation_assets.core.sections.findings.detectors.echoes import DETECTOR
from evaluation_assets.core.sections.findings.evidence.course import Course
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call

MESSAGE = "Book me from OSL to BGO on 2026-05-04, and refund 50 to order W2378156."


def wrong(*values: str) -> list[tuple[str, str]]:
    return [("contradicted_argument", value) for value in values]


@pytest.mark.parametrize(
    "result",
    ['{"origin": "OSL", "price": 90}', '[{"origin": "OSL"}, {"origin": "OSL"}]', "A flight with origin OSL"],
)
def test_a_result_that_has_a_field_of_its_call_otherwise_contradicts_it(result: str) -> None:
    assert found(DETECTOR, run(asked(MESSAGE, call("search_flights", result, origin="TRD")))) == wrong("TRD")
    assert found(DETECTOR, run(asked(MESSAGE, call("search_flights", result, origin="OSL")))) == []


@pytest.mark.parametrize(
    "result",
    [
        '{"origin": "ABZ"}',  # nobody has spoken of it
        '{"legs": [{"origin": "OSL"}]}',  # of a part of the record
        '{"origin": "TRD", "next": {"origin": "OSL"}}',
        '{"origin": "Oslo"}',  # another notation
        '{"origin": ["OSL"]}',
        '["OSL"]',
        '{"origin": "OSL"',
        "Two flights from OSL",
        "[0].origin: OSL\n[1].origin: TRD",
    ],
)
def test_other_results_do_not(result: str) -> None:
    assert found(DETECTOR, run(asked(MESSAGE, call("search_flights", result, origin="TRD")))) == []


@pytest.mark.parametrize(("given", "shown"), [(1200, "1200.0"), ("1200", '"1200.00"'), ("42", '"0042"')])
def test_a_number_in_another_notation_is_the_same(given: object, shown: str) -> None:
    made = call("transfer", f'{{"amount": {shown}}}', amount=given)
    assert found(DETECTOR, run(asked(f"Transfer {shown} to Ann.", made))) == []


def test_options_are_named_in_the_way_of_the_tool() -> None:
    made = call("update_seat", '{"cabin": "business"}', cabin="economy")
    assert found(DETECTOR, run(asked("From business to economy, please.", made))) == []


def test_a_failed_call_has_no_fields() -> None:
    made = call("search_flights", error='{"origin": "OSL"}', origin="TRD")
    assert found(DETECTOR, run(asked(MESSAGE, made))) == []


def test_a_value_that_its_result_spells_as_it_was_given_is_misspelled() -> None:
    for order, expected in (("W2378159", wrong("W2378159")), ("W2378156", []), ("W5550001", [])):
        made = call("bash", "1 refund for W2378156", command=f"shop refund {order} --all")
        assert found(DETECTOR, run(asked(MESSAGE, made))) == expected, order


def test_an_error_too_quotes_what_was_meant() -> None:
    made = call("bash", error="no such order, did you mean W2378156?", command="shop show W2378165")
    assert found(DETECTOR, run(asked(MESSAGE, made))) == wrong("W2378165")


def test_separators_and_short_values_are_no_spelling() -> None:
    made = call("python", "x_n1 = 3 after 50 steps", code="xn_1 = 1; run(xn_1, 51)")
    assert found(DETECTOR, run(asked("Give x_n1 after 50 steps.", made))) == []


@pytest.mark.parametrize(
    ("expression", "result", "is_wrong"),
    [
        ("105 + 182", "207.0", True),
        ("(350 - 122) * 2 / -4", "600", True),
        ("105 + 102", "207.0", False),
        ("1000 / 3", "333.33", False),
        ("1,000 + 1", "5", False),
        ("2 ** 3", "9", False),
        ("1 / 0", "0", False),
        ("1 + ", "5", False),
        ("105 + 182", "207 of 300", False),
        ("2026-05-04", "3", False),
    ],
)
def test_an_expression_comes_to_its_result(expression: str, result: str, is_wrong: bool) -> None:
    made = call("calculate", result, expression=expression)
    assert found(DETECTOR, run(asked("Add it up.", made))) == wrong(*[expression] * is_wrong)


def test_calls_that_change_nothing_weigh_little() -> None:
    def severity(tool: str) -> str:
        trajectory = run(asked(MESSAGE, call(tool, '{"origin": "OSL"}', origin="TRD")))
        return next(DETECTOR.findings(Course(trajectory))).severity

    assert (severity("search_flights"), severity("book_flight")) == ("LOW", "HIGH")


@pytest.mark.parametrize(
    ("order", "answered", "is_wrong"),
    [
        ("FQ8APE", "UM3OG5", True),
        ("fq8ape", "FQ8APE", False),
        ("FQ8APE", "UM3OG55", False),
        (40, 39, True),
        (40, 40.0, False),
    ],
)
def test_a_record_is_of_the_order_that_was_asked_for(order: object, answered: object, *, is_wrong: bool) -> None:
    made = call("get_order", orjson.dumps({"order": answered, "before": order}).decode(), order=order)
    expected = wrong(*[str(order)] * is_wrong)
    assert found(DETECTOR, run(asked(f"Find {answered}, I paid 39.", made))) == expected


def test_parts_are_compared_in_their_order() -> None:
    legs = [{"flight": "HAT080", "seats": 2}, {"flight": "HAT294", "seats": 2}]
    said = "Book HAT080 and HAT148, not HAT294."

    def booked(*flights: str) -> list[tuple[str, str]]:
        result = orjson.dumps({"legs": [{"flight": flight, "price": 90} for flight in flights]}).decode()
        return found(DETECTOR, run(asked(said, call("book_flights", result, legs=legs))))

    assert booked("HAT080", "HAT294") == []
    assert booked("HAT080", "HAT148") == wrong("HAT294")
    assert booked("HAT080") == []


def test_a_part_of_a_code_is_no_spelling_of_it() -> None:
    made = call("python", error="line 6: not a number", code="open(path, encoding='utf-8')")
    assert found(DETECTOR, run(asked("Read 6 rows.", made))) == []


BOOKED: dict[str, Any] = {
    "user": "ann_lee_17",
    "cabin": "economy",
    "bags": 2,
    "insured": True,
    "legs": [{"code": "XK1"}, {"code": "XK2"}],
}


@pytest.mark.parametrize(
    ("wrong_field", "quoted"),
    [
        ({"cabin": "business"}, "business"),
        ({"bags": 3}, "3"),
        ({"insured": False}, "false"),
        ({"legs": [{"code": "XK1"}]}, None),
    ],
)
def test_a_record_that_is_as_in_the_call_but_for_a_field_contradicts_it(
    wrong_field: dict[str, Any], quoted: str | None
) -> None:
    made = call("book_trip", orjson.dumps({"id": "R1", **BOOKED}).decode(), **(BOOKED | wrong_field))
    trajectory = run(asked("Book it for ann_lee_17, XK1 and XK2, in economy or business.", made))
    ((kind, evidence),) = found(DETECTOR, trajectory)
    assert kind == "contradicted_argument"
    assert quoted is None or evidence == quoted


def test_a_record_that_has_little_in_common_with_its_call_says_nothing() -> None:
    other = {**BOOKED, "cabin": "business", "bags": 4, "insured": False}
    made = call("book_trip", orjson.dumps(other).decode(), **BOOKED)
    assert found(DETECTOR, run(asked("Book it for ann_lee_17 with XK1 and XK2.", made))) == []


def test_an_update_may_leave_a_record_as_it_was() -> None:
    read = call("get_trip", orjson.dumps({**BOOKED, "cabin": "business"}).decode(), user="ann_lee_17")
    for before, is_wrong in (((read,), False), ((), True)):
        made = call("update_trip", orjson.dumps({**BOOKED, "cabin": "business"}).decode(), **BOOKED)
        trajectory = run(asked("Both for ann_lee_17, XK1, XK2: business, economy.", *before, made))
        assert bool(found(DETECTOR, trajectory)) is is_wrong


def test_an_id_in_a_list_of_the_call_is_another_one_in_the_record() -> None:
    made = call("book_trip", '{"payments": [{"card": "visa_4421"}]}', paid=[{"card": "visa_1955"}])
    assert found(DETECTOR, run(asked("Book it with visa_4421, not with visa_1955.", made))) == wrong("visa_1955")


def test_more_lists_of_results_than_were_asked_for() -> None:
    answer = orjson.dumps({"result": [[{"title": "Lamps"}], [{"title": "Chairs"}]]}).decode()
    for queries, is_wrong in ((["lamps"], True), (["lamps", "chairs"], False)):
        assert bool(found(DETECTOR, run(asked("Find them.", call("search", answer, queries=queries))))) is is_wrong


def test_a_name_without_its_marks_and_an_amount_in_cents_are_the_same() -> None:
    read = call("search_patient", '{"last_name": "Wiśniewska", "first_name": "Jörg"}', last_name="Wisniewska")
    assert found(DETECTOR, run(asked("I'm Katarzyna Wiśniewska.", read))) == []
    paid = call("issue_refund", '{"refund": "re_1", "amount": 1190}', amount=11.9)
    assert found(DETECTOR, run(asked("It cost 1190 cents.", paid))) == []

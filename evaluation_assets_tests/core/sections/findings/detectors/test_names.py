"""Names that nothing before has."""

import pytest

from evaluation_assets.core.sections.findings.detectors.names import DETECTOR
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call

READ = call("search", "The tower was built by Anna Lindqvist. Башню построила Анна Линдквист.")


@pytest.mark.parametrize("said", ["It was built by Piet Vanhoven.", "Башню построил инженер Пётр Ванховен."])
def test_a_name_that_nothing_has_is_unsupported(said: str) -> None:
    assert found(DETECTOR, run(asked("Who built it?", READ, answer=said))) == [("unsupported_answer", said)]


@pytest.mark.parametrize(
    "said",
    [
        "It was built by Anna Lindqvist.",
        "It was built by Mrs. Lindqvist and Hugo Berg, whom you named.",
        "Here is your answer, with the Full Name:",
        "Башню построила Анна Линдквист.",
        "It is done.",
    ],
)
def test_a_name_that_was_given_is_supported(said: str) -> None:
    assert found(DETECTOR, run(asked("Who built it, Hugo Berg?", READ, answer=said))) == []


@pytest.mark.parametrize(
    ("said", "is_known"),
    [
        ("It starts at Wexford Municipal Airport (WEX).", True),
        ("It starts at Wexford Municipal Airport (WXF).", False),
        ("It starts at Wexford Municipal Airport.", False),
        ("I will ask the office of Piet Vanhoven next.", True),
        ("I did ask the office of Piet Vanhoven.", False),
    ],
)
def test_a_name_written_out_or_in_a_plan_is_not_said_of_the_results(said: str, *, is_known: bool) -> None:
    read = call("get_trip", "WEX to SEA")
    expected = [] if is_known else [("unsupported_answer", said)]
    assert found(DETECTOR, run(asked("Where from?", read, answer=said))) == expected


@pytest.mark.parametrize(
    ("result", "expected"), [("现任总理，曾任主席。 (NSW)", 0), ("The minister (总理) was it.", 1)]
)
def test_names_that_an_agent_translates_are_not_those_of_the_results(result: str, expected: int) -> None:
    said = "It was built when he was Federal Chancellor."
    assert len(found(DETECTOR, run(asked("Who?", call("search", result), answer=said)))) == expected


def test_an_agent_without_results_speaks_from_what_it_knows() -> None:
    assert found(DETECTOR, run(asked("Who built it?", answer="It was built by Piet Vanhoven."))) == []


@pytest.mark.parametrize(
    ("name", "is_misspelled"),
    [
        ("Lindqvist", False),
        ("Lindkvist", True),
        ("Lindvist", True),
        ("Lindqivst", True),
        ("Lindqvistin", False),
        ("Lindqvisty", False),
        ("Berglund", False),
        ("Lindkvist's", False),
        ("Towers", False),
    ],
)
def test_a_name_that_is_a_letter_off_is_misspelled(name: str, *, is_misspelled: bool) -> None:
    said = f"It was built by {name} in 1911."
    expected = [("unsupported_answer", said)] if is_misspelled else []
    assert found(DETECTOR, run(asked("Who built it?", READ, answer=said))) == expected


def test_a_word_that_is_no_name_is_not_what_was_misspelled() -> None:
    read = call("get_order", "The order was changed.")
    assert found(DETECTOR, run(asked("And?", read, answer="This is what was Charged so far."))) == []


@pytest.mark.parametrize(
    "said", ["Reservation ID: **HATHAT**", "Your code is XKJQZR.", "确认号：ABCDEF", "Der Code lautet: nein."]
)
def test_a_code_of_letters_that_nothing_has_is_unsupported(said: str) -> None:
    expected = [("unsupported_answer", said)] if "lautet" not in said else []
    assert found(DETECTOR, run(asked("Book it.", READ, answer=said))) == expected
    booked = call("book", '{"ids": ["HATHAT", "XKJQZR", "ABCDEF"]}')
    assert found(DETECTOR, run(asked("Book it.", booked, answer=said))) == []


@pytest.mark.parametrize(
    ("cabin", "is_misspelled"),
    [
        ("economy", False),
        ("ecnoomy", True),
        ("ecoomy", True),
        ("ecoonomy", True),
        ("business", False),
        ("econom", False),
    ],
)
def test_an_option_that_nothing_else_has_and_nearly_is_one_is_misspelled(cabin: str, *, is_misspelled: bool) -> None:
    made = call("book_flight", "booked in economy", cabin=cabin)
    expected = [("contradicted_argument", cabin)] if is_misspelled else []
    assert found(DETECTOR, run(asked("In economy, please.", made))) == expected


def test_of_searches_only_names_are_misspelled() -> None:
    for query, is_misspelled in (
        ("the famous tower of Anna Lindkvist", True),
        ("who builds the tower of Lindqvist", False),
        ("the famous tover of Anna Lindqvist", False),
    ):
        made = call("search", "The tower was built by Anna Lindqvist.", query=query)
        trajectory = run(asked("Which famous tower did Anna Lindqvist build?", made))
        assert bool(found(DETECTOR, trajectory)) is is_misspelled, query

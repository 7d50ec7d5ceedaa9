"""New names and figures in words that had another one before."""

import pytest

from evaluation_assets.core.sections.findings.detectors.phrases import DETECTOR
from evaluation_assets.core.sections.findings.evidence.course import Course
from evaluation_assets_tests.core.sections.findings.finding import asked, found, run
from evaluation_assets_tests.core.sections.sessions.making import call

MESSAGE = "Who was born first, Erika Jayne or Marco Da Silva, and when was the Battle of Manila fought?"


def unsupported(*values: str) -> list[tuple[str, str]]:
    return [("unsupported_argument", value) for value in values]


@pytest.mark.parametrize(
    ("query", "new"),
    [
        ("Victor Da Silva birth date", "Victor"),
        ("when was the Battle of August fought", "August"),
        ("when was the Battle of Santa Cruz fought", "Santa Cruz"),
        ("Marco Da Silva birth date", None),
        ("Battle of Manila", None),
        ("Battle of Midway", None),  # two words in common, one of which is no name
        ("Erika Da Silva", None),  # the other name of the question
        ("when was the capital of Spain founded", None),
        ("when was the Battle of Manila's fought", None),
    ],
)
def test_a_search_for_another_name_than_the_phrase_had(query: str, new: str | None) -> None:
    expected = unsupported(new) if new else []
    assert found(DETECTOR, run(asked(MESSAGE, call("search", query=query)))) == expected


def test_names_are_only_new_once() -> None:
    read = call("list_people", "Victor is his cousin")
    made = call("search", query="Victor Da Silva birth date")
    assert found(DETECTOR, run(asked(MESSAGE, read, made))) == []


def test_words_in_which_several_names_stood_say_nothing() -> None:
    messages = "The flight to Oslo leaves.", "The flight to Rome leaves."
    made = call("note", text="The flight to Bonn leaves.")
    assert found(DETECTOR, run(asked(messages[0]), asked(messages[1], made))) == []
    assert found(DETECTOR, run(asked(messages[0], made))) == unsupported("Bonn")


def test_the_end_of_a_sentence_ends_the_words_but_an_initial_does_not() -> None:
    said = "Where is Gerald R. Ford Airport? We left from it. Peter came too."
    made = call("search", query="Owen R. Ford Airport, which we left from it. Susan came")
    assert found(DETECTOR, run(asked(said, made))) == unsupported("Owen")


def test_code_and_thoughts_may_name_what_they_like() -> None:
    text = "when was the Battle of August fought"
    assert found(DETECTOR, run(asked(MESSAGE, call("bash", command=text), call("think", thought=text)))) == []


def test_only_sums_of_figures_have_no_words() -> None:
    steps = call("calculate", "3", expression="158 + 141 + 75"), call("calculate", "3", expression="158 + 141 + 76")
    assert found(DETECTOR, run(asked("Add it up.", *steps))) == []


@pytest.mark.parametrize(
    ("answer", "is_wrong"),
    [
        ("You can cancel within the last 26 hours of it.", True),
        ("You can cancel within the last 24 hours of it.", False),
        ("You can cancel within the last 48 hours of it.", False),  # no misreading
        ("You can cancel within the last 3 hours of it.", False),
        ("You can cancel within 26 hours.", False),
    ],
)
def test_a_message_with_a_number_one_digit_off(answer: str, *, is_wrong: bool) -> None:
    read = call("get_policy", "Orders may be cancelled within the last 24 hours of it.")
    expected = [("contradicted_answer", answer)] if is_wrong else []
    assert found(DETECTOR, run(asked("May I cancel?", read, answer=answer))) == expected
    assert found(DETECTOR, run(asked("May I cancel within the last 24 hours of it?", answer=answer))) == []


def test_dates_that_go_on_are_no_misreading() -> None:
    read = call("get_flights", "There is a flight on May 24 to Oslo, 90 seats.")
    answer = "There is a flight on May 25 to Oslo, too."
    assert found(DETECTOR, run(asked("Fly me on 25 May.", read, answer=answer))) == []


def test_searches_weigh_little() -> None:
    def severity(tool: str) -> str:
        trajectory = run(asked(MESSAGE, call(tool, text="Victor Da Silva birth date")))
        return next(DETECTOR.findings(Course(trajectory))).severity

    assert (severity("search"), severity("send_email")) == ("LOW", "MEDIUM")

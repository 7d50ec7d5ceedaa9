"""What was handed over, against what was needed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.sessions.handoffs import HandoffFinding, particulars
from evaluation_assets_tests.core.sections.sessions.making import call, example, part, seen, session, turn


def handoff(*parts: dict, user: str = "Refund order 4411 of kim@example.com") -> HandoffFinding:
    return seen(session(turn(user, *parts), initial_task="")).handoffs[0]


def test_completeness_is_the_share_of_what_was_needed_that_was_given() -> None:
    needing = part("b", "ok", call("refund", order="4411", to="kim@example.com"))
    assert handoff(part("a", "Refund 4411 for kim@example.com."), needing).completeness == 1.0
    half = handoff(part("a", "Refund 4411."), needing)
    assert (half.completeness, half.missing) == (0.5, ("kim@example.com",))


def test_a_call_that_an_interaction_ends_with_hands_over_its_arguments() -> None:
    needing = part("b", "ok", call("refund", order="4411", to="kim@example.com"))
    delegating = call("delegate_to_b", task="Refund order 4411, kim@example.com.")
    assert handoff(part("a", None, delegating), needing).completeness == 1.0
    assert handoff(part("a", None, call("transfer_to_b")), needing).completeness == 0.0
    assert handoff(part("a", "Done, b.", call("look_up", order="4411")), needing).given == (), "it was not said to b"


def test_names_of_parameters_are_not_needed() -> None:
    assert handoff(part("a", "Do it."), part("b", "ok", call("refund", order_id_2="x"))).completeness is None


def test_what_the_receiver_found_itself_was_not_the_givers_to_give() -> None:
    found = handoff(part("a", "Look it up."), part("b", "It is RF-771.", call("find", '{"refund": "RF-771"}')))
    assert found.completeness is None


def test_what_the_giver_did_not_know_is_not_asked_of_it() -> None:
    parts = [part("a", "B, C, go on."), part("b", "C, go on."), part("c", "ok", call("refund", order="4411"))]
    assert seen(session(turn("Order 4411", *parts))).handoffs[1].completeness is None


def test_what_the_receiver_asks_back_for_was_needed() -> None:
    found = handoff(part("a", "Refund it."), part("b", "Could you please provide the order?"), part("a", "It is 4411."))
    assert (found.asked, found.missing) == (True, ("4411",))


def test_the_example_in_which_a_coordinator_forgets_the_details() -> None:
    first = seen(example("trip-lisbon")).handoffs[0]
    assert (first.asked, first.given) == (True, ())
    assert first.missing == ("2026-05-04", "c1234567")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("order #4411", {"4411"}),
        ("89.50 EUR", {"89.5"}),
        ("100.00", {"100"}),
        ("mail jo@example.com at https://example.com/a", {"jo@example.com", "https://example.com/a"}),
        ('the article "Desk lamp"', {"desk lamp"}),
        ("nothing in particular", set()),
    ],
)
def test_particulars_are_what_cannot_be_guessed(text: str, expected: set[str]) -> None:
    assert particulars(text) == expected


PLAIN = re.compile(
    r"https?://[^\s\"'<>)\]}]+"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?<![\w.])[A-Za-z]*[-_#/]?\d[\w-]*(?:[.,:/]\d+)*"
    r"|[\"“「]([^\"”」\n]{3,60})[\"”」]"
)
SAID = [
    "http://a.b/",
    "https://x)",
    "@",
    "jo@x.org",
    "#",
    "-",
    "4411",
    "89.50",
    '"',
    "“",
    "”",
    "「",
    "'",
    ".",
    " ",
    "\n",
    "RF",
    "to",
]


@given(said=st.lists(st.sampled_from(SAID) | st.text(max_size=3), max_size=20))
def test_particulars_are_what_one_pattern_finds_from_left_to_right(said: list[str]) -> None:
    text = "".join(said)
    values = {(found.group(1) or found.group()).strip(".,:;/#").casefold() for found in PLAIN.finditer(text)}
    trimmed = {re.sub(r"(?<=\d)\.0+$|(?<=\.\d)0+$|(?<=\.\d\d)0+$", "", value) for value in values if len(value) >= 2}
    assert particulars(text) == trimmed

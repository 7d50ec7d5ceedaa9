"""Repeated calls and messages, and ping-pong."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.sessions.repetition import alternations, repetitions
from evaluation_assets_tests.core.sections.sessions.making import call, part, session, speaking, turn

LONG = "Please go over the first sentence once more."


@given(st.lists(st.sampled_from("abc"), max_size=30))
def test_alternations_are_maximal_and_cover_every_change(names: list[str]) -> None:
    found = alternations(names)
    for start, end in found:
        stretch = names[start:end]
        assert len(stretch) >= 2
        assert all(one != other for one, other in pairwise(stretch))
        assert len(set(stretch)) == 2
        assert start == 0 or names[start - 1] != names[start + 1]
        assert end == len(names) or names[end] != names[end - 2]
    covered = {index for start, end in found for index in range(start, end - 1)}
    assert covered == {index for index, (one, other) in enumerate(pairwise(names)) if one != other}


@given(st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, max_size=12))
def test_every_repeated_call_is_in_exactly_one_repetition(queries: list[str]) -> None:
    trajectory = session(
        turn("go", *(part("a", f"part {n}", call("search", q=query)) for n, query in enumerate(queries)))
    )
    found = [each for each in repetitions(trajectory) if each.kind == "same_call"]
    again = {query: queries.count(query) for query in queries if queries.count(query) > 1}
    assert sorted(len(each.places) for each in found) == sorted(again.values())
    places = [place for each in found for place in each.places]
    assert len(places) == len(set(places)) == sum(again.values())


def kinds(*parts: dict) -> list[str]:
    return [each.kind for each in repetitions(session(turn("go", *parts)))]


def test_the_same_call_by_another_agent_is_duplicate_work() -> None:
    assert kinds(part("a", "x", call("search", q=1)), part("b", "y", call("search", q=1))) == ["duplicate_work"]


def test_a_repeat_after_a_failure_is_a_retry_and_no_loop() -> None:
    failed = call("search", error="Error: timeout", q=1)
    found = repetitions(session(turn("go", part("a", "x", failed, failed, call("search", q=1)))))
    assert [(each.kind, each.is_loop) for each in found] == [("retry", False)]


def test_the_order_of_arguments_makes_no_other_call() -> None:
    assert kinds(part("a", "x", call("s", q=1, n=2)), part("a", "y", call("s", n=2, q=1))) == ["same_call"]


def test_a_message_three_times_is_a_loop_and_short_ones_do_not_count() -> None:
    found = repetitions(session(*(turn(f"u{n}", part("a", LONG)) for n in range(3))))
    assert [(each.kind, each.is_loop) for each in found] == [("same_message", True)]
    assert repetitions(session(*(turn(f"u{n}", part("a", "Done.")) for n in range(3)))) == []


YOURS, MINE = part("a", "Finish the report."), part("b", "Somebody else should.")


def test_a_message_is_the_same_whatever_courtesies_are_around_it() -> None:
    said = "Your order has been cancelled just now."
    around = (said, f"Certainly! {said}", f"{said} Let me know if you need anything else.")
    found = repetitions(session(*(turn("go", part("a", message)) for message in around)))
    assert [each.places for each in found] == [(0, 1, 2)]
    polite = "Is there anything else I can help you with?"
    assert repetitions(session(*(turn("go", part("a", polite)) for _ in range(3)))) == []


def test_two_agents_that_alternate_three_times_without_a_result_play_ping_pong() -> None:
    assert kinds(YOURS, MINE, YOURS, MINE, YOURS, MINE) == ["ping_pong"]
    assert kinds(YOURS, MINE, YOURS, MINE, YOURS) == []
    assert kinds(YOURS, MINE, YOURS, MINE, part("c", "Finish the report."), MINE) == []


def test_a_result_between_them_is_no_ping_pong() -> None:
    assert kinds(YOURS, MINE, YOURS, part("b", "Somebody else should.", call("search")), YOURS, MINE) == []


def test_a_manager_who_says_little_and_gets_something_new_each_time_plays_no_ping_pong() -> None:
    frame = "You are here, this is the page, its menu has home, contact, imprint, help and a search field."
    news = [part("b", f"{frame} {number}1 {number}2 {number}3 {number}4 {number}5") for number in range(1, 6)]
    go_on = part("a", "Go on, please.")
    assert kinds(*(each for page in news for each in (go_on, page))) == []
    assert "ping_pong" in kinds(*(each for page in news[:1] * 4 for each in (go_on, page)))


def test_a_form_that_is_filled_in_field_by_field_is_no_ping_pong() -> None:
    page = "Here is the page. Length, width, height, weight and country are asked for."
    go_on = part("a", "Please go on with the form.")
    fields = [
        part("b", f"I typed '{each}' into '{each}'.\n\n{page}") for each in ("length", "width", "height", "weight")
    ]
    assert "ping_pong" not in kinds(*(each for field in fields for each in (go_on, field)))
    again = [part("b", f"I waited {seconds} seconds.\n\n{page}") for seconds in (5, 7, 9, 12)]
    assert "ping_pong" in kinds(*(each for waited in again for each in (go_on, waited)))
    heads = [part("b", f"Address: file:///{folder}\nTitle: Page\n\n{page}") for folder in ("x", "x/x", "x/x/x", "x/y")]
    assert "ping_pong" in kinds(*(each for shown in heads for each in (go_on, shown))), "an address is no action"


def test_a_ping_pong_begins_where_nothing_new_comes_any_more() -> None:
    before = [
        part("ab"[number % 2], f"{said} is what was found")
        for number, said in enumerate(("Gold", "Tin", "Lead", "Zinc"))
    ]
    found = repetitions(session(turn("go", *before, *[YOURS, MINE] * 3)))
    assert [each.places for each in found if each.kind == "ping_pong"] == [(4, 5, 6, 7, 8, 9)]


def test_two_agents_that_say_something_new_every_time_are_in_a_conversation() -> None:
    assert repetitions(speaking("a", "b", "a", "b", "a", "b")) == []


def test_the_same_call_with_another_result_is_none() -> None:
    first, second = (part("a", None, call("get_status", result, zone="up")) for result in ("19.4", "18.1"))
    assert repetitions(session(turn("How warm?", first), turn("And now?", second))) == []
    assert [each.kind for each in repetitions(session(turn("How warm?", first), turn("And now?", first)))] == [
        "same_call"
    ]

"""Failures and recoveries, ignored results, stalls, and the course they add up to."""

from typing import Any

import pytest

from evaluation_assets.core.sections.sessions.progress import Progress
from evaluation_assets_tests.core.sections.sessions.making import call, example, part, seen, session, turn

NEWS = '{"carrier": "Parcelforce", "pickup": "Thursday", "route": "M62", "zone": "north", "insured": "yes"}'


def progress(*parts: dict[str, Any]) -> Progress:
    return seen(session(turn("go", *parts))).progress


def thinking(thought: str, step: dict[str, Any]) -> dict[str, Any]:
    return {"thought": thought, **step}


FAILED = call("search", error="Error: timeout", q=1)


def test_a_failure_after_which_the_tool_works_is_a_recovery() -> None:
    found = progress(part("a", "x", FAILED, thinking("The search failed, so once more.", call("search", q=2))))
    assert [(error.tool, error.noticed, error.recovered_at) for error in found.errors] == [("search", True, 0)]
    assert (found.signal, found.awareness, found.correction) == ("recovery", 1.0, 1.0)


def test_a_failure_that_is_passed_over_stays_open() -> None:
    found = progress(part("a", "All is well, the parcel is on its way.", FAILED))
    assert [(error.noticed, error.recovered_at) for error in found.errors] == [(False, None)]
    assert (found.signal, found.awareness, found.correction) == ("regression", 0.0, None)


@pytest.mark.parametrize(
    ("last", "is_graceful"),
    [
        ("I was unable to complete the task: the search times out.", True),
        ("All is well, the parcel is on its way.", False),
    ],
)
def test_a_run_that_cannot_go_on_stops_gracefully_if_it_says_so(last: str, is_graceful: bool) -> None:
    assert progress(part("a", "Looking.", FAILED), part("b", last)).graceful_stop is is_graceful
    assert progress(part("a", "Looking.", FAILED, call("search", q=2)), part("b", last)).graceful_stop is None
    assert progress(part("a", last, call("search", q=2))).graceful_stop is None


def test_without_failures_there_is_no_awareness() -> None:
    found = progress(part("a", "x", call("search", q=1)))
    assert (found.signal, found.awareness, found.correction, found.efficiency) == ("optimal", None, None, 1.0)


def test_what_worked_and_then_fails_twice_in_a_row_is_a_regression() -> None:
    found = progress(part("a", "x", call("search", q=0), FAILED, call("search", error="Error: timeout", q=3)))
    assert (found.regressions, found.signal) == ((0,), "regression")
    assert progress(part("a", "x", call("search", q=0), FAILED)).regressions == ()


def test_a_result_of_which_nothing_is_taken_up_is_ignored() -> None:
    ignored = progress(part("a", "Done, all good.", call("label", NEWS)))
    assert [(each.tool, each.new_words) for each in ignored.ignored] == [("label", 10)]
    assert progress(part("a", "Parcelforce picks it up.", call("label", NEWS))).ignored == ()


@pytest.mark.parametrize("step", [call("str_replace_editor", NEWS), call("label", NEWS, known=NEWS * 2)])
def test_an_answer_to_an_effect_or_to_what_was_known_may_go_unmentioned(step: dict[str, Any]) -> None:
    assert progress(part("a", "Done, all good.", step)).ignored == ()


FACTS = '{"insurance": "no", "parcel": "XR1 Swift", "depot": "Harbour Lane", "driver": "Abel Nunes", "van": "QX"}'


@pytest.mark.parametrize(
    ("tool", "result", "said", "is_ignored"),
    [
        ("get_order", FACTS, "Insurance was not bought.", False),
        ("get_order", FACTS, "All good.", True),
        ("label", f"{NEWS}. So do it, go on with it", "So do it, go on then.", False),
        ("label", f"{NEWS}. So do it, go on with it", "Go on, so do it.", True),
    ],
)
def test_a_result_is_taken_up_by_known_words(tool: str, result: str, said: str, *, is_ignored: bool) -> None:
    asked = part("a", "So do it, go on with insurance.")
    assert bool(progress(asked, part("a", said, call(tool, result))).ignored) == is_ignored


def test_a_last_result_that_nobody_could_use_yet_is_not_ignored() -> None:
    assert progress(part("a", None, call("label", NEWS))).ignored == ()


def test_results_that_are_looked_through_for_the_right_one_are_not_ignored() -> None:
    others = call("label", "Zebra yellow quokka violet walrus indigo narwhal", id=1)
    assert progress(part("a", "Parcelforce picks it up.", others, call("label", NEWS, id=2))).ignored == ()


def test_the_words_around_a_value_that_code_printed_need_not_be_taken_up() -> None:
    printed = call("python", "exitcode: 0 (execution succeeded) Code output: Skidmore", code="print('Skidmore')")
    assert progress(part("a", "It is Skidmore.", printed)).ignored == ()


def test_a_failure_whose_output_is_used_was_noticed() -> None:
    printed = (
        "Traceback: no rows. Before it: the festival in Antwerp opens with Beethoven under conductor Haitink. " * 4
    )
    failed = call("python", error=printed)
    for said, is_noticed in (("The festival in Antwerp opens with Beethoven.", True), ("The festival is on.", False)):
        (error,) = progress(part("a", None, failed), part("a", said)).errors
        assert error.noticed is is_noticed


def test_a_few_new_words_in_a_long_text_are_no_stall() -> None:
    page = " ".join(f"word{letter}{other}" for letter in "abcdefgh" for other in "stuvwxyz")
    new = ("one two three four five", "violet yellow indigo orange purple", "zebra quokka walrus narwhal badger")
    parts = [part("a", page), *(part("a", f"{page} {words}") for words in new)]
    assert progress(*parts).stalls == ()


def test_an_eighth_of_new_words_is_no_stall() -> None:
    page = " ".join(f"word{letter}{other}" for letter in "abcd" for other in "stuvw")
    new = ("one two three", "red blue pink", "elk owl ox")
    parts = [part("a", page), *(part("a", f"{page} {words}") for words in new)]
    assert progress(*parts).stalls == ()


def test_three_interactions_without_a_new_word_are_a_stall() -> None:
    words = "over and over again the same words"
    found = progress(part("a", f"{words} first"), *(part(agent, words) for agent in ("b", "a", "b")))
    assert found.stalls == ((1, 2, 3),)
    assert progress(part("a", words), part("b", words), part("a", words)).stalls == ()


@pytest.mark.parametrize(
    ("session_id", "signal"),
    [
        ("refund-12345", "optimal"),
        ("incident-checkout", "recovery"),
        ("report-heat-pumps", "circular"),
        ("order-lamps", "circular"),
    ],
)
def test_the_course_of_the_examples(session_id: str, signal: str) -> None:
    assert seen(example(session_id)).progress.signal == signal

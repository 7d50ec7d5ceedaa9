"""Values that are passed on: the same calls as by looking for each value, without the work of it."""

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.constraints.passed_values import passed
from evaluation_assets.core.sections.constraints.seen_calls import SeenCall
from evaluation_assets.core.sections.constraints.settings import PassedValues
from evaluation_assets.core.sections.constraints.value_index import ValueIndex


def call_of(index: int, given_text: str, result: str | None) -> SeenCall:
    return SeenCall(index, "tool", "", None, given_text, result, failed=False)


def one_by_one(values: Sequence[str], min_length: int, text: str) -> int | None:
    """Look for each value in the order in which they were filed."""
    long = [number for number, value in enumerate(values) if len(value) >= min_length]
    return next((values.index(values[number]) for number in long if values[number] in text), None)


@given(st.lists(st.text("ab ", max_size=6)), st.integers(1, 4), st.text("ab ", max_size=20))
def test_the_first_value_in_a_text_is_found(values: list[str], min_length: int, text: str) -> None:
    index = ValueIndex(min_length)
    for number, value in enumerate(values):
        index.add(value, call_of(number, "", None))
    found = index.origin_in(text)
    assert (None if found is None else found.index) == one_by_one(values, min_length, text)


def steps_of(count: int) -> int:
    """The lines of Python that are executed for a trajectory in which nothing is passed on; a loop counts each time."""
    calls = [call_of(number, f"given {number:09}", f"token: secret-{number:09}") for number in range(count)]
    steps = 0

    def count_steps(_frame: FrameType, _event: str, _argument: object) -> Callable[..., Any]:
        nonlocal steps
        steps += 1
        return count_steps

    before = sys.gettrace()
    sys.settrace(count_steps)
    try:
        assert list(passed(PassedValues(matches="token"), calls)) == []
    finally:
        sys.settrace(before)
    return steps


def test_the_work_grows_with_the_calls_and_not_with_their_square() -> None:
    assert steps_of(800) < 2.5 * steps_of(400)

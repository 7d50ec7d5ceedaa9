"""Orders of calls, compared with their definitions on all pairs of calls."""

from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.constraints import ordering

pairs = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=12)


def flags(calls: list[tuple[bool, bool]]) -> tuple[list[bool], list[bool]]:
    return [first for first, _ in calls], [second for _, second in calls]


@given(pairs)
def test_an_earlier_call_is_one_at_a_smaller_index(calls: list[tuple[bool, bool]]) -> None:
    own, others = flags(calls)
    preceded = [i for i, is_own in enumerate(own) if is_own and any(others[j] for j in range(len(others)) if j < i)]
    assert ordering.with_earlier(own, others) == preceded
    assert ordering.without_earlier(own, others) == sorted(set(ordering.made(own)) - set(preceded))


@given(pairs)
def test_a_later_call_is_one_at_a_larger_index(calls: list[tuple[bool, bool]]) -> None:
    own, others = flags(calls)
    expected = [i for i, is_own in enumerate(own) if is_own and not any(others[j] for j in range(i + 1, len(others)))]
    assert ordering.without_later(own, others) == expected


@given(pairs)
def test_time_reversed_before_is_after(calls: list[tuple[bool, bool]]) -> None:
    own, others = flags(calls)
    mirrored = ordering.without_earlier(own[::-1], others[::-1])
    assert ordering.without_later(own, others) == sorted(len(calls) - 1 - index for index in mirrored)


@given(pairs, st.booleans())
def test_a_first_other_call_lifts_every_violation(calls: list[tuple[bool, bool]], is_both: bool) -> None:
    own, others = flags([(is_both, True), *calls])
    assert ordering.without_earlier(own, others) == ([0] if is_both else [])


@given(st.lists(st.booleans(), max_size=12), st.integers(0, 5))
def test_a_limit_leaves_the_first_calls(own: list[bool], limit: int) -> None:
    beyond = ordering.beyond(own, limit)
    assert len(beyond) == max(sum(own) - limit, 0)
    assert all(own[index] and sum(own[:index]) >= limit for index in beyond)

"""Calls that brought nothing, and the share of those that did."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.sessions.tool_chain import ToolChain
from evaluation_assets_tests.core.sections.sessions.making import call, example, part, seen, session, turn

NEWS = '{"carrier": "Parcelforce", "pickup": "Thursday", "route": "M62", "zone": "north", "insured": "yes"}'
FAILED = call("search", error="Error: timeout", q=1)
WORKED = call("search", "two results", q=1)


def chain(*parts: dict[str, Any]) -> ToolChain:
    return seen(session(turn("go", *parts))).tool_chain


def wasted(*parts: dict[str, Any]) -> list[tuple[int, int, str]]:
    return [(each.interaction.order, each.step, each.why) for each in chain(*parts).wasted]


def test_without_calls_there_is_no_share() -> None:
    assert (chain(part("a", "x")).calls, chain(part("a", "x")).contributed) == (0, None)


def test_a_result_that_nobody_used_is_wasted() -> None:
    assert wasted(part("a", "Done, all good.", call("label", NEWS))) == [(0, 0, "ignored_result")]


@pytest.mark.parametrize("other", ["a", "b"])
def test_the_same_call_with_the_same_result_is_wasted_whoever_makes_it(other: str) -> None:
    assert wasted(part("a", "x", WORKED), part(other, "y", WORKED)) == [(1, 0, "repeated_call")]


def test_the_same_call_with_another_result_brought_something() -> None:
    assert wasted(part("a", "x", WORKED, call("search", "three results", q=1))) == []


def test_the_same_call_after_the_same_error_is_wasted_and_the_first_failure_is_not() -> None:
    assert wasted(part("a", "x", FAILED, FAILED)) == [(0, 1, "unchanged_retry")]


@pytest.mark.parametrize(
    "second", [call("search", error="Error: timeout", q=2), call("search", error="Error: denied", q=1), WORKED]
)
def test_a_retry_that_changed_or_that_ended_otherwise_is_not_wasted(second: dict[str, Any]) -> None:
    assert wasted(part("a", "x", FAILED, second)) == []


def test_the_share_of_an_agent_is_over_its_own_calls() -> None:
    found = chain(part("a", "x", WORKED), part("b", "y", WORKED, FAILED))
    assert (found.of("a").contributed, found.of("b").contributed) == (1.0, 0.5)
    assert found.contributed == pytest.approx(2 / 3)
    assert found.of("nobody").contributed is None


calls = st.sampled_from([FAILED, WORKED, call("search", "else", q=1), call("label", NEWS), call("label", NEWS, to="x")])
parts = st.lists(st.builds(lambda agent, steps: part(agent, "x", *steps), st.sampled_from("ab"), st.lists(calls, max_size=4)), min_size=1, max_size=5)  # fmt: skip  # noqa: E501


@given(parts)
def test_calls_are_wasted_once_and_agents_add_up_to_the_session(listed: list[dict[str, Any]]) -> None:
    found = chain(*listed)
    places = [(each.interaction.order, each.step) for each in found.wasted]
    assert places == sorted(set(places))
    assert found.calls == sum(len(each["agent_steps"]) for each in listed)
    assert [found.calls, len(found.wasted)] == [
        sum(own) for own in zip(*((found.of(agent).calls, len(found.of(agent).wasted)) for agent in "ab"), strict=True)
    ]
    assert found.contributed is None or 0 <= found.contributed <= 1


def test_the_example_with_every_issue() -> None:
    found = seen(example("order-lamps")).tool_chain
    assert [(each.interaction.agent_id, each.tool, each.why) for each in found.wasted] == [
        ("shipping_agent", "get_stock", "repeated_call"),
        ("shipping_agent", "create_label", "ignored_result"),
        ("stock_agent", "get_stock", "repeated_call"),
        ("sales_agent", "send_email", "unchanged_retry"),
    ]
    assert found.contributed == pytest.approx(5 / 9)

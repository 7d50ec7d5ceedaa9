"""The hand-off graph and the roll-ups."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.sessions.flow import flow_of
from evaluation_assets.core.sections.sessions.interactions import is_session
from evaluation_assets_tests.core.sections.sessions.making import call, part, session, speaking, turn

NAMES = st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=20)


@given(NAMES)
def test_every_change_of_agent_is_one_edge_of_the_graph(names: list[str]) -> None:
    flow = flow_of(speaking(*names))
    changes = [(one, other) for one, other in pairwise(names) if one != other]
    assert [handoff.agents for handoff in flow.handoffs] == changes
    assert sum(flow.edges.values()) == len(changes)
    assert {agent for edge in flow.edges for agent in edge} <= set(names)
    assert [agent.agent_id for agent in flow.agents] == list(dict.fromkeys(names))
    assert all(source != target for source, target in flow.edges)


@given(NAMES)
def test_whoever_is_not_last_hands_over_as_often_as_it_is_handed_to(names: list[str]) -> None:
    """A session is one path through the graph: at every agent, comings and goings differ by the ends of the path."""
    flow = flow_of(speaking(*names))
    for name in set(names):
        out = sum(count for (source, _), count in flow.edges.items() if source == name)
        into = sum(count for (_, target), count in flow.edges.items() if target == name)
        assert out - into == (name == names[0]) - (name == names[-1])


def test_the_users_message_between_turns_is_no_handoff() -> None:
    assert flow_of(session(turn("one", part("a", "x")), turn("two", part("b", "y")))).handoffs == ()


def test_agents_that_never_acted_are_named() -> None:
    assert flow_of(session(turn("go", part("a", "x")), agents=[{"id": "a"}, {"id": "idle"}])).unreached == ("idle",)


def test_latency_and_cost_are_sums_of_what_is_known_and_say_how_much_that_is() -> None:
    flow = flow_of(session(turn("go", part("a", "x", latency_ms=100), part("b", "y"), part("a", "z", latency_ms=50))))
    assert (flow.latency_ms.value, flow.latency_ms.n_known, flow.latency_ms.n_total) == (150, 2, 3)
    assert [(agent.agent_id, agent.latency_ms.value) for agent in flow.agents] == [("a", 150), ("b", None)]
    assert (flow.cost_usd.value, flow.cost_usd.n_known) == (None, 0)


def test_a_recorded_total_cost_stands() -> None:
    assert flow_of(session(turn("go", part("a", "x")), total_cost=0.25)).cost_usd.value == 0.25


def test_latency_of_tool_calls_is_summed_apart() -> None:
    step = call("search")
    step["tool_call"]["latency_ms"] = 85
    flow = flow_of(session(turn("go", part("a", "x", step, latency_ms=520))))
    assert (flow.latency_ms.value, flow.tool_latency_ms.value) == (520, 85)


@pytest.mark.parametrize(("agents", "turns", "expected"), [(["a"], 1, False), (["a", "b"], 1, True), (["a"], 2, True)])
def test_a_session_has_several_agents_or_several_user_turns(agents: list[str], turns: int, expected: bool) -> None:
    trajectory = session(*(turn(f"go {n}", *(part(agent, "x") for agent in agents)) for n in range(turns)))
    assert is_session(trajectory) is expected

"""Who decided the failure."""

import asyncio
from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.sessions.attribution import (
    Attribution,
    attribute,
    last_agent,
    most_frequent_speaker,
    random_agent,
)
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.sections.sessions.making import (
    analysed,
    call,
    example,
    part,
    read,
    seen,
    session,
    speaking,
    turn,
)
from evaluation_assets_tests.third_party import data


def attributed(trajectory: Trajectory, **soundness: float) -> Attribution:
    own = seen(trajectory)
    return attribute(
        trajectory,
        issues=own.issues,
        progress=own.progress,
        ungrounded=own.ungrounded,
        repeated=own.repeated,
        handed_over=list(own.handoffs.values()),
        soundness={name.replace("_", "/"): score for name, score in soundness.items()},
    )


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=12))
def test_probabilities_sum_to_one_over_agents_and_over_steps(names: list[str]) -> None:
    found = attributed(speaking(*names))
    assert fsum(found.agents.values()) == pytest.approx(1)
    assert fsum(suspect.probability for suspect in found.suspects) == pytest.approx(1)
    assert set(found.agents) == set(names)


def test_without_evidence_all_steps_are_alike() -> None:
    assert attributed(speaking("a", "b", "a")).agents == {"a": pytest.approx(2 / 3), "b": pytest.approx(1 / 3)}


def test_a_failure_left_open_points_at_its_step() -> None:
    failed = call("search", error="Error: timeout", q=1)
    found = attributed(session(turn("go", part("a", "x"), part("b", "y", failed))))
    assert found.agent == "b"
    likeliest = max(found.suspects, key=lambda suspect: suspect.probability)
    assert (likeliest.interaction.agent_id, likeliest.step) == ("b", 0)
    assert likeliest.evidence == ("open_error",)


def test_a_panel_that_doubts_an_interaction_outweighs_the_rest() -> None:
    found = attributed(speaking("a", "b", "c"), turn_0_interaction_2=0.0, turn_0_interaction_0=0.9)
    assert found.agent == "c"
    assert found.agents["c"] > 0.5


def test_the_example_with_every_issue() -> None:
    found = attributed(example("order-lamps"))
    assert found.agent == "stock_agent"
    assert {evidence for suspect in found.suspects for evidence in suspect.evidence} >= {
        "unauthorized_tool",
        "hallucinated_parameter",
        "missing_parameter",
        "open_error",
        "ignored_result",
        "loop",
        "missing_context",
        "refusal",
    }


def test_baselines() -> None:
    trajectory = speaking("a", "b", "b", "c")
    assert most_frequent_speaker(speaking("a", "b", "a")) == {"a": 1.0}
    assert last_agent(trajectory) == {"c": 1.0}
    assert random_agent(trajectory) == {name: pytest.approx(1 / 3) for name in "abc"}


@pytest.mark.slow
def test_every_who_and_when_session_has_an_attribution() -> None:
    paths = sorted(data("who-and-when").rglob("*.json"))
    assert len(paths) == 92
    for path in paths:
        (trajectory,) = read(path)
        found = asyncio.run(analysed(trajectory)).attribution
        assert found is not None
        assert fsum(found.agents.values()) == pytest.approx(1)
        assert found.steps
        assert set(found.baselines) == {"most_frequent_speaker", "last_agent", "random"}
        assert trajectory.labels["mistake_agent"] in found.agents

"""The decisive step of a failed session."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.sections.sessions.analysis_rows import analysis_row
from evaluation_assets.core.sections.sessions.decisive import TRAITS, decisive_step, decisive_weights, traits_of_steps
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.sections.sessions.making import analysed, call, part, session, turn
from evaluation_assets_tests.third_party import data


def chat(*said: tuple[str, str], success: bool | None = None) -> Trajectory:
    """Agents who talk to each other about one request."""
    return session(turn("go", *(part(agent, words) for agent, words in said)), success=success)


SAID = st.lists(
    st.tuples(st.sampled_from(["Ann", "Ben", "Cy"]), st.text("ab 1.9\n", max_size=200).map("x{}".format)),
    min_size=1,
    max_size=12,
)


@given(SAID)
def test_probabilities_are_shares_of_a_step_and_an_agent_that_exist(said: list[tuple[str, str]]) -> None:
    run = chat(*said)
    steps = sum(1 for _ in run.steps)
    assert traits_of_steps(run).shape == (steps, len(TRAITS))
    found = decisive_step(run)
    has_several = len({agent for agent, _ in said}) > 1
    if not has_several or steps > decisive_weights().most_steps:
        assert found is None
    elif found is not None:
        assert found.agent_id in {agent for agent, _ in said}
        assert 0 < found.probability <= 1
        assert found.probability <= found.agent_probability + 1e-9 or found.step_agent_id != found.agent_id
        assert found.step < len(run.turns[found.turn_index].interactions[found.interaction].steps)


def test_every_trait_has_a_weight_and_the_weights_beat_constants() -> None:
    fitted = decisive_weights()
    assert set(fitted.weights) == set(TRAITS)
    assert all(fitted.accuracy[what] > fitted.constant_accuracy[what] for what in ("agent", "step"))


def test_a_failed_call_with_figures_is_more_suspicious_than_thanks() -> None:
    figures = {"tool_call": call("run", error="syntax error")["tool_call"], "thought": None}
    run = session(
        turn(
            "How far is it?",
            part("Planner", "Let us begin with the distances, one after the other, and then add them up."),
            part("Coder", "The first leg has 1204 km and the second 880 km, so I compute 1204 + 880.", figures),
            part("Checker", "Thanks."),
        )
    )
    found = decisive_step(run)
    assert found is not None
    assert found.agent_id == found.step_agent_id == "Coder"


@pytest.mark.parametrize(
    "run",
    [
        session(
            turn("go", part("Lead", None, {"thought": "Ben shall look."}, {"action": "look"}), part("Ben", "Done."))
        ),
        session(turn("go", part("Ann", "I start.")), turn("and?", part("Ben", "I go on."))),
        chat(("Ann", "I start."), ("Ann", "I go on.")),
        chat(*[("Ann", "one more"), ("Ben", "and one")] * 6),
    ],
    ids=["orchestrated", "two requests", "one agent", "long"],
)
def test_nothing_is_said_of_sessions_unlike_those_it_was_fitted_on(run: Trajectory) -> None:
    assert decisive_step(run) is None


def test_only_failed_sessions_have_a_decisive_step_and_the_table_has_it() -> None:
    said = (("Ann", "I think it was in 1911, on page 14."), ("Ben", "So the answer is 1911."))
    failed, done = chat(*said, success=False), chat(*said, success=True)
    row = analysis_row("d", failed, "panel", asyncio.run(analysed(failed)))
    assert row["decisive_agent"] in ("Ann", "Ben")
    assert 0 < row["decisive_step_probability"] <= 1
    assert (row["decisive_turn"], row["decisive_step"]) == (0, 0)
    row = analysis_row("d", done, "panel", asyncio.run(analysed(done)))
    assert {row[name] for name in row if name.startswith("decisive")} == {None}


@pytest.mark.slow
def test_the_weights_are_those_that_the_benchmark_fits() -> None:
    """They hold on sessions that were left out, and say nothing of orchestrated ones."""
    folder = data("who-and-when").parent
    command = [sys.executable, "-m", "benchmarks.decisive_steps", str(folder)]
    root = Path(__file__).parents[4]
    told = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    assert "orchestrated, 29 sessions; the shipped weights speak of 0" in told
    accuracy = decisive_weights().accuracy
    assert f"agent {accuracy['agent']:.3f}  step {accuracy['step']:.3f}" in told
    assert accuracy["agent"] >= 0.6
    assert accuracy["step"] >= 0.35

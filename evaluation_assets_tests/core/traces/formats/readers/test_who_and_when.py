"""Histories of speakers as trajectories, and the mistakes people found in them."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import Rejection, Sample
from evaluation_assets.core.traces.formats.readers.who_and_when import detect
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, check, loaded, read, trajectories
from evaluation_assets_tests.third_party import data

FIXTURE = FIXTURES / "who_and_when"


def mistake(trajectory: Trajectory) -> tuple[str | None, int | None]:
    """Who made the mistake that people found, and the number of the step it was made in."""
    index, steps = trajectory.labels.get("mistake_step"), trajectory.extra.get("history_steps", [])
    found = steps[index] if isinstance(index, int) and 0 <= index < len(steps) else None
    return trajectory.labels.get("mistake_agent"), found


@pytest.fixture
def captain() -> Trajectory:
    return trajectories(FIXTURE / "captain.json")[0]


@pytest.fixture
def orchestrator() -> Trajectory:
    return trajectories(FIXTURE / "orchestrator.json")[0]


def speaking(run: Trajectory) -> list[str]:
    return [interaction.agent_id for turn in run.turns for interaction in turn.interactions]


def test_everything_in_a_history_is_represented() -> None:
    unmapped = UnmappedFields()
    for run in trajectories(FIXTURE, unmapped=unmapped):
        check(run)
    assert unmapped.table() == []


def test_the_terminal_gives_the_result_of_the_code_it_answers(captain: Trajectory) -> None:
    assert [(step.call.name, captain.piece(step.call.raw)) for step in captain.calls if step.call] == [
        ("python", "print(len([1, 2, 3, 5, 7]))"),
        ("bash", "cat primes.txt"),
    ]
    assert [step.result and step.result.error for step in captain.calls] == [None, "exit code 1"]
    assert [captain.piece(step.message) for step in captain.calls] == [
        "I count them.\n\nPlease run it.",
        "Let us check.",
    ]
    assert speaking(captain) == ["Math_Expert", "Checker", "Math_Expert", "Checker"]


def test_code_that_was_handed_on_is_run_where_the_terminal_ran_it(orchestrator: Trajectory) -> None:
    (call,) = orchestrator.calls
    assert orchestrator.text.index("Please run the code.") < call.start
    assert call.result is not None and call.result.error == "exit code 1"
    assert speaking(orchestrator)[-2:] == ["Assistant", "Orchestrator"]


def test_an_orchestrator_is_one_agent_that_thinks_and_hands_over(orchestrator: Trajectory) -> None:
    assert [agent.id for agent in orchestrator.agents] == ["Orchestrator", "WebSurfer", "Assistant"]
    assert [orchestrator.piece(step.thought) for step in orchestrator.steps if step.thought] == [
        "Initial plan: look it up.",
        "Next speaker WebSurfer",
    ]
    assert '<message agent="Orchestrator" to="WebSurfer">\nPlease search for the letter.' in orchestrator.text
    assert orchestrator.turns[0].user_message == "Who wrote the letter?"


def test_a_label_finds_its_agent_and_its_step(captain: Trajectory, orchestrator: Trajectory) -> None:
    for run, agent, words in ((captain, "Math_Expert", "I count them."), (orchestrator, "WebSurfer", "I typed")):
        who, number = mistake(run)
        assert number is not None
        assert who == agent
        assert run.piece(list(run.steps)[number].message).startswith(words)
        assert run.labels["mistake_reason"] not in run.text


def test_answers_and_outcomes(captain: Trajectory, orchestrator: Trajectory) -> None:
    assert (captain.task_id, captain.final_answer, captain.reference_answer) == ("primes", "There are 5.", "4")
    assert (orchestrator.final_answer, orchestrator.reference_answer) == ("Bob", "Ada")
    assert captain.success is orchestrator.success is False
    assert captain.agents[0].description == "You know numbers."


def test_a_bare_history_is_read_without_labels(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_bytes(orjson.dumps({"history": loaded("who_and_when")["orchestrator.json"]["history"]}))
    (run,) = trajectories(file)
    assert (run.format, run.task, run.success, run.labels) == ("who_and_when", "Who wrote the letter?", None, {})


def test_an_answer_that_never_came_is_flagged(tmp_path: Path) -> None:
    document = loaded("who_and_when")["orchestrator.json"]
    file = tmp_path / "run.json"
    file.write_bytes(orjson.dumps({**document, "history": document["history"][:5]}))
    (run,) = trajectories(file)
    assert (run.final_answer, run.flags) == (None, ("no_answer",))


@pytest.mark.parametrize(
    "record",
    [
        {"history": []},
        {"history": [{"role": "user", "content": "Hello"}]},
        {"history": [{"role": "tool", "name": "search", "content": "found"}]},
        {"history": [{"role": "human", "content": "Hello"}], "trajectory": []},
    ],
)
def test_other_histories_are_not_taken(record: dict[str, Any]) -> None:
    assert not detect(Sample(records=(record,)))


def test_another_file_of_the_drop_is_one_rejection(tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text('{"note": 1}\n{"note": 2}\n')
    (tmp_path / "run.json").write_bytes((FIXTURE / "captain.json").read_bytes())
    notes, run = read(tmp_path / "notes.jsonl", tmp_path / "run.json")
    assert isinstance(notes, Rejection) and notes.reason == "not_this_format"
    assert isinstance(run, Trajectory)


def test_every_labelled_step_of_recorded_failures_is_found() -> None:
    unmapped = UnmappedFields()
    runs = trajectories(data("who-and-when"), unmapped=unmapped)
    assert (len(runs), unmapped.table()) == (92, [])
    at_fault = 0
    for run in runs:
        check(run)
        who, number = mistake(run)
        assert number is not None
        starts = [interaction for turn in run.turns for interaction in turn.interactions for _ in interaction.steps]
        at_fault += starts[number].agent_id == who
    assert at_fault == 90
    assert sum(len(run.calls) for run in runs) == 123


@pytest.mark.parametrize("roles", [["customer"], ["customer", "bot"], ["human", "ai"]])
def test_a_chat_with_a_customer_is_no_history_of_agents(roles: list[str]) -> None:
    assert not detect(Sample(({"history": [{"role": role, "content": "Hello."} for role in roles]},)))

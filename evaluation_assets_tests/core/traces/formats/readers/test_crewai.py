"""Outputs of crews of CrewAI 1.15."""

from pathlib import Path

import orjson

from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, trajectories

CREW = FIXTURES / "crewai" / "crew.json"


def test_a_task_of_a_crew_is_a_turn_of_its_agent_with_parsed_and_written_calls() -> None:
    (run,) = trajectories(CREW)
    assert [interaction.agent_id for turn in run.turns for interaction in turn.interactions] == ["Desk", "Booker"]
    assert [turn.user_message for turn in run.turns] == [
        "Current Task: Find a room at noon.",
        "Current Task: Book it.",
    ]
    assert calls_and_errors(run) == [
        ('{"hour":12}', None),
        ('{"hour":13}', "Error executing tool: closed at 13"),
        ('{"room":"A"}', None),
    ]
    assert (run.task, run.final_answer) == ("Find a room at noon.", "Room A is booked.")
    assert run.usage == Usage(input_tokens=80, cached_tokens=10, output_tokens=20)
    assert [agent.description for agent in run.agents] == ["You are Desk.", None]
    assert summary_of(CREW).trust == "complete"


def test_tasks_of_a_crew_without_messages_are_partial_if_more_was_asked_of_the_model(tmp_path: Path) -> None:
    """As CrewAI wrote them before it kept messages."""
    crew = orjson.loads(CREW.read_bytes())
    for task in crew["tasks_output"]:
        del task["messages"]
    path = written(tmp_path, crew)
    (run,) = trajectories(path)
    assert [turn.interactions[0].response for turn in run.turns] == ["Room A is free.", "Room A is booked."]
    assert summary_of(path).trust == "partial"

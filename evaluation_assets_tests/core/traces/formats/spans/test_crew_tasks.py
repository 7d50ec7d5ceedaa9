"""Spans of CrewAI 1.15 as openinference-instrumentation-crewai 1.1 writes them; `benchmarks/frameworks` makes such."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets_tests.core.traces.formats.reading import calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.spans.making import otlp, span

SCOPE = "openinference.instrumentation.crewai"
GIVEN = {
    "agent": {"role": "desk", "goal": "You are desk.", "backstory": "Answers.", "verbose": False, "max_iter": 25},
    "context": "",
    "tools": ["name='look' description='Look.' func=<function look at 0x7f>"],
}


def crew(*, has_failed: bool) -> list[dict[str, Any]]:
    """The spans of a crew of one agent. The agent's input lacks its task, which is in its output if it succeeded."""
    done = {"description": "Where is 17?", "name": "Where is 17?", "expected_output": "A place.", "raw": "In Oslo."}
    output = {"raw": "In Oslo.", "pydantic": None, "tasks_output": [done]}
    agent = {
        "openinference.span.kind": "AGENT",
        "input.value": json.dumps(GIVEN),
        "task_key": "k",
        "task_id": "1",
        "crew_key": "c",
        "crew_id": "2",
        "graph.node.id": "desk",
    }
    tool = {
        "openinference.span.kind": "TOOL",
        "tool.name": "look",
        "input.value": '{"order": 17}',
        "output.value": "Oslo",
    }
    kickoff = {"openinference.span.kind": "CHAIN", "crew_key": "c", "crew_id": "2", "crew_inputs": ""}
    if not has_failed:
        agent["output.value"], kickoff["output.value"] = json.dumps(done | {"agent": "desk"}), json.dumps(output)
    return [
        span("Crew_2.kickoff", kickoff, start=1, end=9, scope=SCOPE),
        span("desk._execute_core", agent, start=2, end=8, parent="Crew_2.kickoff", scope=SCOPE),
        span("look.run", tool, start=3, parent="desk._execute_core", scope=SCOPE),
    ]


def test_an_agent_of_a_crew_is_asked_its_task(tmp_path: Path) -> None:
    (run,) = trajectories(otlp(tmp_path / "spans.jsonl", *crew(has_failed=False)))
    check(run)
    assert (run.task, run.final_answer) == ("Where is 17?", "In Oslo.")
    assert [agent.id for agent in run.agents] == ["desk"]
    assert calls_of(run) == [("look", {"order": 17}, "Oslo")]


@pytest.mark.parametrize("unwanted", ["backstory", "<function look"])
def test_the_definition_of_an_agent_is_not_its_task(tmp_path: Path, unwanted: str) -> None:
    (run,) = trajectories(otlp(tmp_path / "spans.jsonl", *crew(has_failed=True)))
    check(run)
    assert unwanted not in run.text
    assert calls_of(run) == [("look", {"order": 17}, "Oslo")]

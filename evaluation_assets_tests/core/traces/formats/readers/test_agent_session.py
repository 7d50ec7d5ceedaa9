"""Sessions of several agents, and simple traces, as trajectories."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import Rejection, Sample
from evaluation_assets.core.traces.formats.readers.agent_session import detect
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, check, loaded, read, trajectories

FIXTURE = FIXTURES / "agent_session" / "sessions.json"


def read_saved(folder: Path, document: Any) -> list[Trajectory | Rejection]:
    (folder / "sessions.json").write_bytes(orjson.dumps(document))
    return read(folder / "sessions.json")


@pytest.fixture
def session() -> Trajectory:
    found = read(FIXTURE)[0]
    assert isinstance(found, Trajectory)
    return found


def test_everything_in_a_session_and_in_a_trace_is_represented() -> None:
    unmapped = UnmappedFields()
    for run in trajectories(FIXTURE, unmapped=unmapped):
        check(run)
    assert unmapped.table() == []


def test_a_session_in_which_nobody_does_anything_is_rejected(tmp_path: Path) -> None:
    sessions = loaded("agent_session")["sessions.json"]
    *_, empty = read_saved(tmp_path, [*sessions, {"id": "empty", "agents": [], "turns": [{"agent_interactions": []}]}])
    assert isinstance(empty, Rejection) and empty.reason == "no_trajectory_text"


def test_agents_come_with_their_tools(session: Trajectory) -> None:
    planner, executor, auditor = session.agents
    assert (planner.role, planner.model, planner.tools) == ("reasoner", "gpt-4o", ())
    assert executor.tools is not None
    assert [(tool.name, tool.parameters) for tool in executor.tools] == [
        ("db_query", {"table": "string", "id": "string"}),
        ("send_email", {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}),
    ]
    assert (auditor.id, auditor.tools) == ("auditor", None)


def test_turns_and_interactions_are_kept_with_what_they_took(session: Trajectory) -> None:
    assert [(turn.user_message, turn.knowledge) for turn in session.turns] == [
        ("Please refund order 12345.", "Refunds are possible for 30 days."),
        ("Is it valid?", "It is."),
    ]
    assert [
        (part.agent_id, part.response, part.latency_ms) for turn in session.turns for part in turn.interactions
    ] == [
        ("planner", "Executor, look the order up.", 520),
        ("executor", "The refund is booked.", 900),
        ("executor", "Yes.", None),
        ("auditor", "Agreed.", None),
    ]
    assert (session.success, session.usage, session.duration_s) == (True, Usage(cost_usd=0.0125), 1.42)


def test_calls_stand_with_their_own_results(session: Trajectory) -> None:
    called = [
        (step.call.name, session.arguments(step.call), session.piece(step.result.content), step.result.error)
        for step in session.calls
        if step.call and step.result
    ]
    assert called == [
        ("db_query", {"table": "orders", "id": "12345"}, '{\n  "status": "paid",\n  "days": 12\n}', None),
        ("send_email", {"to": "customer"}, "mailbox is full", "mailbox is full"),
        ("db_query", {"table": "rules"}, "30 days", None),
    ]
    assert session.calls[0].latency_ms == 85


@pytest.mark.parametrize("called", [{}, {"result": "done"}, {"error": "Error: no"}])
@pytest.mark.parametrize("observed", [{}, {"observation": "It is done"}])
def test_a_call_keeps_its_latency_whatever_came_back(tmp_path: Path, called: Any, observed: Any) -> None:
    step = {"tool_call": {"tool_name": "send", "parameters": {}, "latency_ms": 85, **called}, **observed}
    part = {"agent_id": "a", "agent_steps": [step]}
    (run,) = read_saved(tmp_path, [{"turns": [{"user_message": "go", "agent_interactions": [part]}]}])
    assert isinstance(run, Trajectory)
    assert [call.latency_ms for call in run.calls] == [85]


def test_a_tool_that_ran_after_the_steps_brings_its_latency(tmp_path: Path) -> None:
    for executed in ({"tool_name": "send", "latency_ms": 85}, {"tool_name": "send", "latency_ms": 85, "result": "x"}):
        steps = [{"tool_call": {"tool_name": "send", "parameters": {}}}]
        part = {"agent_id": "a", "agent_steps": steps, "tool_execution_result": executed}
        (run,) = read_saved(tmp_path, [{"turns": [{"user_message": "go", "agent_interactions": [part]}]}])
        assert isinstance(run, Trajectory)
        assert [call.latency_ms for call in run.calls] == [85]


def test_the_text_is_in_the_order_of_events(session: Trajectory) -> None:
    places = [
        session.text.index(words)
        for words in (
            "Please refund",
            "First the order",
            "look the order up",
            "in the orders",
            "mailbox",
            "booked",
            "30",
        )
    ]
    assert places == sorted(places)


def test_recorded_analyses_stay_out_of_the_text(session: Trajectory) -> None:
    assert session.labels == {"analyses": [{"overall_score": 0.82}]}
    assert "0.82" not in session.text


def test_a_trace_is_a_session_of_one_turn_and_one_agent() -> None:
    trace = read(FIXTURE)[1]
    assert isinstance(trace, Trajectory)
    assert (trace.task, trace.final_answer) == ("How high is the Zugspitze?", "2962 metres.")
    assert [trace.piece(step.thought) for step in trace.steps if step.thought] == ["I look it up."]


def test_an_object_may_hold_the_list_of_sessions(tmp_path: Path) -> None:
    sessions = loaded("agent_session")["sessions.json"]
    items = read_saved(tmp_path, {"name": "refunds", "sessions": sessions})
    assert [type(item) for item in items] == [Trajectory, Trajectory]


def test_a_tool_run_after_the_steps_is_a_call_of_its_own_where_no_step_called_it(tmp_path: Path) -> None:
    interaction = {
        "agent_id": "a",
        "agent_steps": [{"thought": "Now."}],
        "tool_execution_result": {"tool_name": "send", "parameters": {"to": "b"}, "error": "refused"},
        "agent_response": "Sent.",
    }
    (run,) = read_saved(tmp_path, [{"turns": [{"user_message": "Send", "agent_interactions": [interaction]}]}])
    assert isinstance(run, Trajectory)
    (call,) = run.calls
    assert call.call is not None and (call.call.name, call.result and call.result.error) == ("send", "refused")
    assert run.final_answer == "Sent."


def test_a_negative_latency_is_unknown(tmp_path: Path) -> None:
    interaction = {"agent_id": "a", "agent_response": "Hello", "latency_ms": -3}
    (run,) = read_saved(tmp_path, [{"turns": [{"agent_interactions": [interaction]}], "total_latency_ms": -3}])
    assert isinstance(run, Trajectory)
    assert (run.turns[0].interactions[0].latency_ms, run.duration_s) == (None, None)


@pytest.mark.parametrize(
    "record", [{"turns": [{"role": "user"}]}, {"turns": []}, {"agent_steps": []}, {"sessions": [{"id": 1}]}]
)
def test_other_records_are_not_taken(record: dict[str, Any]) -> None:
    assert not detect(Sample(records=(record,)))

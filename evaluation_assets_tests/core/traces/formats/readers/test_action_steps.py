"""Runs as lists of actions, and of events that say their kind."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import JsonObject
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, read, trajectories

RUNS = FIXTURES / "action_steps" / "runs.jsonl"
DATA: list[JsonObject] = [orjson.loads(line) for line in RUNS.read_bytes().splitlines()]
EVENTS: list[JsonObject] = DATA[3]["events"]
STEP = {"action": "look_up", "action_input": {"order": 7}, "observation": "paid"}
CALLS = [("look_up", {"order": 7}, "paid")]


def test_actions_have_their_arguments_results_and_thoughts() -> None:
    seven, eight, nine, ten = trajectories(RUNS)
    assert calls_of(seven)[:1] == CALLS
    assert calls_and_errors(seven)[1] == ("order=7", "read-only")
    assert (seven.task, seven.final_answer, seven.success, seven.reference_answer) == (
        "Is order 7 paid?", "It is paid.", True, "paid",
    )  # fmt: skip
    assert "I look it up." in seven.text and "That is all." in seven.text
    assert calls_of(eight) == [("look_up", {"order": 8}, "unpaid")]
    assert (eight.final_answer, eight.reference_answer) == ("It is not.", "no")
    assert calls_of(nine) == [("cancel", {"order": 9}, None)]
    assert calls_and_errors(ten) == [('{"order":10}', "no such order")]
    assert (ten.task, ten.final_answer, ten.agents[0].model) == ("Is order 10 paid?", "There is none.", "model-b")


def test_events_without_words_are_unmapped() -> None:
    unmapped = UnmappedFields()
    trajectories(RUNS, unmapped=unmapped)
    assert unmapped.counts["events[] (run_finished)"] == 1
    assert summary_of(RUNS).trust == "partial"  # the call of Vertex AI's record has no result


@pytest.mark.parametrize(
    "step",
    [
        {"tool": "look_up", "input": {"order": 7}, "output": "paid", "error": None},
        {"tool_name": "look_up", "tool_args": {"order": 7}, "result": "paid", "success": True},
        {"action": {"name": "look_up", "arguments": {"order": 7}}, "observation": "paid"},
        {"action": {"tool": "look_up", "order": 7}, "result": {"status": "paid"}},
        {"thought": "I look.", "tool_calls": [{"name": "look_up", "arguments": {"order": 7}, "result": "paid"}]},
    ],
)
def test_actions_are_read_under_their_usual_names(tmp_path: Path, step: JsonObject) -> None:
    (run,) = trajectories(written(tmp_path, {"goal": "Is order 7 paid?", "steps": [step], "answer": "Yes."}))
    ((name, arguments, shown),) = calls_of(run)
    assert (name, arguments, run.task, run.final_answer) == ("look_up", {"order": 7}, "Is order 7 paid?", "Yes.")
    assert shown is not None and "paid" in shown
    assert summary_of(tmp_path / "drop.jsonl").trust == "complete"


@pytest.mark.parametrize(
    "record",
    [
        {"model": "model-a", "runs": [{"task": "a", "steps": [STEP]}, {"task": "b", "steps": [STEP]}]},
        {"task": {"input": "a"}, "history": {"episodes": [STEP]}},
        {"trajectory": {"turns": EVENTS}},
    ],
)
def test_runs_may_stand_deeper_in_a_record(tmp_path: Path, record: JsonObject) -> None:
    runs = trajectories(written(tmp_path, record))
    assert [len(run.calls) for run in runs] == [1] * len(runs)
    assert runs[0].task in ("a", "Is order 10 paid?")


def test_steps_with_the_names_of_swe_agent_have_their_task(tmp_path: Path) -> None:
    step = {"thought": "I look.", "action": "look_up(7)", "observation": "paid"}
    (run,) = trajectories(written(tmp_path, {"task_id": "t-7", "question": "Is it paid?", "trajectory": [step]}))
    assert (run.format, run.task_id, run.task, len(run.calls)) == ("action_steps", "t-7", "Is it paid?", 1)


def test_events_on_lines_are_runs_by_their_sessions(tmp_path: Path) -> None:
    lines = [{**event, "session_id": name} for event in EVENTS for name in ("s-1", "s-2")]
    runs = trajectories(written(tmp_path, *lines))
    assert [run.extra["session_id"] for run in runs] == ["s-1", "s-2"]
    assert [calls_and_errors(run) for run in runs] == [[('{"order":10}', "no such order")]] * 2


@pytest.mark.parametrize(
    "record",
    [
        {"steps": [{"name": "Check out", "output": "done"}, {"name": "Test", "output": "passed"}]},
        {"steps": [{"action": "Click on login", "expected": "a form"}]},
        {"task": "a", "expected_tools": [{"name": "look_up", "arguments": {}}]},
        {"task": "a", "tools_used": [{"name": "f", "parameters": {"type": "object", "properties": {}}}]},
        {"events": [{"type": "click", "name": "a", "content": "b"}, {"type": "tool_call", "name": "x"}] * 2},
    ],
)
def test_other_lists_are_no_runs(tmp_path: Path, record: Any) -> None:
    with pytest.raises(UnreadableDrop, match="is in no supported format"):
        read(written(tmp_path, record))


@pytest.mark.parametrize(
    "turns",
    [
        [{"speaker": "user", "text": "Paid?"}, {"speaker": "agent", "text": "Yes."}],
        [{"sender": "user", "message": "Paid?"}, {"sender": "bot", "message": "Yes."}],
        [{"type": "user_message", "content": "Paid?"}, {"type": "assistant_message", "content": "Yes."}],
        [{"user": "Paid?", "assistant": "Yes."}],
        [{"role": "user", "content": "Paid?"}, {"role": "agent", "content": "Yes."}],
    ],
)
def test_what_user_and_agent_said_is_read_under_any_name(tmp_path: Path, turns: list[JsonObject]) -> None:
    (run,) = trajectories(path := written(tmp_path, {"conversation": turns, "success": True}))
    assert (run.task, run.final_answer, run.success, len(run.agents)) == ("Paid?", "Yes.", True, 1)
    assert summary_of(path).trust == "complete"


def test_turns_with_a_question_and_an_answer_have_the_calls_between_them(tmp_path: Path) -> None:
    call = {"name": "look_up", "arguments": {"order": 7}, "result": "paid"}
    turns = [{"user_message": "Paid?", "agent_response": "Yes.", "tool_calls": [call]}, {"user": "8?", "bot": "No."}]
    (run,) = trajectories(written(tmp_path, {"turns": turns}))
    assert (calls_of(run), [turn.user_message for turn in run.turns]) == (CALLS, ["Paid?", "8?"])


def test_calls_may_name_their_tool_and_results_their_output(tmp_path: Path) -> None:
    call = {"id": "c1", "tool": "look_up", "args": {"order": 7}}
    messages = [
        {"role": "user", "content": "Paid?"},
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "id": "c1", "output": "paid"},
    ]
    (run,) = trajectories(written(tmp_path, {"messages": messages}))
    assert calls_of(run) == CALLS


def test_tools_of_a_message_are_calls_with_results(tmp_path: Path) -> None:
    called = {"name": "look_up", "input_parameters": {"order": 7}, "output": "paid"}
    turns = [{"role": "user", "content": "Paid?"}, {"role": "assistant", "content": "Yes.", "tools_called": [called]}]
    (run,) = trajectories(written(tmp_path, {"scenario": "s", "turns": turns}))
    assert (calls_of(run), run.final_answer) == (CALLS, "Yes.")
    used = orjson.dumps([{"tool": "look_up", "toolInput": {"order": 7}, "toolOutput": "paid"}]).decode()
    about = {"chatId": "a", "sessionId": "a"}
    flowise = [
        {"id": "1", "role": "userMessage", "content": "Paid?", **about},
        {"id": "2", "role": "apiMessage", "content": "Yes.", "usedTools": used, **about},
    ]
    (same,) = trajectories(written(tmp_path, *flowise))
    assert (calls_of(same), same.task, same.final_answer) == (CALLS, "Paid?", "Yes.")

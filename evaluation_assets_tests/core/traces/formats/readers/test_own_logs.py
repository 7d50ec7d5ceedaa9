"""Runs in the forms of teams' own programs: logs of events, SQL, retrieved contexts, transcripts, proxies."""

from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, read, trajectories

ASKED = {"type": "user_message", "text": "Is order 7 paid?"}
SAID = {"type": "assistant_message", "text": "Yes."}


def the_run(folder: Path, *records: Any) -> Trajectory:
    """The only run of these records, of which all is read."""
    (run,) = trajectories(path := written(folder, *records))
    assert summary_of(path).trust == "complete"
    return run


@pytest.mark.parametrize("name", ["toolOutput", "tool_output", "tool_result", "toolResponse"])
def test_results_of_events_have_many_names(tmp_path: Path, name: str) -> None:
    nothing = {"toolName": None, "toolInput": None, name: None, "isError": None}
    call = {**nothing, "type": "TOOL_CALL", "toolName": "look_up", "toolInput": {"order": 7}}
    result = {**nothing, "type": "TOOL_RESULT", "toolName": "look_up", name: {"total": 92.4}, "isError": False}
    run = the_run(tmp_path, {"events": [{**nothing, **ASKED}, call, result, {**nothing, **SAID}]})
    ((_, arguments, shown),) = calls_of(run)
    assert arguments == {"order": 7} and shown is not None and "92.4" in shown


@pytest.mark.parametrize("kind", ["tool_call", "tool"])
def test_an_event_may_be_a_call_with_its_result(tmp_path: Path, kind: str) -> None:
    call = {"type": kind, "tool": "look_up", "args": {"order": 7}}
    failed, made = {**call, "error": "timeout"}, {**call, "result": "paid"}
    run = the_run(tmp_path, {"goal": "Is order 7 paid?", "events": [failed, made, SAID]})
    assert [shown for _, _, shown in calls_of(run)] == ["timeout", "paid"]
    assert [error for _, error in calls_and_errors(run)] == ["timeout", None]
    assert (run.task, run.final_answer) == ("Is order 7 paid?", "Yes.")


def test_messages_of_events_name_the_agent_and_their_start_the_task(tmp_path: Path) -> None:
    events = [
        {"event": "run_started", "goal": "Is order 7 paid?"},
        {"event": "message", "agent": "planner", "content": "Please look."},
        {"event": "tool", "agent": "clerk", "tool": "look_up", "input": {"order": 7}, "output": "paid"},
        {"event": "message", "agent": "writer", "content": "Yes."},
    ]
    run = the_run(tmp_path, *({**event, "run": "a"} for event in events))
    assert (run.task, run.final_answer) == ("Is order 7 paid?", "Yes.")
    assert [agent.id for agent in run.agents] == ["planner", "clerk", "writer"]


FUNCTION = {"name": "look_up", "arguments": '{"order": 7}'}
STREAM: list[JsonObject] = [
    {"type": "agent_run_start", "sessionId": "s-1", "model": "model-a", "runOptions": {"input": "Is order 7 paid?"}},
    {"type": "user_message", "content": [{"type": "text", "text": "Is order 7 paid?"}]},
    {"type": "plan_update", "sessionId": "s-1", "steps": [{"content": "look", "done": False}]},
    {"type": "system", "level": "info", "message": "There is a plan."},
    {"type": "assistant_streaming_thinking_message", "content": "I lo"},
    {"type": "assistant_thinking_message", "content": "I look."},
    {"type": "assistant_message", "content": "", "toolCalls": [{"id": "c", "type": "function", "function": FUNCTION}]},
    {"type": "tool_call", "toolCallId": "c", "name": "look_up", "arguments": {"order": 7}},
    {"type": "tool_result", "toolCallId": "c", "name": "look_up", "content": {"paid": True}, "elapsedMs": 4},
    {"type": "assistant_streaming_message", "content": "Ye"},
    {"type": "assistant_message", "content": "Yes."},
    {"type": "plan_finish", "sessionId": "report"},
]


@pytest.mark.parametrize("are_lines", [True, False])
def test_streams_of_agent_tars_are_runs(tmp_path: Path, are_lines: bool) -> None:
    run = the_run(tmp_path, *(STREAM if are_lines else [{"events": STREAM}]))
    ((name, arguments, shown),) = calls_of(run)
    assert (name, arguments) == ("look_up", {"order": 7}) and shown is not None and "paid" in shown
    assert (run.task, run.final_answer, run.agents[0].model) == ("Is order 7 paid?", "Yes.", "model-a")
    assert run.agents[0].description is None
    assert "I look." in run.text and "I lo\n" not in run.text and "There is a plan" not in run.text


def test_words_for_what_is_said_have_many_forms(tmp_path: Path) -> None:
    logs = [
        {"type": "user_input", "message": "Is order 7 paid?"},
        {"type": "agent_thinking", "message": "I look."},
        {"type": "tool_execution", "tool_name": "look_up", "parameters": {"order": 7}, "result": "paid"},
        {"type": "agent_response", "message": "Yes."},
    ]
    run = the_run(tmp_path, {"logs": logs})
    assert (run.task, calls_of(run), run.final_answer) == (
        "Is order 7 paid?",
        [("look_up", {"order": 7}, "paid")],
        "Yes.",
    )
    assert [run.piece(step.thought) for step in run.steps if step.thought] == ["I look."]


def test_transcripts_of_calls_have_functions_among_the_words(tmp_path: Path) -> None:
    transcript = [
        {"speaker": "caller", "utterance": "Is order 7 paid?"},
        {"speaker": "agent", "function_call": {"name": "look_up", "arguments": {"order": 7}}},
        {"speaker": "tool", "function_result": {"paid": True}},
        {"speaker": "agent", "utterance": "Yes."},
    ]
    run = the_run(tmp_path, {"call_id": "CA1", "transcript": transcript})
    assert [name for name, _, _ in calls_of(run)] == ["look_up"]
    assert (run.task, run.final_answer) == ("Is order 7 paid?", "Yes.")


@pytest.mark.parametrize(
    "turns",
    [
        [{"from": "customer", "text": "Paid?", "at": "10:00"}, {"from": "bot", "text": "Yes.", "at": "10:01"}],
        [{"who": "customer", "message": "Paid?"}, {"who": "bot", "message": "Yes."}],
        [{"author": "user", "body": "Paid?"}, {"author": "human_agent", "body": "Yes."}],
        [{"user": "Paid?"}, {"bot": "Yes."}],
        [{"role": "caller", "text": "Paid?"}, {"role": "assistant", "text": "Yes."}],
    ],
)
def test_transcripts_name_who_speaks_in_many_ways(tmp_path: Path, turns: list[JsonObject]) -> None:
    run = the_run(tmp_path, {"dialog": turns})
    assert (run.task, run.final_answer) == ("Paid?", "Yes.")
    assert [agent.id for agent in run.agents] == [turns[1].get("author", "agent")]


def test_queries_of_sql_are_calls(tmp_path: Path) -> None:
    steps = [{"sql": "SELECT paid", "error": "no such table"}, {"sql": "SELECT paid FROM orders", "rows": [["yes"]]}]
    run = the_run(tmp_path, {"question": "Is order 7 paid?", "steps": steps, "answer": "Yes."})
    assert [name for name, _, _ in calls_of(run)] == ["sql", "sql"]
    assert [error for _, error in calls_and_errors(run)] == ["no such table", None]


@pytest.mark.parametrize(
    "record",
    [
        {"user_input": "Paid?", "retrieved_contexts": ["Order 7 was paid."], "response": "Yes.", "reference": "yes"},
        {"question": "Paid?", "contexts": '["Order 7 was paid."]', "answer": "Yes.", "ground_truth": "yes"},
        {"query": "Paid?", "retrieved_documents": [{"id": 1, "text": "Order 7 was paid."}], "generated_answer": "Yes."},
    ],
)
def test_what_was_retrieved_for_an_answer_is_the_result_of_a_call(tmp_path: Path, record: JsonObject) -> None:
    run = the_run(tmp_path, record)
    ((name, arguments, shown),) = calls_of(run)
    assert (name, arguments, run.task, run.final_answer) == ("retrieval", {"query": "Paid?"}, "Paid?", "Yes.")
    assert shown is not None and "Order 7 was paid." in shown
    assert run.reference_answer == ("yes" if len(record) > 3 else None)


@pytest.mark.parametrize(
    "record",
    [
        {"id": 5, "question": "Paid?", "context": "Order 7 was paid.", "answers": {"text": ["yes"]}},
        {"question": "Paid?", "context": ["Order 7 was paid."], "answer": "yes"},
    ],
)
def test_questions_of_data_sets_are_no_runs(tmp_path: Path, record: JsonObject) -> None:
    with pytest.raises(UnreadableDrop):
        read(written(tmp_path, record))


def test_one_call_may_stand_beside_the_question_and_the_answer(tmp_path: Path) -> None:
    row = {"query": "Paid?", "tool": "look_up", "tool_input": {"order": 7}, "tool_output": "paid", "answer": "Yes."}
    runs = trajectories(written(tmp_path, row, {**row, "query": "Sent?"}))
    assert [(run.task, calls_of(run)) for run in runs] == [
        ("Paid?", [("look_up", {"order": 7}, "paid")]), ("Sent?", [("look_up", {"order": 7}, "paid")]),
    ]  # fmt: skip


def test_results_may_be_found_by_the_ids_of_their_calls(tmp_path: Path) -> None:
    calls = [{"id": "a", "fn": "look_up", "kwargs": {"order": 7}}, {"id": "b", "fn": "look_up", "kwargs": {"order": 8}}]
    record = {"query": "Paid?", "calls": calls, "results": {"b": "unpaid", "a": "paid"}, "reply": "One is."}
    assert [shown for _, _, shown in calls_of(the_run(tmp_path, record))] == ["paid", "unpaid"]


def test_actions_on_pages_have_their_targets_and_the_last_one_the_answer(tmp_path: Path) -> None:
    step = {"action": "click", "target": "#order-7", "observation": "paid"}
    record = {"intent": "Is order 7 paid?", "trajectory": [step, {"action": "stop [paid]"}], "reward": 1}
    run = the_run(tmp_path, record)
    assert calls_of(run) == [("click", {"target": "#order-7"}, "paid")]
    assert (run.task, run.final_answer) == ("Is order 7 paid?", "paid")


def test_logs_of_a_proxy_have_short_names_and_responses_without_roles(tmp_path: Path) -> None:
    asked = {"role": "user", "content": "Is order 7 paid?"}
    call = {"type": "tool_use", "id": "t", "name": "look_up", "input": {"order": 7}}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "paid"}]}
    used = {"input_tokens": 50, "output_tokens": 20}
    requests = [[asked], [asked, {"role": "assistant", "content": [call]}, result]]
    answers = [{"content": [call], "usage": used}, {"content": [{"type": "text", "text": "Yes."}], "usage": used}]
    lines = [{"req": {"messages": one}, "resp": other} for one, other in zip(requests, answers, strict=True)]
    run = the_run(tmp_path, *lines)
    assert calls_of(run) == [("look_up", {"order": 7}, "paid")]
    assert run.final_answer == "Yes."
    assert run.usage is not None and (run.usage.input_tokens, run.usage.output_tokens) == (100, 40)

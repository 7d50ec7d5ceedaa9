"""Runs as lists of actions, and of events that say their kind."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import Rejection, UnreadableDrop
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage
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


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"exit_code": 1, "result": "no such order"}, "no such order"),
        ({"returncode": 1, "output": "", "stderr": "no such file"}, "no such file"),
        ({"exit_code": 0, "result": "paid", "stderr": "a warning"}, None),
        ({"status": "failed", "result": "no such order"}, "no such order"),
        ({"status": "success", "result": "paid", "error": ""}, None),
        ({"exception": "ValueError('x')"}, "ValueError('x')"),
        ({"status": "error", "error_message": "no such order"}, "no such order"),
        ({"isError": True, "toolOutput": "no such order"}, "no such order"),
    ],
)
def test_calls_fail_in_many_styles(tmp_path: Path, said: JsonObject, error: str | None) -> None:
    (run,) = trajectories(
        written(tmp_path, {"task": "Is it paid?", "steps": [{"tool": "look_up", "args": {}, **said}]})
    )
    assert [each for _, each in calls_and_errors(run)] == [error]


def test_names_may_be_in_camel_case(tmp_path: Path) -> None:
    calls = [{"toolName": "look_up", "toolInput": {"order": 7}, "toolOutput": "paid", "isError": False}]
    about = {
        "taskId": "t-1",
        "userQuery": "Is it paid?",
        "toolCalls": calls,
        "finalAnswer": "It is.",
        "isSuccess": True,
    }
    (run,) = trajectories(written(tmp_path, {**about, "tokenUsage": {"promptTokens": 9, "completionTokens": 2}}))
    assert (run.task_id, run.task, run.final_answer, run.success) == ("t-1", "Is it paid?", "It is.", True)
    assert calls_of(run) == CALLS and run.usage == Usage(input_tokens=9, output_tokens=2)


@pytest.mark.parametrize(
    "beside",
    [
        {"tool_results": [{"id": "2", "output": "unpaid"}, {"id": "1", "output": "paid"}]},
        {"observations": ["paid", "unpaid"]},
        {"tool_results": [{"content": "paid"}, {"content": "unpaid"}]},
    ],
)
def test_results_may_stand_beside_the_calls_of_a_step(tmp_path: Path, beside: JsonObject) -> None:
    calls = [{"id": str(order - 6), "name": "look_up", "args": {"order": order}} for order in (7, 8)]
    (run,) = trajectories(written(tmp_path, {"task": "Are they?", "steps": [{"tool_calls": calls, **beside}]}))
    assert calls_of(run) == [*CALLS, ("look_up", {"order": 8}, "unpaid")]


def test_each_attempt_of_a_call_is_one(tmp_path: Path) -> None:
    step = {"tool": "look_up", "args": {"order": 7}, "attempts": [{"error": "timeout"}, {"result": "paid"}]}
    (run,) = trajectories(written(tmp_path, {"task": "Is it paid?", "steps": [step]}))
    assert [error for _, error in calls_and_errors(run)] == ["timeout", None]


@pytest.mark.parametrize(
    "steps", [[{**STEP, "step": 1}, {**STEP, "step": 3}], [STEP, {"thought": "?", "observation": "of no call"}]]
)
def test_steps_left_out_and_results_of_no_call_are_missing(tmp_path: Path, steps: list[JsonObject]) -> None:
    assert summary_of(written(tmp_path, {"task": "Is it paid?", "steps": steps})).trust == "partial"


@pytest.mark.parametrize(
    "steps",
    [
        [{"name": "extract", "input": {"table": "a"}, "output": {"rows": 3}}],
        [{"app": "mail", "action": "send", "params": {"to": "a"}, "output": {"id": 1}}],
        [{"action": "open page", "expected": "page", "result": "ok"}],
        [{"name": "main", "args": ["x"], "result": 0}],
    ],
)
def test_steps_of_any_program_are_no_run(tmp_path: Path, steps: list[JsonObject]) -> None:
    with pytest.raises(UnreadableDrop):
        read(written(tmp_path, {"title": "x", "steps": steps}))


SAID: list[JsonObject] = [
    {"type": "user", "text": "Is order 7 paid?"},
    {"type": "tool_call", "name": "look_up", "args": {"order": 7}},
    {"type": "tool_call", "name": "mail", "args": {"to": "a"}},
    {"type": "tool_result", "name": "mail", "output": "sent"},
    {"type": "tool_result", "name": "look_up", "output": "paid", "exit_code": 1},
    {"type": "assistant", "text": "It is."},
]


def test_results_of_events_belong_to_the_calls_of_their_tools(tmp_path: Path) -> None:
    (run,) = trajectories(written(tmp_path, {"events": SAID}))
    assert calls_of(run) == [*CALLS, ("mail", {"to": "a"}, "sent")]
    assert [error for _, error in calls_and_errors(run)] == ["paid", None]


@pytest.mark.parametrize("name", ["session", "session_id", "conversationId"])
@pytest.mark.parametrize("ids", [("a", "b"), (1, 2)])
def test_events_of_each_session_are_a_run(tmp_path: Path, name: str, ids: tuple[Any, Any]) -> None:
    lines = [orjson.dumps({**event, name: session}) for event in SAID for session in ids]
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(lines))
    assert [len(calls_of(run)) for run in trajectories(tmp_path / "log.jsonl")] == [2, 2]


@pytest.mark.parametrize(
    "event",
    [
        {"type": "browser_action", "name": "click", "args": {"x": 2}},
        {"type": "summary", "total_tool_calls": 4},
        {"type": "llm", "usage": {"input_tokens": 5, "output_tokens": 1}},
    ],
)
def test_calls_counts_and_tokens_of_unknown_events_are_missing(tmp_path: Path, event: JsonObject) -> None:
    assert summary_of(written(tmp_path, {"events": SAID})).trust == "complete"
    assert summary_of(written(tmp_path, {"events": [*SAID, event]})).trust == "partial"


def test_events_name_their_agents(tmp_path: Path) -> None:
    named = [{**event, "agent": "writer" if event["type"] == "assistant" else "planner"} for event in SAID]
    (run,) = trajectories(written(tmp_path, {"events": named}))
    assert [agent.id for agent in run.agents] == ["planner", "writer"]


@pytest.mark.parametrize("about", [{"level": "INFO"}, {"severity": "warn"}, {"levelname": "ERROR"}])
def test_functions_in_the_log_of_a_program_are_no_run(tmp_path: Path, about: JsonObject) -> None:
    line = {"request": "GET /orders/7", "trace": [{"function": "load", "args": {"order": 7}, "result": "paid"}]}
    assert len(trajectories(written(tmp_path, line))) == 1
    with pytest.raises(UnreadableDrop):
        read(written(tmp_path, {**about, **line}))


ROWS = FIXTURES / "action_steps" / "rows.jsonl"


def test_rows_with_the_run_of_each_are_runs() -> None:
    seven, eight = trajectories(ROWS)
    assert (seven.id, seven.task, seven.final_answer, seven.success) == ("a", "Is order 7 paid?", "It is.", True)
    assert calls_of(seven) == [("look_up", {"order": 7}, "open"), ("look_up", {"order": 7}, "paid")]
    assert "I look once more." in seven.text
    assert calls_of(eight) == [("look_up", {"order": 8}, "unpaid")]
    assert summary_of(ROWS).trust == "complete"


def test_rows_are_read_by_their_numbers(tmp_path: Path) -> None:
    row: JsonObject = {"run_id": "a", "task": "Pay.", "tool": "pay", "args": {}, "result": "paid"}
    numbered = [{**row, "step": step, "args": {"order": step}} for step in (2, 1, 3)]
    (run,) = trajectories(written(tmp_path, *numbered))
    assert [arguments for _, arguments, _ in calls_of(run)] == [{"order": 1}, {"order": 2}, {"order": 3}]
    assert summary_of(written(tmp_path, *numbered[:1], *numbered[2:])).trust == "complete"
    assert summary_of(written(tmp_path, *numbered[1:])).trust == "partial"


def test_names_of_columns_may_be_in_camel_case(tmp_path: Path) -> None:
    row: JsonObject = {"runId": "a", "question": "Pay.", "toolName": "pay", "toolInput": "{}", "toolOutput": "paid"}
    last = {
        "runId": "a",
        "question": "Pay.",
        "toolName": None,
        "toolInput": None,
        "toolOutput": None,
        "answer": "Done.",
    }
    (run,) = trajectories(written(tmp_path, {**last, "stepIndex": 2}, {**row, "stepIndex": 1}))
    assert (run.task, run.final_answer, calls_of(run)) == ("Pay.", "Done.", [("pay", {}, "paid")])


def test_rows_without_a_task_are_a_run_and_one_between_them_is_missed(tmp_path: Path) -> None:
    row: JsonObject = {"run_id": "a", "action": "pay", "args": {}, "result": "paid"}
    (run,) = trajectories(path := written(tmp_path, {**row, "step": 1}, {**row, "step": 3}))
    assert len(run.calls) == 2
    assert summary_of(path).trust == "partial"


@pytest.mark.parametrize("success", [True, False])
def test_success_of_all_rows_is_of_no_run_and_no_step(tmp_path: Path, success: bool) -> None:
    row = {"run_id": "a", "tool": "pay", "args": {}, "result": "paid", "success": success}
    unmapped = UnmappedFields()
    (run,) = trajectories(written(tmp_path, {**row, "step": 1}, {**row, "step": 2}), unmapped=unmapped)
    assert run.success is None and not any(step.has_failed for step in run.steps)
    assert any("success" in path for path, _ in unmapped.table())


def test_events_of_users_are_no_runs(tmp_path: Path) -> None:
    clicks = [{"session_id": "s", "action": "click", "input": {"x": 1}, "page": "/"} for _ in range(3)]
    with pytest.raises(UnreadableDrop):
        read(written(tmp_path, *clicks))


def test_exchanges_with_calls_are_a_conversation_in_one_document_and_runs_on_lines(tmp_path: Path) -> None:
    """Chat histories of CAMEL's OWL are such a document."""
    call = {"tool_name": "look_up", "args": {"order": 7}, "result": "paid", "tool_call_id": "1"}
    exchanges: list[JsonObject] = [
        {"user": "Is order 7 paid?", "assistant": "It is.", "tool_calls": [call]},
        {"user": "Thanks.", "assistant": "Gladly.", "tool_calls": []},
    ]
    path = tmp_path / "history.json"
    path.write_bytes(orjson.dumps(exchanges, option=orjson.OPT_INDENT_2))
    (run,) = trajectories(path)
    assert [turn.user_message for turn in run.turns] == ["Is order 7 paid?", "Thanks."]
    assert calls_of(run) == [("look_up", {"order": 7}, "paid")]
    assert "It is." in run.text and "Gladly." in run.text
    first, second = trajectories(written(tmp_path, *exchanges))
    assert (first.final_answer, second.final_answer) == ("It is.", "Gladly.")
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize("name", ["iterations", "rounds", "agent_steps"])
def test_steps_may_be_iterations(tmp_path: Path, name: str) -> None:
    step = {"iteration": 1, "llm_output": "I look.", **STEP}
    (run,) = trajectories(written(tmp_path, {"task": "Pay.", name: [step]}))
    assert calls_of(run) == CALLS and "I look." in run.text


def test_results_stand_beside_the_calls_of_a_run(tmp_path: Path) -> None:
    call = {"name": "look_up", "arguments": {"order": 7}}
    record = {"query": "Is it paid?", "response": "It is.", "tool_calls": [call], "tool_results": ["paid"]}
    path = written(tmp_path, record)
    (run,) = trajectories(path)
    assert calls_of(run) == CALLS
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize("ids", [("c1", "c2"), (None, None)])
@pytest.mark.parametrize("has_own_events", [True, False])
def test_calls_of_a_models_answer_are_made_once(
    tmp_path: Path, ids: tuple[str | None, ...], *, has_own_events: bool
) -> None:
    calls = [{"id": name, "name": "look_up", "arguments": {"order": 7}} for name in ids]
    answer = {"event": "llm_response", "content": "I look.", "tool_calls": calls, "input_tokens": 10}
    lines: list[JsonObject] = [{"event": "user_input", "content": "Is it paid?"}, {"event": "llm_request"}, answer]
    for call, shown in zip(calls, ("no reply", "paid"), strict=True):
        result = {"event": "tool_result", "tool_call_id": call["id"], "content": shown}
        lines += [*([{"event": "tool_call", **call}] if has_own_events else []), result]
    lines += [{"event": "llm_response", "content": "Yes.", "input_tokens": 20}]
    path = written(tmp_path, *[{**line, "run_id": "r-1"} for line in lines])
    (run,) = trajectories(path)
    assert [(name, shown) for name, _, shown in calls_of(run)] == [("look_up", "no reply"), ("look_up", "paid")]
    assert (run.final_answer, run.piece(run.calls[0].message)) == ("Yes.", "I look.")
    assert run.usage == Usage(input_tokens=30)
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize(
    ("name", "key", "what"),
    [("dialogue", "speaker", "utterance"), ("utterances", "speaker", "text"), ("turns", "role", "utterance")],
)
def test_utterances_are_messages(tmp_path: Path, name: str, key: str, what: str) -> None:
    said = [{key: "user", what: "Is it paid?"}, {key: "assistant", what: "Yes."}]
    (run,) = trajectories(path := written(tmp_path, {"id": "d-1", name: said}))
    assert (run.task, run.final_answer, summary_of(path).trust) == ("Is it paid?", "Yes.", "complete")


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("tool_invocation", "tool_invocation_result"),
        ("tool_started", "tool_finished"),
        ("toolCall", "toolResult"),
        ("ToolCallEvent", "ToolResultEvent"),
        ("on_tool_start", "on_tool_end"),
        ("mcp_tool_call", "mcp_tool_result"),
        ("tool.execution.start", "tool.execution.completed"),
        ("agent_action", "agent_observation"),
    ],
)
@pytest.mark.parametrize("inside", [None, "details", "content"])
def test_kinds_of_events_have_many_names(tmp_path: Path, call: str, result: str, inside: str | None) -> None:
    events = [
        ("user_message", {"text": "Is it paid?"}),
        (call, {"tool_name": "look_up", "input": {"order": 7}}),
        (result, {"tool_name": "look_up", "output": "paid"}),
        ("assistant_message", {"text": "Yes."}),
    ]
    lines = [{"event_name": kind, "run_id": 1, **({inside: said} if inside else said)} for kind, said in events]
    (run,) = trajectories(path := written(tmp_path, *lines))
    assert (run.task, calls_of(run), run.final_answer) == ("Is it paid?", CALLS, "Yes.")
    assert summary_of(path).trust == "complete"


def test_a_call_that_is_told_twice_is_one(tmp_path: Path) -> None:
    call, shown = {"name": "look_up", "arguments": {"order": 7}}, {"name": "look_up", "output": "paid"}
    kinds = [("tool_call", call), ("tool_execution_start", call), ("tool_execution_end", shown), ("tool_result", shown)]
    events = [{"type": "user", "content": "Is it paid?"}, *[{"type": kind, **said} for kind, said in kinds * 2]]
    (run,) = trajectories(path := written(tmp_path, {"events": events}))
    assert (calls_of(run), summary_of(path).trust) == (CALLS * 2, "complete")


@pytest.mark.parametrize(
    ("step", "name", "arguments"),
    [
        ({"tool_call": {"name": "look_up", "arguments": {"order": 7}}, "tool_result": "paid"}, "look_up", {"order": 7}),
        ({"tool": "look_up", "tool_args": {"order": 7}, "tool_response": "paid"}, "look_up", {"order": 7}),
        ({"thought": "I look.", "command": "look 7", "output": "paid"}, "command", {"command": "look 7"}),
        ({"thought": "I look.", "code": "look(7)", "stdout": "paid", "exit_code": 0}, "code", {"code": "look(7)"}),
    ],
)
def test_a_step_may_have_its_call_under_other_names(
    tmp_path: Path, step: JsonObject, name: str, arguments: JsonObject
) -> None:
    path = written(tmp_path, {"task": "Is it paid?", "steps": [step], "final_answer": "Yes."})
    (run,) = trajectories(path)
    assert (calls_of(run), summary_of(path).trust) == ([(name, arguments, "paid")], "complete")


def test_what_came_back_may_be_a_step_of_its_own(tmp_path: Path) -> None:
    act = {"action": "look_up", "arguments": {"order": 7}}
    path = written(tmp_path, {"task": "Is it paid?", "history": [act, {"observation": "paid"}] * 2})
    assert (calls_of(trajectories(path)[0]), summary_of(path).trust) == (CALLS * 2, "complete")


def test_a_failed_run_without_a_step_counts(tmp_path: Path) -> None:
    acted = {"goal": "Is it paid?", "outcome": {"success": True}, "steps": [STEP], "answer": "Yes.", "latency_ms": 1500}
    idle = {"goal": "Is it open?", "outcome": {"success": False}, "steps": [], "answer": ""}
    done, failed = trajectories(written(tmp_path, acted, idle))
    assert (done.success, done.duration_s) == (True, 1.5)
    assert (failed.success, failed.flags, failed.task, failed.calls) == (False, ("no_answer",), "Is it open?", [])
    _, unknown = read(written(tmp_path, acted, {"goal": "Is it open?", "steps": []}))
    assert isinstance(unknown, Rejection), "without an outcome it is no run"


def test_calls_beside_an_answer_are_a_run_without_its_task(tmp_path: Path) -> None:
    calls = [{"name": "send_email", "input": {"to": "a@example.org"}}, {"name": "export", "input": {}}]
    record = {"case_id": "docs-1", "run_index": 0, "model": "model-a", "tool_calls": calls, "final_text": "I sent it."}
    (run,) = trajectories(written(tmp_path, record))
    assert calls_of(run) == [("send_email", {"to": "a@example.org"}, None), ("export", {}, None)]
    assert (run.task, run.final_answer) == ("", "I sent it.")


def test_what_came_back_may_stand_in_the_call(tmp_path: Path) -> None:
    call = {"name": "look_up", "arguments": {"order": 7}}
    steps = [
        {"thought": "I look.", "tool_call": {**call, "output": "paid"}},
        {"thought": "Again.", "tool_call": {**call, "error": "timeout"}},
    ]
    path = written(tmp_path, {"task": "Is it paid?", "steps": steps, "final_answer": "It is."})
    (run,) = trajectories(path)
    assert calls_of(run) == [("look_up", {"order": 7}, "paid"), ("look_up", {"order": 7}, "timeout")]
    assert [error for _, error in calls_and_errors(run)] == [None, "timeout"]
    assert summary_of(path).trust == "complete"


def test_requests_to_a_model_among_events_that_are_not_read_are_told(tmp_path: Path) -> None:
    asked = [{"role": "user", "content": "Is order 17 paid?"}]
    events = [
        {"event": "model", "input": asked, "output": {"choices": []}},
        {"event": "tool", "id": "c", "function": "look_up", "arguments": {"order": 17}, "result": "paid", "events": []},
    ]
    summary = summary_of(written(tmp_path, {"description": "a branch", "events": events}))
    unread = "1 part of messages could not be read: messages in events[] (model)[].input"
    assert summary.sentence == f"doubtful: {unread}; 1 request stated by the source, 0 read"


def test_requests_to_a_model_are_what_it_answered_unless_another_event_says_it(tmp_path: Path) -> None:
    asked = {
        "type": "llm",
        "prompt": "...",
        "completion": "I look.",
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    }
    called = {"type": "tool", "name": "look_up", "input": {"order": 7}, "output": "paid"}
    ended = {
        "kind": "llm_call",
        "data": {"response": "It is paid.", "usage": {"prompt_tokens": 30, "completion_tokens": 4}},
    }
    path = written(tmp_path, {"input": "Is order 7 paid?", "trace": [asked, called, ended]})
    (run,) = trajectories(path)
    assert calls_of(run) == CALLS and run.final_answer == "It is paid." and "I look." in run.text
    assert run.usage is not None and (run.usage.input_tokens, run.usage.output_tokens) == (40, 9)
    assert summary_of(path).trust == "complete"
    said = {"type": "assistant", "content": "I look."}
    (twice,) = trajectories(written(tmp_path, {"input": "Is order 7 paid?", "trace": [asked, said, called, ended]}))
    assert twice.text.count("I look.") == 1


@pytest.mark.parametrize(("name", "value"), [("success", True), ("outcome", "success"), ("resolved", "yes")])
def test_the_event_that_ends_a_run_has_its_outcome(tmp_path: Path, name: str, value: object) -> None:
    events = [*EVENTS, {"type": "session_end", name: value}]
    (run,) = trajectories(written(tmp_path, {"events": events}))
    assert run.success is True


@pytest.mark.parametrize("idle", [{"time": "2026-01-02T03:04:05Z"}, {"step": 2, "thought": "", "reward": 0.0}])
def test_a_step_in_which_nothing_was_done_is_no_reason_to_refuse_a_run(tmp_path: Path, idle: JsonObject) -> None:
    (run,) = trajectories(written(tmp_path, {"task": "Is order 7 paid?", "steps": [STEP, idle, STEP]}))
    assert calls_of(run) == CALLS * 2


@pytest.mark.parametrize("name", ["answer", "response", "reply", "finalAnswer"])
def test_the_last_step_may_have_the_answer(tmp_path: Path, name: str) -> None:
    steps = [STEP, {"thought": "I know it.", name: "It is paid."}]
    (run,) = trajectories(written(tmp_path, {"task": "Is order 7 paid?", "steps": steps}))
    assert (run.final_answer, calls_of(run)) == ("It is paid.", CALLS)


@pytest.mark.parametrize(
    "asking",
    [
        {"completion": "", "tool_calls": [{"id": "x", "name": "look_up", "arguments": {"order": 7}}]},
        {"output": {"content": None, "tool_calls": [{"name": "look_up", "arguments": '{"order": 7}'}]}},
    ],
)
@pytest.mark.parametrize(
    "told", [{"name": "look_up", "result": "paid"}, {"tool": "look_up", "args": {"order": 7}, "output": "paid"}]
)
def test_a_request_to_a_model_may_be_answered_with_calls_alone(
    tmp_path: Path, asking: JsonObject, told: JsonObject
) -> None:
    events = [
        {"type": "user", "text": "Is order 7 paid?"},
        {"type": "llm", "prompt": "You are an agent.", **asking},
        {"type": "tool", **told},
        {"type": "llm", "output": {"content": "It is paid."}},
    ]
    (run,) = trajectories(written(tmp_path, {"events": events}))
    ((name, _, shown),) = calls_of(run)
    assert (name, calls_and_errors(run)[0][0].replace(" ", ""), shown) == ("look_up", '{"order":7}', "paid")
    assert (run.final_answer, summary_of(tmp_path / "drop.jsonl").trust) == ("It is paid.", "complete")

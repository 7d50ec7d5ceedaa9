"""Logs of benchmarks and research agents, such as AgentBench, AWorld, DevAI, MiroFlow, Mobile-Agent-E and MINT."""

from pathlib import Path

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, read, records_of, trajectories

AWORLD, DEVAI, ARE, MIROFLOW, MOBILE = (
    FIXTURES / "aworld" / "trajectories.jsonl",
    FIXTURES / "devai" / "trajectory.json",
    FIXTURES / "meta_are" / "order-17.json",
    FIXTURES / "miroflow" / "task_order-17.json",
    FIXTURES / "mobile_agent" / "steps.json",
)
(RECORD,) = records_of(AWORLD)
STEPS: list[JsonObject] = orjson.loads(RECORD["trajectory"])
LOOK_UP = [("look_up", {"order": 17}, "paid")]
PAID = "Order 17 is paid."


@pytest.mark.parametrize("path", [AWORLD, DEVAI, ARE, MIROFLOW, MOBILE])
def test_nothing_is_amiss(path: Path) -> None:
    assert summary_of(path).trust == "complete"


def test_a_trajectory_of_aworld_has_the_action_of_its_last_step(tmp_path: Path) -> None:
    steps = tmp_path / "steps.json"
    steps.write_bytes(orjson.dumps(STEPS))
    printed = tmp_path / "trajectory.log"
    printed.write_text(f"{RECORD!r}\n{ {**RECORD, 'task_id': 'order-18'}!r}\n", "utf-8")
    runs = [run for path in (AWORLD, steps, printed) for run in trajectories(path)]
    assert [run.task_id for run in runs] == ["order-17", "order-17", "order-17", "order-18"]
    for run in runs:
        assert (calls_of(run), run.task, run.final_answer) == (LOOK_UP, "Is order 17 paid?", PAID)
        assert [(agent.id, agent.description) for agent in run.agents] == [("desk", "Help with orders.")]


def test_states_without_messages_have_the_results_of_the_actions(tmp_path: Path) -> None:
    result = {"tool_call_id": "c1", "content": "offline", "success": False}
    given = [{"content": "Is order 17 paid?"}, {"content": "", "action_result": [result]}]
    steps = [{**step, "state": {"input": one, "messages": []}} for step, one in zip(STEPS, given, strict=True)]
    (run,) = trajectories(written(tmp_path, {"task_id": "order-17", "trajectory": steps}))
    assert calls_and_errors(run) == [('{"order":17}', "offline")]
    assert (run.task, run.final_answer) == ("Is order 17 paid?", PAID)


def test_steps_of_aworld_that_are_missing_are_told(tmp_path: Path) -> None:
    later = {**STEPS[1], "meta": {**STEPS[1]["meta"], "step": 9}}
    summary = summary_of(written(tmp_path, {"trajectory": [STEPS[0], later]}))
    assert summary.gaps == ("9 steps stated by the source, 2 read",)


def test_a_step_of_devai_has_its_own_tokens_and_cost() -> None:
    (run,) = trajectories(DEVAI)
    assert calls_of(run) == [("action", {"action": "Running command: grep 17 orders.txt"}, "17 paid")]
    assert (run.task, run.final_answer) == ("Is order 17 paid?", PAID)
    assert run.usage == Usage(input_tokens=30, output_tokens=10, cost_usd=0.02)


def test_a_trace_of_are_has_each_call_once_with_the_tokens_of_its_answer(tmp_path: Path) -> None:
    (run,) = trajectories(ARE)
    assert calls_and_errors(run)[:2] == [('{"order":16}', "no such order"), ('{"order":17}', None)]
    assert [run.piece(step.thought) for step in run.calls] == [
        "I look it up.", "The number was wrong.", "I tell the user.",
    ]  # fmt: skip
    assert (run.task_id, run.trial, run.task, run.final_answer) == ("order-17", 2, "Is order 17 paid?", PAID)
    assert (run.success, run.usage) == (True, Usage(input_tokens=340, output_tokens=55))
    assert [(agent.name, agent.model) for agent in run.agents] == [("default", "model-a")]
    (record,) = records_of(ARE)
    sub = orjson.dumps({"log_type": "subagent", "agent_id": "main", "children": []}).decode()
    summary = summary_of(written(tmp_path, {**record, "world_logs": [*record["world_logs"], sub]}))
    assert summary.gaps == ("1 sub-agent session stated by the source, 0 read",)


def test_a_lite_trace_of_are_has_the_conversation_of_its_main_agent(tmp_path: Path) -> None:
    said = 'Thought: I look it up.\nAction:\n{"action": "look_up", "action_input": {"order": 17}}<end_action>'
    history = [("user", "Is order 17 paid?"), ("assistant", said), ("user", "Observation:\npaid"), ("assistant", PAID)]
    messages = [{"role": role, "content": text, "timestamp": 1.0, "attachments": []} for role, text in history]
    stats = {"total_llm_calls": 2, "prompt_tokens": [100, 130], "completion_tokens": [20, 15]}
    record = {
        "scenario_id": "order-17", "model_id": "model-a", "validation_decision": "Invalid", "run_duration": 12.5,
        "per_agent_interaction_histories": {"agent_1": messages}, "per_agent_llm_usage_stats": {"agent_1": stats},
    }  # fmt: skip
    (run,) = trajectories(written(tmp_path, record))
    assert calls_of(run) == [("look_up", {"order": 17}, "paid")]
    assert (run.task_id, run.success, run.final_answer, run.duration_s) == ("order-17", False, PAID, 12.5)
    assert run.usage == Usage(input_tokens=230, output_tokens=35)


def test_a_log_of_miroflow_has_its_calls_and_its_verdict() -> None:
    (run,) = trajectories(MIROFLOW)
    assert calls_of(run) == LOOK_UP
    assert (run.task_id, run.task, run.final_answer) == ("order-17", "Is order 17 paid?", "yes")
    assert (run.success, run.reference_answer) == (True, "yes")


def test_sessions_of_sub_agents_of_miroflow_are_missing(tmp_path: Path) -> None:
    (record,) = records_of(MIROFLOW)
    sessions = {"agent-browsing_1": record["main_agent_message_history"]}
    summary = summary_of(written(tmp_path, {**record, "sub_agent_message_history_sessions": sessions}))
    assert (summary.trajectories, summary.gaps) == (1, ("1 sub-agent session stated by the source, 0 read",))


def test_an_action_of_mobile_agent_failed_if_another_agent_says_so(tmp_path: Path) -> None:
    steps = [{**step, "raw_response": "..."} for step in records_of(MOBILE)]
    for path in (MOBILE, written(tmp_path, *steps)):
        (run,) = trajectories(path)
        assert calls_and_errors(run) == [('{"app_name":"Shop"}', "Nothing is shown.")]
        assert (run.task_id, run.task, run.format) == ("order-17", "Is order 17 paid?", "mobile_agent")
        assert [agent.id for agent in run.agents] == ["manager", "operator"]


def test_an_action_of_webvoyager_gives_the_answer(tmp_path: Path) -> None:
    said = ["Thought: I look it up.\nAction: Click [2]", f"Thought: I see it.\nAction: ANSWER; {PAID}"]
    messages = [
        {"role": "user", "content": "Is order 17 paid?"}, {"role": "assistant", "content": said[0]},
        {"role": "user", "content": "Observation: a page"}, {"role": "assistant", "content": said[1]},
    ]  # fmt: skip
    (run,) = trajectories(written(tmp_path, {"messages": messages}))
    assert (run.final_answer, run.flags) == (PAID, ())
    assert calls_of(run)[-1][:2] == ("ANSWER", {"answer": PAID})


def test_tokens_may_be_in_a_counter(tmp_path: Path) -> None:
    history = [{"role": "user", "content": "Is order 17 paid?"}, {"role": "assistant", "content": PAID}]
    counter = {"prompt_tokens": 50, "completion_tokens": 9, "total_tokens": 59}
    (run,) = trajectories(written(tmp_path, {"state": {"history": history, "token_counter": counter}}))
    assert run.usage == Usage(input_tokens=50, output_tokens=9)


def test_results_that_users_tell_of_calls_in_prose_are_a_doubt(tmp_path: Path) -> None:
    """As AutoCodeRover has them: another model makes the calls of what the agent wrote."""
    said = [("user", "Is order 17 paid?"), ("assistant", "I would look up the order."),
            ("user", 'Result of look_up("17"):\npaid'), ("assistant", PAID)]  # fmt: skip
    messages = [{"role": role, "content": text} for role, text in said]
    assert summary_of(written(tmp_path, {"messages": messages})).trust == "doubtful"


def test_a_review_of_evalscope_has_the_score_that_counts_and_the_tokens_of_its_answers(tmp_path: Path) -> None:
    right, wrong = trajectories(FIXTURES / "evalscope" / "reviews.jsonl")
    assert [(run.task_id, run.success, run.reference_answer) for run in (right, wrong)] == [
        ("0", True, "4"),
        ("1", False, "4"),
    ]
    assert right.labels == {"scores": {"acc": 1.0, "f1": 0.5}}
    assert (right.usage, right.agents[0].model) == (Usage(input_tokens=100, output_tokens=15), "model-a")
    assert calls_of(right) == [("count_piers", {"harbour": 0}, "4")]
    assert right.final_answer == "It has 4 piers."

    (review, _) = records_of(FIXTURES / "evalscope" / "reviews.jsonl")
    prediction = {key: review[key] for key in ("index", "messages")} | {
        "model": "model-b",
        "model_output": {"usage": {"input_tokens": 7, "output_tokens": 3}, "error": None},
    }
    (run,) = trajectories(written(tmp_path, prediction))
    assert (run.success, run.usage, run.agents[0].model) == (None, Usage(input_tokens=7, output_tokens=3), "model-b")
    page = {"Index": "5", "Gold": "4", "Score": {"acc": 0}, "Messages": review["messages"], "Generated": "Four."}
    (run,) = trajectories(written(tmp_path, {"predictions": [page]}))
    assert (run.task_id, run.success, run.reference_answer) == ("5", False, "4")


def test_a_result_of_mcp_bench_has_the_calls_of_its_rounds(tmp_path: Path) -> None:
    path = FIXTURES / "mcp_bench" / "results.json"
    (run,) = trajectories(path)
    assert (run.task_id, run.task, run.final_answer, run.duration_s) == (
        "harbour_tides_001", "Which piers are open?", "Pier 3 is open.", 10.5
    )  # fmt: skip
    assert [(name, given) for name, given, _ in calls_of(run)] == [
        ("harbour/look_up", {"pier": 3}),
        ("harbour/look_up", {"pier": 4}),
    ]
    assert [error for _, error in calls_and_errors(run)] == [None, "no such pier"]
    assert run.usage == Usage(input_tokens=90, output_tokens=8)
    assert run.labels == {"scores": {"task_fulfillment": 7.2, "task_completion_score": 6.8}}
    assert summary_of(path).trust == "complete"

    (document,) = records_of(path)
    (stored,) = document["task_run_results"]["model-a"]
    stored["execution_results"][0]["inner_tool_calls"] = [{"tool": "search"}]
    del stored["total_tool_calls"]
    summary = summary_of(written(tmp_path, document))
    assert summary.sentence == "partial: 3 calls stated by the source, 2 read"


def test_tasks_of_mcp_bench_that_failed_are_rejected_with_their_error(tmp_path: Path) -> None:
    (document,) = records_of(FIXTURES / "mcp_bench" / "results.json")
    failed = {
        "task_id": "harbour_tides_002", "server_name": "harbour", "model_name": "model-a", "status": "failed",
        "error": "Task timed out after 3 attempts", "execution_time": 900.0,
    }  # fmt: skip
    document["task_run_results"]["model-a"].append(failed)
    run, problem = read(written(tmp_path, document))
    assert isinstance(run, Trajectory)
    assert isinstance(problem, Rejection)
    assert problem.detail.endswith(": Task timed out after 3 attempts")


@pytest.mark.parametrize("history", [None, [{"role": "user", "content": "Is order 17 paid?"}]])
def test_a_run_of_agentbench_that_broke_counts(tmp_path: Path, history: list[JsonObject] | None) -> None:
    output = {"index": 4, "status": "unknown", "result": None, "history": history}
    path = written(tmp_path, {"index": 4, "error": "network", "info": "lost", "output": output})
    summary = summary_of(path)
    assert (summary.rejected, summary.trajectories) == ((1, 0) if history is None else (0, 1))
    if history is None:
        (rejection,) = read(path)
        assert (
            isinstance(rejection, Rejection) and "the run broke before its first message: network" in rejection.detail
        )

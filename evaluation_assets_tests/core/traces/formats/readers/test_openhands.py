"""OpenHands events as trajectories: tasks, calls with their observations, counters that fall back."""

import tempfile
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, loaded, read, trajectories
from evaluation_assets_tests.third_party import data

SESSION = FIXTURES / "openhands" / "session.json"
OUTPUT = FIXTURES / "openhands" / "output.jsonl"


@pytest.fixture
def tasks() -> list[Trajectory]:
    return trajectories(SESSION)


def read_saved(folder: Path, events: list[dict[str, Any]]) -> list[Trajectory | Rejection]:
    (folder / "session.json").write_bytes(orjson.dumps(events))
    return read(folder / "session.json")


def test_every_user_message_of_a_session_is_a_trajectory(tasks: list[Trajectory]) -> None:
    for task in tasks:
        check(task)
    assert [task.task for task in tasks] == ["Count the files.", "Now the folders."]
    assert [task.final_answer for task in tasks] == ["There are 3 files.", "One folder."]
    assert [(task.started_at, task.duration_s) for task in tasks] == [
        ("2025-05-24T18:52:02.500000", 9.0),
        ("2025-05-24T18:52:13.500000", 5.0),
    ]


def test_actions_stand_with_the_observations_they_caused(tasks: list[Trajectory]) -> None:
    count, missing, edit, finish = tasks[0].calls
    assert [step.call and step.call.name for step in tasks[0].calls] == [
        "execute_bash",
        "execute_bash",
        "edit",
        "finish",
    ]
    assert tasks[0].arguments(missing.call) == {"command": "ls /missing"}  # type: ignore[arg-type]
    assert missing.result is not None and missing.result.error == "exit code 2"
    assert tasks[0].piece(count.thought) == "I count them."
    assert (count.latency_ms, edit.result, finish.result) == (2000, None, None)


def test_a_command_that_succeeded_is_no_failure_whatever_it_printed(tasks: list[Trajectory]) -> None:
    result = tasks[0].calls[0].result
    assert result is not None and result.error is None
    assert tasks[0].piece(result.content).startswith("Traceback")


def test_a_step_costs_what_it_added_to_the_counters(tasks: list[Trajectory]) -> None:
    added = [
        step.usage and (step.usage.input_tokens, step.usage.cached_tokens, step.usage.output_tokens)
        for step in tasks[0].steps
    ]
    assert added == [(100, 90, 10), (120, 110, 15), None, (80, 70, 5)]
    assert tasks[0].usage is not None and tasks[0].usage.cost_usd == pytest.approx(0.04)


def test_counters_that_began_again_have_what_the_first_response_after_it_used(tasks: list[Trajectory]) -> None:
    thinking, counting, saying = tasks[1].steps
    assert counting.usage == Usage(input_tokens=110, cached_tokens=90, output_tokens=12, cost_usd=0.02)
    assert saying.usage is not None and saying.usage.cost_usd == pytest.approx(0.01)
    assert thinking.usage is not None and thinking.usage.cost_usd == pytest.approx(0.01)


def test_a_run_whose_counter_began_again_costs_what_it_said_before_and_after(tasks: list[Trajectory]) -> None:
    spent = [
        event["llm_metrics"]["accumulated_cost"]
        for event in loaded("openhands")["session.json"]
        if "llm_metrics" in event
    ]
    fell = next(index for index in range(1, len(spent)) if spent[index] < spent[index - 1])
    assert tasks[0].usage is not None and tasks[1].usage is not None
    assert tasks[0].usage.cost_usd is not None and tasks[1].usage.cost_usd is not None
    assert tasks[0].usage.cost_usd + tasks[1].usage.cost_usd == pytest.approx(spent[fell - 1] + max(spent[fell:]))


def test_the_system_event_describes_the_agent(tasks: list[Trajectory]) -> None:
    (agent,) = tasks[1].agents
    assert (agent.name, agent.version, agent.model) == ("CodeActAgent", "0.39.2", "anthropic/claude")
    assert agent.description == "You are an agent."
    assert agent.tools is not None and [tool.name for tool in agent.tools] == ["execute_bash"]


def test_a_logged_thought_is_a_thought_and_no_call(tasks: list[Trajectory]) -> None:
    first = next(tasks[1].steps)
    assert (tasks[1].piece(first.thought), first.call) == ("Folders end in a slash.", None)
    assert "has been logged" not in tasks[1].text


def test_events_of_the_framework_are_counted_as_left_out() -> None:
    unmapped = UnmappedFields()
    trajectories(SESSION, unmapped=unmapped)
    assert unmapped.table() == [
        ("events[] (agent_state_changed)", 2),
        ("events[] (recall)", 2),
    ]


def test_an_output_record_is_one_run_with_its_outcome() -> None:
    (run,) = trajectories(OUTPUT)
    check(run)
    assert (run.task_id, run.task, run.success) == ("repo__fix-1", "Fix the bug.", True)
    assert [turn.user_message for turn in run.turns] == ["Fix the bug.", "Please go on."]
    assert run.final_answer == "diff --git a/x b/x"
    assert (run.usage, run.flags) == (Usage(cost_usd=0.2), ("step_limit",))
    assert run.labels == {"report": {"failed_apply_patch": False}}
    assert run.agents[0].model == "openai/gpt-4o"


def test_a_run_whose_steps_state_no_cost_costs_what_its_record_says(tmp_path: Path) -> None:
    (line, *_) = OUTPUT.read_bytes().splitlines()
    record = orjson.loads(line)
    counts = {"prompt_tokens": 100, "completion_tokens": 10}
    act = next(event for pair in record["history"] for event in pair if event.get("action") == "run")
    act["tool_call_metadata"] = {"function_name": "run", "model_response": {"usage": counts}}
    path = tmp_path / "output.jsonl"
    path.write_bytes(orjson.dumps(record))
    (run,) = trajectories(path)
    assert run.usage == Usage(input_tokens=100, output_tokens=10, cost_usd=0.2)


COUNTED = {"prompt_tokens": 220, "completion_tokens": 25, "cache_read_tokens": 50, "cache_write_tokens": 0}


def test_the_tokens_of_an_output_record_are_those_that_it_counts(tmp_path: Path) -> None:
    record = orjson.loads(OUTPUT.read_bytes().splitlines()[0])
    record["metrics"] |= {"accumulated_token_usage": {"model": "gpt-4o", **COUNTED}, "token_usages": [COUNTED]}
    path = written(tmp_path, record)
    (run,) = trajectories(path)
    assert run.usage == Usage(input_tokens=220, cached_tokens=50, cache_write_tokens=0, output_tokens=25, cost_usd=0.2)
    act = next(event for pair in record["history"] for event in pair if event.get("action") == "run")
    act["tool_call_metadata"] = {
        "function_name": "run", "model_response": {"usage": {"prompt_tokens": 100, "completion_tokens": 10}},
    }  # fmt: skip
    assert summary_of(written(tmp_path, record)).trust == "partial"


def test_a_counter_of_costs_alone_does_not_hide_the_tokens_of_a_response(tmp_path: Path) -> None:
    record = orjson.loads(OUTPUT.read_bytes().splitlines()[0])
    act = next(event for pair in record["history"] for event in pair if event.get("action") == "run")
    counts = {"prompt_tokens": 100, "completion_tokens": 10}
    act["tool_call_metadata"] = {"function_name": "run", "model_response": {"usage": counts}}
    act["llm_metrics"] = {"accumulated_cost": 0.125}
    (run,) = trajectories(written(tmp_path, record))
    assert run.usage == Usage(input_tokens=100, output_tokens=10, cost_usd=0.125)


def test_an_output_of_the_resolver_has_its_issue_and_patch(tmp_path: Path) -> None:
    (line, *_) = OUTPUT.read_bytes().splitlines()
    record = orjson.loads(line)
    kept = {key: record[key] for key in ("history", "instruction") if key in record}
    issue = {"owner": "me", "repo": "shop", "number": 7, "title": "Totals", "body": "They are wrong."}
    guess = {"success": True, "result_explanation": "The totals are right."}
    path = tmp_path / "output.jsonl"
    path.write_bytes(orjson.dumps({**kept, "issue": issue, "issue_type": "issue", "git_patch": "diff --git", **guess}))
    (run,) = trajectories(path)
    assert (run.task_id, run.final_answer) == ("me/shop#7", "diff --git")
    assert (run.success, run.labels) == (None, {"resolver": guess})  # a model's guess is no outcome


def test_a_task_nobody_worked_on_is_a_run_without_an_answer(tmp_path: Path) -> None:
    events = loaded("openhands")["session.json"]
    worked, idle = read_saved(tmp_path, [*events[:12], events[12]])[0], read_saved(tmp_path, events[2:3])[0]
    assert isinstance(worked, Trajectory)
    assert isinstance(idle, Trajectory) and idle.flags == ("no_answer",)


def test_a_run_that_was_cut_off_says_so(tmp_path: Path) -> None:
    events = loaded("openhands")["session.json"]
    reason = {"agent_state": "error", "reason": "RuntimeError: Agent reached maximum iteration. Current: 100"}
    (run,) = read_saved(tmp_path, [*events[:7], {**events[0], "id": 20, "extras": reason}])
    assert isinstance(run, Trajectory)
    assert run.flags == ("step_limit", "no_answer")


@given(st.integers(0, 18))
def test_a_session_that_breaks_off_is_read_as_far_as_it_goes(length: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = Path(folder) / "session.json"
        session.write_bytes(orjson.dumps(loaded("openhands")["session.json"][:length]))
        for item in read(session, format_name="openhands"):
            check(item)


def test_a_recorded_session_of_six_tasks() -> None:
    unmapped = UnmappedFields()
    runs = trajectories(data("agentdataeva/testv1.json"), unmapped=unmapped)
    for run in runs:
        check(run)
    calls = [step for run in runs for step in run.calls]
    shell = [step for step in calls if step.call and step.call.name == "execute_bash"]
    assert (len(runs), len(calls), len(shell)) == (6, 95, 56)
    results = [step.result for step in shell if step.result is not None]
    assert (len(results), len([result for result in results if result.error])) == (55, 19)
    costs = [step.usage.cost_usd for run in runs for step in run.steps if step.usage]
    known = [cost for cost in costs if cost is not None]
    assert min(known) >= 0 and len(costs) == len(known)
    own = (3 * 3 + 79_871 * 0.3 + 163 * 3.75 + 1_518 * 15) / 1e6  # of the call after which the counters had fallen
    assert sum(known) == pytest.approx(2.97963885 + own + 1.84560135 - 1.20721455)
    totals = [run.usage.cost_usd for run in runs if run.usage is not None and run.usage.cost_usd is not None]
    assert len(totals) == 6 and sum(totals) == pytest.approx(sum(known))
    (restarted,) = (run for run in runs if run.usage is not None and run.usage.is_list_price)
    assert restarted.usage is not None and restarted.usage.cost_usd == pytest.approx(1.02442 + own + 0.63839, abs=1e-4)
    (call,) = (step.usage for step in restarted.steps if step.usage and step.usage.is_list_price)
    assert (call.input_tokens, call.cached_tokens, call.cache_write_tokens) == (79_874 + 163, 79_871, 163)
    assert all(path.startswith("events[] (") for path, _ in unmapped.table())


def test_events_of_the_resolver_have_neither_source_nor_ids(tmp_path: Path) -> None:
    history = [
        {"action": "message", "content": "Fix the total.", "images_urls": None, "wait_for_response": False},
        {"action": "run", "command": "make test", "thought": "I run the tests.", "is_confirmed": "confirmed"},
        {"observation": "run", "content": "1 failed", "command": "make test", "command_id": 1, "exit_code": 2},
        {"action": "message", "content": "Which total?", "images_urls": None, "wait_for_response": True},
        {"action": "message", "content": "All of them.", "images_urls": None, "wait_for_response": False},
        {"action": "run_ipython", "code": "edit()", "thought": "I edit.", "kernel_init_code": ""},
        {"observation": "run_ipython", "content": "[edited]", "code": "edit()"},
        {"action": "finish", "outputs": {}, "thought": "It is fixed."},
    ]
    output = {
        "issue": {"owner": "shop", "repo": "orders", "number": 7},
        "instruction": "Fix the total.",
        "git_patch": "diff --git a/a b/a",
        "history": history,
        "metrics": {"accumulated_cost": 0.25, "costs": [0.25]},
        "success": True,
        "error": None,
    }
    (tmp_path / "output.jsonl").write_bytes(orjson.dumps(output))
    (run,) = trajectories(tmp_path / "output.jsonl")
    check(run)
    assert calls_of(run) == [
        ("run", {"command": "make test"}, "1 failed"),
        ("run_ipython", {"code": "edit()"}, "[edited]"),
        ("finish", {}, None),
    ]
    assert [step.result.error if step.result else None for step in run.calls] == ["exit code 2", None, None]
    assert [turn.user_message for turn in run.turns] == ["Fix the total.", "All of them."]
    assert run.turns[0].interactions[-1].response == "Which total?"
    assert (run.task_id, run.final_answer, run.format) == ("shop/orders#7", "diff --git a/a b/a", "openhands")
    assert run.usage is not None and run.usage.cost_usd == 0.25

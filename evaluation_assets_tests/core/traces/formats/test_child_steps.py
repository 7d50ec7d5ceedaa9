"""Runs in a company's own form: steps with several calls, attempts, the steps of other agents, and totals."""

from pathlib import Path

import pytest

from evaluation_assets.core.traces.trajectories.model import JsonObject
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, recorded_usage, trajectories

PLAN = {"agent": "planner", "text": "I need order 7.", "tokens": {"in": 420, "out": 38}}
FOUND = {"call_id": "a", "tool": "orders.get", "input": {"order": 7}, "output": {"total": 19}}
REFUND = {"call_id": "b", "tool": "refunds.create", "input": {"order": 7}, "output": "done"}
BATCH = {"agent": "planner", "calls": [FOUND]}
CHILD = {"agent": "refunder", "steps": [{"calls": [REFUND]}, {"text": "Refunded."}]}
REPLY = {"agent": "planner", "text": "It is refunded.", "tokens": {"in": 900, "out": 25}}


def record(*steps: JsonObject, **more: object) -> JsonObject:
    totals = {"tokens_in": 1320, "tokens_out": 63}
    return {"run_id": "r", "request": "Refund order 7.", "steps": [PLAN, *steps, REPLY], "totals": totals, **more}


@pytest.mark.parametrize("name", ["child", "sub_agent", "children", "run"])
def test_the_steps_of_another_agent_come_after_the_one_that_began_it(tmp_path: Path, name: str) -> None:
    child = [CHILD] if name == "children" else CHILD
    begun = {"agent": "planner", "to": "refunder", "task": "Refund it in full", name: child}
    path = written(tmp_path, record(BATCH, begun))
    (run,) = trajectories(path)
    assert [(call, given) for call, given, _ in calls_of(run)] == [
        ("orders.get", {"order": 7}), ("refunds.create", {"order": 7}),
    ]  # fmt: skip
    assert {agent.id for agent in run.agents} == {"planner", "refunder"}
    assert run.text.index("Refund it in full") < run.text.index("Refunded.") < run.text.index("It is refunded.")
    assert summary_of(path).trust == "complete"


def test_a_call_that_began_another_agent_keeps_its_result(tmp_path: Path) -> None:
    begun = {"agent": "planner", "tool": "delegate", "input": {"to": "refunder"}, "output": "ok", "sub_run": CHILD}
    (run,) = trajectories(written(tmp_path, record(begun)))
    assert [(call, shown) for call, _, shown in calls_of(run)] == [("delegate", "ok"), ("refunds.create", "done")]


def test_attempts_of_a_call_are_calls_of_their_own(tmp_path: Path) -> None:
    attempts = [{"n": 1, "status": "timeout", "error": "too late"}, {"n": 2, "status": "ok", "output": {"total": 19}}]
    again = {key: value for key, value in FOUND.items() if key != "output"} | {"attempts": attempts}
    path = written(tmp_path, record({"agent": "planner", "calls": [again]}))
    (run,) = trajectories(path)
    assert [error for _, error in calls_and_errors(run)] == ["too late", None]
    assert (summary_of(path).trust, summary_of(path).repeated_calls) == ("complete", 0)


def test_totals_are_the_tokens_where_steps_without_a_model_have_none(tmp_path: Path) -> None:
    path = written(tmp_path, record(BATCH))
    (run,) = trajectories(path)
    usage = recorded_usage(run)
    assert usage is not None and (usage.input_tokens, usage.output_tokens) == (1320, 63)
    assert summary_of(path).trust == "complete"
    alone = {key: value for key, value in record(BATCH).items() if key != "totals"}
    assert "1 answer of 3 without tokens" in summary_of(written(tmp_path, alone)).sentence


@pytest.mark.parametrize(
    ("outcome", "success"),
    [({"status": "resolved"}, True), ({"status": "failed", "csat": 5}, False), ({"status": "done"}, None)],
)
def test_an_outcome_may_be_a_status(tmp_path: Path, outcome: JsonObject, success: bool | None) -> None:
    (run,) = trajectories(written(tmp_path, record(BATCH, outcome=outcome)))
    assert run.success is success


def test_the_text_names_an_agent_that_acts_without_a_word_where_another_one_spoke_before(tmp_path: Path) -> None:
    silent = {"agent": "planner", "task": "Refund it", "child": {"agent": "refunder", "steps": [{"calls": [REFUND]}]}}
    (run,) = trajectories(written(tmp_path, record(BATCH, silent)))
    assert '<tool_call name="orders.get">' in run.text
    assert '<tool_call name="refunds.create" agent="refunder">' in run.text
    thought = {"agent": "refunder", "thought": "I refund it.", **REFUND}
    (thinking,) = trajectories(written(tmp_path, record(BATCH, thought, {**FOUND, "agent": "refunder"})))
    assert '<think agent="refunder">' in thinking.text and thinking.text.count('agent="refunder"') == 1


@pytest.mark.parametrize("name", ["result", "output", "observation"])
def test_what_a_tool_gave_back_is_no_run_of_an_agent_whatever_it_holds(tmp_path: Path, name: str) -> None:
    recipe = {"agent": "Ann", "steps": [{"tool": "bowl", "text": "Mix"}], "events": [{"text": "paid"}]}
    (run,) = trajectories(
        written(tmp_path, record({"agent": "planner", "tool": "get", "input": {"id": 1}, name: recipe}))
    )
    ((_, _, shown),) = calls_of(run)
    assert shown is not None and "bowl" in shown and [agent.id for agent in run.agents] == ["planner"]


def test_a_run_of_another_agent_may_stand_in_a_call(tmp_path: Path) -> None:
    begun = {"name": "delegate", "arguments": {"to": "refunder"}, "result": "ok", "run": CHILD}
    (run,) = trajectories(written(tmp_path, record({"agent": "planner", "calls": [begun]})))
    assert [(call, shown) for call, _, shown in calls_of(run)] == [("delegate", "ok"), ("refunds.create", "done")]


def test_steps_in_a_file_of_messages_are_read_as_steps(tmp_path: Path) -> None:
    chat = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]}
    path = written(tmp_path, chat, record(BATCH, outcome={"status": "success"}))
    chatted, worked = trajectories(path)
    assert (calls_of(chatted), len(calls_of(worked)), worked.success) == ([], 1, True)


def test_tokens_of_a_request_without_words_are_missing_in_the_total(tmp_path: Path) -> None:
    asked = {"type": "llm", "completion": "I look.", "usage": {"prompt_tokens": 10, "completion_tokens": 5}}
    silent = {"type": "llm", "usage": {"prompt_tokens": 500, "completion_tokens": 200}}
    called = {"type": "tool", "name": "look_up", "input": {"order": 7}, "output": "paid"}
    path = written(tmp_path, {"input": "Is order 7 paid?", "trace": [asked, called, silent]})
    (run,) = trajectories(path)
    assert run.usage is None and "1 answer of 2 without tokens" in summary_of(path).sentence


def test_runs_of_other_agents_beside_a_run_are_a_part_of_it(tmp_path: Path) -> None:
    inner = {"agent": "clerk", "input": "Find it", "output": "It is 19.", "tool_calls": [FOUND], "children": []}
    outer = {"agent": "refunder", "input": "Refund it", "output": "Refunded.", "steps": [], "children": [inner]}
    data = {"id": "r", "agent": "planner", "input": "Refund order 7.", "output": "Done.", "children": [outer]}
    path = written(tmp_path, data, {**data, "id": "s", "tool_calls": [REFUND]})
    one, two = trajectories(path)
    assert (one.task, one.final_answer, [name for name, *_ in calls_of(one)]) == (
        "Refund order 7.", "Done.", ["orders.get"],
    )  # fmt: skip
    assert [name for name, *_ in calls_of(two)] == ["refunds.create", "orders.get"]
    said = ("Refund it", "Find it", "It is 19.", "Refunded.", "Done.")
    assert sorted(said, key=one.text.index) == list(said)
    assert [agent.id for agent in one.agents] == ["planner", "refunder", "clerk"]
    assert summary_of(path).trust == "complete"


def test_children_that_were_asked_nothing_are_no_agents(tmp_path: Path) -> None:
    data = {"id": "r", "input": "Refund order 7.", "output": "Done.", "tool_calls": [REFUND]}
    (run,) = trajectories(written(tmp_path, {**data, "children": [{"name": "page", "actions": [{"k": 1}]}]}))
    assert [name for name, *_ in calls_of(run)] == ["refunds.create"]


def test_a_record_that_another_one_began_is_doubted(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    records = [{"run_id": "a", "parent_run_id": None, "messages": chat}]
    assert summary_of(written(tmp_path, *records)).trust == "complete"
    records.append({"run_id": "b", "parent_run_id": "a", "messages": [*chat, *chat]})
    assert summary_of(written(tmp_path, *records)).trust == "doubtful"

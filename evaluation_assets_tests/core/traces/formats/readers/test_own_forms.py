"""Runs in forms that benchmarks and programs have of their own: where their calls, results and outcomes stand."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.readers.test_own_counts import ACT, CHAT
from evaluation_assets_tests.core.traces.formats.reading import calls_of, read, trajectories

CALLS = [("look_up", {"order": 7}, "paid")]
TASK = "Is order 7 paid?"
PAIRED: JsonObject = {"actions": ["look_up[7]", "stop"], "observations": ["paid", ""]}
ASKED, SAID = {"role": "user", "content": TASK}, {"role": "assistant", "content": "It is."}


def texts(*said: tuple[str, Any]) -> JsonObject:
    return {"messages": [{"role": role, "content": content} for role, content in said]}


@pytest.mark.parametrize(
    ("paired", "shown"),
    [
        (PAIRED, ["paid", ""]),
        ({**PAIRED, "observations": ["orders", "paid", ""]}, ["paid", ""]),
        ({**PAIRED, "observations": ["paid"]}, ["paid", None]),
    ],
)
def test_lists_of_actions_and_observations_go_together(tmp_path: Path, paired: JsonObject, shown: list[str]) -> None:
    path = written(tmp_path, {"task": TASK, "thoughts": ["I look.", "Done."], **paired})
    (run,) = trajectories(path)
    assert calls_of(run) == [("look_up", {"arguments": "7"}, shown[0]), ("stop", {}, shown[1])]
    assert (run.task, summary_of(path).trust) == (TASK, "complete")
    assert "I look." in run.text


@pytest.mark.parametrize("written_as", [lambda values: values, lambda values: orjson.dumps(values).decode()])
@pytest.mark.parametrize(("names", "calls"), [(["look_up", "count"], 2), (["look_up"], 0)])
def test_tools_their_arguments_and_results_may_be_lists(
    tmp_path: Path, names: list[str], calls: int, written_as: Any
) -> None:
    given, shown = [{"order": 7}, {"rows": 2}], ["paid", "two"]
    columns = {"tools_used": names, "tool_inputs": given, "tool_outputs": shown}
    record = {"question": TASK, **{name: written_as(value) for name, value in columns.items()}, "final_answer": "Yes."}
    path = written(tmp_path, record)
    if calls:
        (run,) = trajectories(path)
        assert calls_of(run) == [("look_up", {"order": 7}, "paid"), ("count", {"rows": 2}, "two")]
        assert (run.task, run.final_answer, summary_of(path).trust) == (TASK, "Yes.", "complete")
    else:
        with pytest.raises(UnreadableDrop):
            trajectories(path)


@pytest.mark.parametrize(
    "trajectory",
    [
        [["look_up[7]", "It is paid."], ["stop", "The end."]],
        [[{"action": "look_up[7]"}, "It is paid."], [{"action": "stop"}, {"observation": "The end."}]],
        [
            {"observation": "Some orders."},
            {"action": "look_up[7]"},
            {"observation": "It is paid."},
            {"action": "stop"},
            {"observation": "The end."},
        ],
    ],
)
def test_actions_and_observations_may_be_pairs_or_take_turns(tmp_path: Path, trajectory: list[Any]) -> None:
    path = written(tmp_path, {"task": TASK, "trajectory": trajectory})
    (run,) = trajectories(path)
    assert calls_of(run) == [("look_up", {"arguments": "7"}, "It is paid."), ("stop", {}, "The end.")]
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize(
    "record",
    [
        {"history": [["Is order 7 paid?", "It is paid."], ["Thank you", "You are welcome."]]},
        {"trajectory": [["A long text that tells all there is.", "short"]]},
    ],
)
def test_other_pairs_of_texts_may_be_what_was_said(tmp_path: Path, record: JsonObject) -> None:
    with pytest.raises(Exception, match="no supported format"):
        read(written(tmp_path, {"task": TASK, **record}))


@pytest.mark.parametrize(
    ("named", "name"), [("tool", "steps"), ("action", "steps"), ("type", "steps"), ("type", "events")]
)
def test_what_a_call_is_given_may_stand_beside_its_name(tmp_path: Path, named: str, name: str) -> None:
    act = {"order": 7, "result": "paid", "duration_ms": 5}
    steps = [{named: "look_up", **act}, {named: "list_items", **act, "limit": 3}]
    steps += [{"thought": "I know."}] if named == "tool" else []
    path = written(tmp_path, {"task": TASK, name: steps, "answer": "It is."})
    (run,) = trajectories(path)
    assert calls_of(run) == [("look_up", {"order": 7}, "paid"), ("list_items", {"order": 7, "limit": 3}, "paid")]
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize("last", ["It is.", "Order 7 is paid."])
def test_the_event_that_ends_a_run_has_its_answer_and_outcome(tmp_path: Path, last: str) -> None:
    events = [
        {"event": "run_start", "task": TASK},
        {"event": "tool_start", "tool": "look_up", "input": {"order": 7}},
        {"event": "tool_end", "tool": "look_up", "output": "paid"},
        {"event": "llm_end", "content": "It is."},
        {"event": "run_end", "answer": last, "success": True},
    ]
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps({**event, "run_id": "a"}) for event in events))
    (run,) = trajectories(path)
    assert (run.task, calls_of(run), run.success) == (TASK, CALLS, True)
    assert run.final_answer is not None and run.final_answer.endswith(last)
    assert run.text.count("It is.") == 1


def test_actions_of_online_mind2web_have_pictures_instead_of_results(tmp_path: Path) -> None:
    actions = ["<input> Where -> TYPE: Rome", "<button> Search -> CLICK"]
    about = {"thoughts": ["I type.", "I search."], "final_result_response": "It is.", "input_image_paths": ["0.png"]}
    path = written(tmp_path, {"task_id": "a", "task": TASK, "action_history": actions, **about})
    (run,) = trajectories(path)
    assert calls_of(run) == [("action", {"action": action}, None) for action in actions]
    assert (run.task_id, run.task, run.final_answer) == ("a", TASK, "It is.")
    assert "I search." in run.text


def test_events_named_after_tools_are_of_an_agent_if_something_was_asked(tmp_path: Path) -> None:
    events: list[JsonObject] = [{"type": "look_up", "order": n, "result": "paid"} for n in range(3)]
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, events)))
    with pytest.raises(Exception, match="no supported format"):
        read(path)
    path.write_bytes(b"\n".join(map(orjson.dumps, [{"type": "user", "content": TASK}, *events])))
    (run,) = trajectories(path)
    assert [arguments for _, arguments, _ in calls_of(run)] == [{"order": 0}, {"order": 1}, {"order": 2}]


def test_lists_of_other_lengths_do_not_go_together(tmp_path: Path) -> None:
    path = written(tmp_path, {"task": TASK, "actions": ["look_up[7]"] * 4, "observations": ["paid"]})
    with pytest.raises(Exception, match="no supported format"):
        read(path)


def test_runs_by_their_numbers_have_their_rewards_and_are_counted(tmp_path: Path) -> None:
    whole = {"query": TASK, "turn_history": {**PAIRED, "rewards": [0, 1]}}
    runs = {str(place): {**whole, "summary": {"max_reward": place / 2}} for place in range(3)}
    path = written(tmp_path, runs)
    assert [run.success for run in trajectories(path)] == [False, None, True]
    assert summary_of(path).trust == "complete"
    broken = {"query": TASK, "turn_history": {"actions": []}}
    summary = summary_of(written(tmp_path, {**runs, "3": broken}))
    assert (summary.trust, "4 runs stated by the source, 3 read" in summary.sentence) == ("partial", True)


@pytest.mark.parametrize(
    "name", ["tool_trace", "tool_executions", "agent_trajectory", "action_history", "interactions"]
)
def test_a_list_of_actions_may_have_any_name(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, {"query": TASK, name: [ACT], "reply": "It is."})
    (run,) = trajectories(path)
    assert (calls_of(run), run.final_answer, summary_of(path).trust) == (CALLS, "It is.", "complete")


@pytest.mark.parametrize(
    "record",
    [
        {"query": TASK, "expected_actions": [ACT]},
        {"query": TASK, "tool_trace": [{"tool": "look_up", "args": {}}]},
        {"query": TASK, "action": "tool_call", "tool_events": [ACT]},
        {"tool_trace": [ACT]},
    ],
)
def test_a_list_under_an_own_name_may_be_something_else(tmp_path: Path, record: JsonObject) -> None:
    with pytest.raises(Exception, match="no supported format"):
        read(written(tmp_path, record))


def test_commands_of_a_task_are_its_steps(tmp_path: Path) -> None:
    steps = [{"command": "ls", "output": "a.txt"}, {"command": "cat b", "output": "none", "exit_code": 1}]
    path = written(tmp_path, {"task": TASK, "steps": steps, "is_resolved": False})
    (run,) = trajectories(path)
    assert [arguments for _, arguments, _ in calls_of(run)] == [{"command": "ls"}, {"command": "cat b"}]
    assert [step.has_failed for step in run.calls] == [False, True]
    assert (run.success, summary_of(path).trust) == (False, "complete")


@pytest.mark.parametrize(
    "steps",
    [
        [{"role": "agent", "action": {"name": "look_up", "args": {"order": 7}}, "observation": "paid"}],
        [{"role": "planner", "content": "I look."}, {"role": "executor", **ACT}],
    ],
)
def test_a_step_may_have_the_role_of_its_agent(tmp_path: Path, steps: list[JsonObject]) -> None:
    path = written(tmp_path, {"task": TASK, "steps": steps})
    (run,) = trajectories(path)
    assert (calls_of(run), summary_of(path).trust) == (CALLS, "complete")
    assert [agent.id for agent in run.agents] == (["agent"] if len(steps) == 1 else ["planner", "executor"])


@pytest.mark.parametrize("is_anew", [False, True])
@pytest.mark.parametrize("names", [("llm_request", "llm_response"), ("messages_in", "message_out")])
def test_requests_with_their_answers_may_be_steps(tmp_path: Path, names: tuple[str, str], is_anew: bool) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": '{"order": 7}'}}
    acting, counts = {"content": None, "tool_calls": [call]}, {"input_tokens": 20, "output_tokens": 4}
    shown = {"role": "user", "content": "paid"} if is_anew else {"role": "tool", "tool_call_id": "c", "content": "paid"}
    later = [ASKED, shown] if is_anew else [ASKED, {"role": "assistant", **acting}, shown]
    steps = [{names[0]: [ASKED], names[1]: acting, **counts}, {names[0]: later, names[1]: SAID, **counts}]
    nested = [{"llm_calls": [step]} for step in steps]
    for record in ({"steps": steps}, {"steps": [*nested, {"llm_calls": []}]}):
        path = written(tmp_path, {"task": {"question": TASK}, **record, "success": True, "agent_answer": "It is."})
        (run,) = trajectories(path)
        assert (run.task, calls_of(run), run.final_answer, run.success) == (TASK, CALLS, "It is.", True)
        assert run.usage == Usage(input_tokens=40, output_tokens=8)
        assert summary_of(path).trust == "complete"


def test_calls_with_their_results_may_be_messages_without_words(tmp_path: Path) -> None:
    path = tmp_path / "dialogue.jsonl"
    call = {"role": "API", "api_name": "look_up", "param_dict": {"order": 7}, "result": "paid"}
    lines = [{"role": "User", "text": TASK}, {"role": "AI", "text": "I look."}, call, {"role": "AI", "text": "It is."}]
    path.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    (run,) = trajectories(path)
    assert (run.task, run.final_answer, calls_of(run)) == (TASK, "It is.", CALLS)
    assert summary_of(path).trust == "complete"


def test_the_content_of_a_message_may_be_a_call(tmp_path: Path) -> None:
    act = {"role": "agent", "thought": "I look.", "content": {"action": "look_up", "input": {"order": 7}}}
    path = written(tmp_path, {"history": [ASKED, act, {"role": "environment", "content": "paid"}, SAID]})
    (run,) = trajectories(path)
    assert (calls_of(run), run.final_answer, summary_of(path).trust) == (CALLS, "It is.", "complete")


@pytest.mark.parametrize("shown", ["paid", [{"state": "paid"}], {"state": "paid"}])
@pytest.mark.parametrize("calls", ["tool_calls", "toolCalls", "tools_called"])
def test_calls_may_stand_beside_the_messages_with_their_results(tmp_path: Path, calls: str, shown: Any) -> None:
    told = {"role": "tool", "tool_call_id": "t-1", "content": shown}
    act = {"tool_name": "look_up", "arguments": {"order": 7}, "success": True, "result": shown}
    path = written(tmp_path, {calls: [act], "log": {"messages": [ASKED, {**SAID, "content": "I look."}, told, SAID]}})
    (run,) = trajectories(path)
    ((name, arguments, result),) = calls_of(run)
    assert (name, arguments, "paid" in (result or "")) == ("look_up", {"order": 7}, True)
    assert (run.final_answer, summary_of(path).trust) == ("It is.", "complete")


def test_calls_beside_an_answer_came_before_it(tmp_path: Path) -> None:
    path = written(tmp_path, {"messages": [ASKED, SAID], "tool_calls": [ACT]})
    (run,) = trajectories(path)
    assert (calls_of(run), run.final_answer, summary_of(path).trust) == (CALLS, "It is.", "complete")


def test_calls_beside_messages_stay_there_if_it_is_not_known_where_they_belong(tmp_path: Path) -> None:
    (run,) = trajectories(path := written(tmp_path, {"messages": [ASKED, SAID] * 2, "tool_calls": [ACT]}))
    assert (list(run.calls), summary_of(path).trust) == ([], "doubtful")


@pytest.mark.parametrize("name", ["trace", "messages"])
def test_messages_may_say_the_class_that_they_have_in_langchain(tmp_path: Path, name: str) -> None:
    made = {"type": "AIMessage", "content": "", "tool_calls": [{"name": "look_up", "args": {"order": 7}}]}
    told = [{"type": "ToolMessage", "content": "paid"}, {"type": "AIMessage", "content": "It is."}]
    path = written(tmp_path, {name: [{"type": "HumanMessage", "content": TASK}, made, *told]})
    (run,) = trajectories(path)
    assert (run.task, calls_of(run), run.final_answer) == (TASK, CALLS, "It is.")
    assert summary_of(path).trust == "complete"


def test_commands_of_autogpt_are_calls(tmp_path: Path) -> None:
    said = {"thoughts": {"text": "I look.", "plan": "-"}, "command": {"name": "look_up", "args": {"order": 7}}}
    turns = [("user", TASK), ("assistant", orjson.dumps(said).decode())]
    path = written(tmp_path, texts(*turns, ("system", "Command look_up returned: paid"), ("assistant", "It is.")))
    (run,) = trajectories(path)
    assert (calls_of(run), run.final_answer, summary_of(path).trust) == (CALLS, "It is.", "complete")
    assert "I look." in run.text


def test_requests_of_http_are_calls_that_the_user_answers(tmp_path: Path) -> None:
    asked, posted = "GET http://h/orders?id=7", 'POST http://h/orders\n{"id": 8}'
    told = "Here is the response from the GET request: paid"
    turns = [
        ("user", TASK),
        ("agent", asked),
        ("user", told),
        ("agent", posted),
        ("user", "Accepted."),
        ("agent", "F(1)"),
    ]
    (run,) = trajectories(path := written(tmp_path, texts(*turns)))
    assert calls_of(run) == [
        ("GET", {"url": "http://h/orders?id=7"}, "paid"),
        ("POST", {"url": "http://h/orders", "body": {"id": 8}}, "Accepted."),
    ]
    assert (len(run.turns), run.final_answer, summary_of(path).trust) == (1, "F(1)", "complete")


def test_messages_of_the_one_who_runs_the_code_are_turned_round(tmp_path: Path) -> None:
    code, shown = "```python\nprint(1)\n```", "exitcode: 0 (execution succeeded)\nCode output: 1"
    path = written(tmp_path, texts(("assistant", TASK), ("user", code), ("assistant", shown), ("user", "One.")))
    (run,) = trajectories(path)
    assert (run.task, calls_of(run), run.final_answer) == (TASK, [("python", {"code": "print(1)"}, shown)], "One.")


def test_the_response_of_a_request_may_be_the_message_itself(tmp_path: Path) -> None:
    used = {"prompt_tokens": 9, "completion_tokens": 3}
    requests = [
        {"request": {"messages": CHAT[:1]}, "response": {**CHAT[1], "usage": used}},
        {"request": {"messages": CHAT[:3]}, "response": {**CHAT[3], "usage": used}},
    ]
    (run,) = trajectories(path := written(tmp_path, *requests))
    assert (len(run.calls), run.final_answer, summary_of(path).trust) == (1, "It is.", "complete")
    assert run.usage is not None and (run.usage.input_tokens, run.usage.output_tokens) == (18, 6)


@pytest.mark.parametrize("is_message", [False, True])
def test_requests_of_one_conversation_may_be_inputs_with_outputs(tmp_path: Path, *, is_message: bool) -> None:
    answers = [message if is_message else {"choices": [{"message": message}]} for message in CHAT[1::2]]
    inputs = [{"model": "model-a", "messages": CHAT[:1]}, {"model": "model-a", "messages": CHAT[:3]}]
    lines = [{"input": asked, "output": said} for asked, said in zip(inputs, answers, strict=True)]
    (run,) = trajectories(path := written(tmp_path, *lines))
    assert (len(run.calls), run.final_answer, summary_of(path).trust) == (1, "It is.", "complete")


@pytest.mark.parametrize("output", ["It is.", {"messages": CHAT}, {"messages": CHAT[1:]}])
@pytest.mark.parametrize("given", [CHAT[:1], CHAT[:3]])
def test_an_output_may_be_a_text_or_all_messages(tmp_path: Path, given: list[JsonObject], output: Any) -> None:
    (run,) = trajectories(path := written(tmp_path, {"input": {"messages": given}, "output": output}))
    assert (run.final_answer, summary_of(path).trust) == ("It is.", "complete")


@pytest.mark.parametrize("name", ["response", "completion", "output", "reply"])
@pytest.mark.parametrize("given", [{"messages": CHAT[:3]}, {"messages": [ASKED]}])
def test_the_last_answer_may_stand_beside_the_messages(tmp_path: Path, given: JsonObject, name: str) -> None:
    (run,) = trajectories(path := written(tmp_path, {**given, name: "It is."}))
    assert (run.task, run.final_answer, summary_of(path).trust) == (TASK, "It is.", "complete")


@pytest.mark.parametrize("names", [("prompt", "completion"), ("prompt", "output"), ("input", "output")])
def test_what_was_given_may_be_messages_and_the_answer_a_text(tmp_path: Path, names: tuple[str, str]) -> None:
    (run,) = trajectories(path := written(tmp_path, {names[0]: [ASKED], names[1]: "It is."}))
    assert (run.task, run.final_answer, summary_of(path).trust) == (TASK, "It is.", "complete")


def test_an_answer_with_the_results_of_its_calls_comes_after_them(tmp_path: Path) -> None:
    call = {"name": "look_up", "arguments": {"order": 7}, "result": "paid"}
    used = {"input_tokens": 9, "output_tokens": 3}
    path = written(tmp_path, {"messages": [ASKED, {**SAID, "tool_calls": [call], "usage": used}]})
    (run,) = trajectories(path)
    assert (calls_of(run), run.final_answer, summary_of(path).trust) == (CALLS, "It is.", "complete")
    assert run.usage is not None and (run.usage.input_tokens, run.usage.output_tokens) == (9, 3)


@pytest.mark.parametrize(
    ("about", "success"),
    [
        ({"acc": 1}, True),
        ({"task_completed": False}, False),
        ({"result": {"taskCompleted": True}}, True),
        ({"metrics": {"success": 1.0, "steps": 3}}, True),
        ({"metrics": {"passed": 1, "failed": 0}}, None),
        ({"info": {"resolved": False}}, False),
        ({"summary": {"max_reward": 1.0}}, True),
        ({"scores": {"success": False}}, False),
        ({"judge_result": {"is_correct": True}}, True),
        ({"final_reward": 0.0}, False),
        ({"em": 1}, True),
        ({"all_passed": False}, False),
        ({"label": "success"}, True),
        ({"label": True}, None),
    ],
)
def test_an_outcome_may_have_other_names(tmp_path: Path, about: JsonObject, success: bool | None) -> None:
    (run,) = trajectories(path := written(tmp_path, {"messages": CHAT, **about}))
    assert (run.success, summary_of(path).trust) == (success, "complete")


@pytest.mark.parametrize(
    "about",
    [
        {"llm_usage": {"prompt_tokens": 9, "completion_tokens": 3}},
        {"total_tokens": {"prompt": 9, "completion": 3}},
        {"num_input_tokens": 9, "num_output_tokens": 3},
        {"metrics": {"tokens_input": 9, "tokens_output": 3}},
    ],
)
def test_tokens_may_have_other_names(tmp_path: Path, about: JsonObject) -> None:
    (run,) = trajectories(
        written(tmp_path, {"messages": CHAT, **about, "metrics": {"accumulated_cost": 0.5, **about.get("metrics", {})}})
    )
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cost_usd) == (9, 3, 0.5)


@pytest.mark.parametrize(
    "about",
    [
        {"execution_time": 2.5, "model_id": "model-a"},
        {"duration_ms": 2500, "config": {"model": "model-a"}},
        {"metrics": {"duration_s": 2.5}, "modelName": "model-a"},
    ],
)
def test_a_duration_a_model_and_a_reference_may_have_other_names(tmp_path: Path, about: JsonObject) -> None:
    record = {"messages": CHAT, "golden_answer": "paid", "predicted_answer": "Paid.", **about}
    (run,) = trajectories(written(tmp_path, record))
    assert (run.duration_s, run.agents[0].model, run.reference_answer, run.final_answer) == (
        2.5, "model-a", "paid", "Paid.",
    )  # fmt: skip


def test_outcome_and_reference_of_tagged_text_may_have_other_names(tmp_path: Path) -> None:
    text = "<search_tool><look>7</look></search_tool><result>paid</result><answer>It is.</answer>"
    record = {"question": TASK, "raw_response": text, "is_correct": False, "golden_answer": "no"}
    (run,) = trajectories(written(tmp_path, record))
    assert (run.format, run.success, run.reference_answer, run.final_answer) == ("tagged", False, "no", "It is.")


def test_calls_in_json_of_a_text_are_doubted(tmp_path: Path) -> None:
    said = '{"role": "assistant", "tool_calls": [{"function": {"name": "look_up", "arguments": "{}"}}]}'
    assert summary_of(written(tmp_path, texts(("user", TASK), ("assistant", said)))).trust == "doubtful"


@pytest.mark.parametrize(
    ("beside", "task"),
    [
        ({"user_prompt": TASK}, TASK),
        ({"initialQuery": TASK}, TASK),
        ({"task": TASK, "user_prompt": "You are asked this."}, TASK),
        ({"user_prompt": TASK, "original_question": "Is it?"}, ""),
        ({"system_prompt": TASK}, ""),
    ],
)
def test_what_was_asked_may_have_a_name_of_two_words(tmp_path: Path, beside: JsonObject, task: str) -> None:
    step = {"step_number": 1, "tool_name": "look_up", "tool_args": {"order": 7}, "result": "paid"}
    path = written(tmp_path, {**beside, "agent_model_name": "model-a", "steps": [step], "final_result": "It is."})
    (run,) = trajectories(path)
    assert (run.task, calls_of(run), run.agents[0].model) == (task, CALLS, "model-a")


@pytest.mark.parametrize(
    ("beside", "answer"),
    [
        ({"final_message": "It is."}, "It is."),
        ({"agentReply": "It is."}, "It is."),
        ({"answer": "It is.", "model_text": "Hm."}, "It is."),
        ({"final_message": "It is.", "bot_reply": "Yes."}, None),
    ],
)
def test_the_answer_may_have_a_name_of_two_words(tmp_path: Path, beside: JsonObject, answer: str | None) -> None:
    call = {"name": "look_up", "args": {"order": 7}, "ordinal": 0, "result": "paid"}
    (run,) = trajectories(written(tmp_path, {"prompt": TASK, "tool_invocations": [call], **beside}))
    assert (run.task, calls_of(run), run.final_answer) == (TASK, CALLS, answer)


def test_raw_responses_of_one_run_are_no_runs(tmp_path: Path) -> None:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is."}]}
    call = {"type": "function_call", "call_id": "c", "name": "look_up", "arguments": "{}"}
    with pytest.raises(Exception, match="no supported format"):
        read(written(tmp_path, {"input": TASK, "raw_responses": [{"output": [call]}, {"output": [said]}]}))


def test_thoughts_may_be_a_list_beside_actions_that_are_objects(tmp_path: Path) -> None:
    acts = [{"tool": "look_up", "args": {"order": 7}}, {"tool": "stop", "args": {}}]
    record = {"question": TASK, "thoughts": ["I look.", "Done."], "actions": acts, "observations": ["paid", "end"]}
    (run,) = trajectories(path := written(tmp_path, {**record, "answer": "It is."}))
    assert calls_of(run) == [*CALLS, ("stop", {}, "end")]
    assert [run.piece(step.thought) for step in run.steps if step.thought] == ["I look.", "Done."]
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize("result", [{"result": "paid"}, {}])
def test_tools_of_an_exchange_are_calls_if_they_gave_something_back(tmp_path: Path, result: JsonObject) -> None:
    first = {"user": TASK, "assistant": "It is.", "tools": [{"name": "look_up", "args": {"order": 7}, **result}]}
    (run,) = trajectories(written(tmp_path, {"turns": [first, {"user": "Thanks.", "assistant": "Bye.", "tools": []}]}))
    assert (calls_of(run), len(run.turns)) == (CALLS if result else [], 2)


NAMED = [{"name": "mail", "result": "sent"}, {"name": "look_up", "result": "paid"}]
BOTH = [{"name": "look_up", "args": {"order": 7}}, {"name": "mail", "args": {"to": "Ada"}}]


@pytest.mark.parametrize(
    "record",
    [
        {"task": TASK, "steps": [{"tool_calls": BOTH, "tool_results": NAMED}]},
        {"messages": [ASKED, {"role": "assistant", "tool_calls": BOTH}, {"role": "tool", "results": NAMED}, SAID]},
    ],
)
def test_results_in_another_order_belong_to_the_calls_of_the_tools_that_they_name(
    tmp_path: Path, record: JsonObject
) -> None:
    (run,) = trajectories(written(tmp_path, record))
    assert calls_of(run) == [*CALLS, ("mail", {"to": "Ada"}, "sent")]


def test_runs_of_several_models_are_not_one_although_they_say_the_same(tmp_path: Path) -> None:
    runs = {name: {"messages": [ASKED, SAID], "success": name == "model-a"} for name in ("model-a", "model-b")}
    with pytest.raises(Exception, match="no supported format"):
        read(written(tmp_path, {name.replace("-", "_"): run for name, run in runs.items()}))


def test_what_was_asked_may_stand_in_inputs(tmp_path: Path) -> None:
    act = {"tool": "look_up", "input": {"order": 7}, "output": "paid"}
    (run,) = trajectories(
        written(tmp_path, {"inputs": {"question": TASK}, "outputs": {"answer": "It is.", "steps": [act]}})
    )
    assert (run.task, calls_of(run), run.final_answer) == (TASK, CALLS, "It is.")


@pytest.mark.parametrize(("asked", "said"), [("query", "response"), ("input", "output"), ("question", "answer")])
@pytest.mark.parametrize("name", ["turns", "exchanges"])
def test_turns_may_be_questions_with_their_answers(tmp_path: Path, name: str, asked: str, said: str) -> None:
    first = {asked: TASK, said: "It is.", "tool_calls": [{"name": "look_up", "args": {"order": 7}, "result": "paid"}]}
    path = written(tmp_path, {"session": "s", name: [first, {asked: "And 8?", said: "No.", "tool_calls": []}]})
    (run,) = trajectories(path)
    assert ([turn.user_message for turn in run.turns], calls_of(run)) == ([TASK, "And 8?"], CALLS)
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize(
    "record",
    [
        {"task": "Pay all orders.", "turns": [{"input": "You are a clerk. Pay.", "output": "I look."}]},
        {"turns": [{"tool": "search", "query": "order 7", "response": "paid"}]},
    ],
)
def test_requests_to_a_model_and_calls_are_no_turns_of_a_user(tmp_path: Path, record: JsonObject) -> None:
    with pytest.raises(Exception, match="no supported format"):
        read(written(tmp_path, record))


def test_the_answer_beside_a_rewarded_completion_is_the_right_one(tmp_path: Path) -> None:
    rollout = {"prompt": [ASKED], "completion": [SAID], "answer": "yes", "task": "default"}
    rewarded, other = trajectories(written(tmp_path, {**rollout, "reward": 1.0}, {**rollout, "prompt": [ASKED]}))
    assert (rewarded.reference_answer, other.reference_answer) == ("yes", None)
    assert (rewarded.task, rewarded.success) == (TASK, True)


@pytest.mark.parametrize("given", ["Find x.", {"role": "user", "content": "Find x."}])
@pytest.mark.parametrize("key", ["prompt", "input"])
def test_a_prompt_beside_answers_is_what_the_user_said(tmp_path: Path, key: str, given: Any) -> None:
    record = {key: given, "messages": [{"role": "assistant", "content": "x is 2."}]}
    (run,) = trajectories(written(tmp_path, record))
    assert (run.task, run.turns[0].user_message, run.final_answer) == ("Find x.", "Find x.", "x is 2.")
    answered = {"prompt": "You are a bot.", "messages": [{"role": "user", "content": "Find x."}, *record["messages"]]}
    (run,) = trajectories(written(tmp_path, answered))
    assert run.task == "Find x."

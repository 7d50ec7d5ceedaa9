"""OpenAI chat messages, tau-bench and tau2-bench: by their fixtures, by small drops, and by recorded runs of others."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.formats.messages.contents import split_thought
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, read, recorded_usage, trajectories
from evaluation_assets_tests.third_party import data

TAU = "tau-bench/gpt-4o-airline.even-tasks.json"
TAU2_BASE = "tau2-bench/ab/gpt-4.1_airline_default_gpt-4.1_1trials.json"
TAU2_TUNED = "tau2-bench/ab/ft_gpt-4.1-2025-04-14_sierra_tau2-full-sft_BzrYdMNm_airline_default_gpt-4.1_1trials.json"


def saved(folder: Path, records: Sequence[Any], name: str = "drop.jsonl") -> Path:
    path = folder / name
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    return path


def names_of(run: Trajectory) -> list[str]:
    return [step.call.name for step in run.calls if step.call]


def errors_of(run: Trajectory) -> list[str]:
    return [step.result.error for step in run.calls if step.result and step.result.error]


# OpenAI


def test_reasoning_in_tags_is_thought_and_no_message() -> None:
    run = trajectories(FIXTURES / "openai_messages")[0]
    assert [run.piece(step.thought) for step in run.steps if step.thought] == ["I look it up.", "Found."]
    assert [run.piece(step.message) for step in run.steps if step.message] == ["<answer>Lima</answer>"]


def test_each_of_several_calls_stands_before_its_own_result() -> None:
    run = trajectories(FIXTURES / "openai_messages")[0]
    assert names_of(run) == ["search", "mcp__atlas__lookup"]
    assert [run.piece(step.result.content) for step in run.calls if step.result] == [
        "Lima is the capital of Peru.",
        '{"error": "unknown country"}',
    ]
    assert errors_of(run) == ["unknown country"]
    assert [clip.tool_type for clip in clips_of(run)] == ["search", "atlas", "final"]


def test_outcome_and_reference_never_reach_the_text() -> None:
    run = trajectories(FIXTURES / "openai_messages")[0]
    assert (run.success, run.reference_answer, run.final_answer) == (True, "Lima", "Lima")
    assert run.labels == {"reward_info": {"reward": 1, "basis": "exact"}}
    assert "exact" not in run.text


def test_what_is_no_text_is_named_and_counted() -> None:
    unmapped = UnmappedFields()
    run = trajectories(FIXTURES / "openai_messages", unmapped=unmapped)[1]
    assert run.task == "What is in this picture?\n[image: not PNG, JPEG, GIF or WebP, 3 bytes]"
    assert unmapped.table() == [("messages[].content[].image_url", 1)]


def test_arguments_that_are_no_json_are_kept_as_written() -> None:
    run = trajectories(FIXTURES / "openai_messages")[1]
    call = run.calls[0].call
    assert call is not None
    assert run.piece(call.raw) == "not json"
    assert run.arguments(call) == {"arguments": "not json"}


def test_requests_that_repeat_the_conversation_are_one_with_tokens_counted_once() -> None:
    run = trajectories(FIXTURES / "openai_messages")[2]
    assert [len(turn.interactions) for turn in run.turns] == [1]
    assert run.final_answer == "5"
    assert recorded_usage(run) == Usage(input_tokens=50, cached_tokens=16, output_tokens=7)


@pytest.mark.parametrize(
    ("request_key", "response_key"), [("request", "response"), ("request_body", "response_body"), (None, "response")]
)
def test_logs_of_gateways_are_requests_with_their_responses(
    tmp_path: Path, request_key: str | None, response_key: str
) -> None:
    """Pairs as proxies and Helicone log them, and LiteLLM's standard logging payload, without a request object."""
    call = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Is order 17 paid?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "paid"},
    ]
    answer = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "It is paid."}}
    response = {"model": "model-a", "choices": [answer], "usage": {"prompt_tokens": 10, "completion_tokens": 2}}
    request = {"model": "model-a", "messages": messages}
    record = {**(request if request_key is None else {request_key: request}), response_key: response}
    (run,) = trajectories(saved(tmp_path, [record]))
    assert (len(run.calls), run.final_answer, run.agents[0].model) == (1, "It is paid.", "model-a")
    assert run.usage == Usage(input_tokens=10, output_tokens=2)
    wrapped = {"request": {"url": "/chat", "body": request}, "response": {"status": 200, "body": response}}  # Portkey
    logged = {"function_name": "create", "function_kwargs": request, "request_response": response}  # PromptLayer
    for each in ({**wrapped, "costUSD": 0.5}, {**logged, "cost": 0.5}):
        (same,) = trajectories(path := saved(tmp_path, [each]))
        assert (same.text, same.agents) == (run.text, run.agents)
        assert same.usage == Usage(input_tokens=10, output_tokens=2, cost_usd=0.5)
        assert summary_of(path).trust == "complete"


@pytest.mark.parametrize(("without", "trust"), [((), "complete"), ((0,), "partial"), ((1,), "partial")])
def test_answers_without_tokens_among_others_are_missing_requests(
    tmp_path: Path, without: Sequence[int], trust: str
) -> None:
    answers = [
        {"role": "assistant", "content": f"{n}", **({} if n in without else {"usage": {"input_tokens": 5}})}
        for n in range(3)
    ]
    asked = [{"role": "user", "content": f"Question {n}"} for n in range(3)]
    messages = [message for pair in zip(asked, answers, strict=True) for message in pair]
    summary = summary_of(written(tmp_path, {"messages": messages}))
    assert (summary.trust, len(summary.gaps)) == (trust, trust == "partial")


@pytest.mark.parametrize(
    "about",
    [
        {"total_input_tokens": 10, "total_output_tokens": 4, "cost_usd": 0.5, "grade": {"passed": False}},
        {"prompt_tokens": 10, "completion_tokens": 4, "total_cost": 0.5, "solved": False},
    ],
)
def test_tokens_cost_and_grade_of_a_run_may_stand_in_its_record(tmp_path: Path, about: JsonObject) -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    (run,) = trajectories(written(tmp_path, {"messages": messages, **about}))
    assert run.usage == Usage(input_tokens=10, output_tokens=4, cost_usd=0.5)
    assert run.success is False


@pytest.mark.parametrize(
    ("about", "success"),
    [
        ({"won": True}, True),
        ({"successful": 0}, False),
        ({"goal_achieved": "yes"}, True),
        ({"eval_results": {"is_passed": False}}, False),
        ({"grading_result": {"pass": True, "score": 0.2}}, True),
        ({"won": 3}, None),
        ({"judgment": "a close call"}, None),
    ],
)
def test_an_outcome_has_many_names_and_is_yes_or_no(tmp_path: Path, about: JsonObject, success: bool | None) -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    (run,) = trajectories(written(tmp_path, {"messages": messages, **about}))
    assert run.success is success


def test_messages_of_cohere_have_plans_and_documents(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    found = [{"type": "document", "document": {"data": '{"paid": true}'}}]
    messages = [
        {"role": "user", "content": "Is order 17 paid?"},
        {"role": "assistant", "tool_plan": "I look it up.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": found},
    ]
    answer = {"role": "assistant", "content": [{"type": "text", "text": "It is paid."}]}
    usage = {"billed_units": {"input_tokens": 4}, "tokens": {"input_tokens": 30, "output_tokens": 6}}
    response = {"id": "r-1", "message": answer, "finish_reason": "MAX_TOKENS", "usage": usage}
    (run,) = trajectories(saved(tmp_path, [{"request": {"messages": messages}, "response": response}]))
    assert calls_of(run) == [("look_up", {}, '{"paid": true}')]
    assert "I look it up." in run.text and "It is paid." in run.text
    assert (run.usage, run.flags) == (Usage(input_tokens=30, output_tokens=6), ("truncated",))
    assert run.final_answer == "It is paid."


def test_responses_of_ollama_are_one_conversation_with_their_tokens(tmp_path: Path) -> None:
    called = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look_up", "arguments": {}}}]}
    asked = [{"role": "user", "content": "Is order 17 paid?"}]
    again = [*asked, called, {"role": "tool", "tool_name": "look_up", "content": "paid"}]
    counts = {"done": True, "done_reason": "stop", "prompt_eval_count": 20, "eval_count": 3}
    said = [called, {"role": "assistant", "content": "It is paid."}]
    records = [
        {"request": {"messages": messages}, "response": {"model": "model-a", "message": message, **counts}}
        for messages, message in zip((asked, again), said, strict=True)
    ]
    (run,) = trajectories(saved(tmp_path, records))
    assert calls_of(run) == [("look_up", {}, "paid")]
    assert (run.final_answer, run.agents[0].model) == ("It is paid.", "model-a")
    assert run.usage == Usage(input_tokens=40, output_tokens=6)
    (alone,) = trajectories(saved(tmp_path, [records[1]["response"]]))
    assert (alone.final_answer, alone.usage) == ("It is paid.", Usage(input_tokens=20, output_tokens=3))


def test_messages_one_a_line_are_one_conversation(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    assert [run.final_answer for run in trajectories(saved(tmp_path, messages))] == ["hello"]
    array = tmp_path / "array.json"
    array.write_bytes(orjson.dumps(messages, option=orjson.OPT_INDENT_2))
    assert [run.final_answer for run in trajectories(array)] == ["hello"]


@pytest.mark.parametrize("name", ["conv_id", "dialogueId", "dialog_id", "Conversation ID", "SessionID", "chat-id"])
def test_the_conversation_of_a_row_has_many_names(tmp_path: Path, name: str) -> None:
    rows = [
        {name: conversation, "turn_id": turn, "speaker": speaker, "utterance": text}
        for conversation, said in ((1, ("Is it paid?", "Yes.")), (2, ("Is it sent?", "No.")))
        for turn, (speaker, text) in enumerate(zip(("USER", "SYSTEM"), said, strict=True))
    ]
    path = written(tmp_path, *rows)
    found = [(run.task, run.final_answer) for run in trajectories(path)]
    assert found == [("Is it paid?", "Yes."), ("Is it sent?", "No.")]
    assert summary_of(path).trust == "complete"


NEWEST_FIRST = [
    {"role": "assistant", "content": "It is paid."},
    {"role": "tool", "tool_call_id": "c1", "content": "paid"},
    {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "look_up", "arguments": "{}"}}]},
    {"role": "user", "content": "Is it paid?"},
]


@pytest.mark.parametrize(
    "times",
    [(1777629604, 1777629603, 1777629603, 1777629600), ("2026-05-04", "2026-05-03", "2026-05-02", "2026-05-01")],
)
@pytest.mark.parametrize("in_lines", [True, False])
def test_messages_that_begin_with_the_newest_are_turned_round(
    tmp_path: Path, times: Sequence[Any], in_lines: bool
) -> None:
    messages = [{**message, "created_at": time} for message, time in zip(NEWEST_FIRST, times, strict=True)]
    path = written(tmp_path, *messages) if in_lines else written(tmp_path, {"messages": messages})
    (run,) = trajectories(path)
    assert (run.task, run.final_answer, calls_of(run)) == ("Is it paid?", "It is paid.", [("look_up", {}, "paid")])
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize("times", [(3, 2, 4, 1), (4, None, 2, 1), (1, 2, 3, 4), (1, 1, 1, 1), (4, 3, 2, 1)])
def test_other_messages_stay_in_their_order(tmp_path: Path, times: Sequence[int | None]) -> None:
    day = 1777629600
    messages = [
        {**message, "created_at": None if time is None else day + time}
        for message, time in zip(reversed(NEWEST_FIRST), times, strict=True)
    ]
    (run,) = trajectories(written(tmp_path, {"messages": messages}))
    assert (run.task, run.final_answer) == ("Is it paid?", "It is paid.")


def test_interleaved_messages_are_told_apart_by_the_conversation_that_they_name(tmp_path: Path) -> None:
    said = [
        ("A", "user", "Where is A?"),
        ("B", "user", "Where is B?"),
        ("A", "assistant", "Here."),
        ("B", "assistant", "There."),
    ]
    lines = [{"conversation_id": name, "role": role, "content": text} for name, role, text in said]
    runs = trajectories(saved(tmp_path, lines))
    assert [(run.task, run.final_answer) for run in runs] == [("Where is A?", "Here."), ("Where is B?", "There.")]


def test_results_without_ids_go_to_the_calls_of_their_tools(tmp_path: Path) -> None:
    calls = [{"function": {"name": name, "arguments": "{}"}} for name in ("get_price", "delete_file")]
    results = [("delete_file", "Error: permission denied"), ("get_price", "42 EUR")]
    messages = [
        {"role": "user", "content": "Both, please."},
        {"role": "assistant", "tool_calls": calls},
        *({"role": "tool", "tool_name": name, "content": content} for name, content in results),
    ]
    (run,) = trajectories(saved(tmp_path, [{"messages": messages}]))
    found = {step.call.name: run.piece(step.result.content) for step in run.calls if step.call and step.result}
    assert found == {"get_price": "42 EUR", "delete_file": "Error: permission denied"}


def test_a_reply_that_a_log_holds_twice_is_read_once(tmp_path: Path) -> None:
    reply = {"role": "assistant", "content": "ANSWER"}
    record = {"messages": [{"role": "user", "content": "Why?"}, reply], "response": {"choices": [{"message": reply}]}}
    (run,) = trajectories(saved(tmp_path, [record]))
    assert run.text.count("ANSWER") == 1 and run.final_answer == "ANSWER"


def test_a_tools_output_as_an_object_is_its_result(tmp_path: Path) -> None:
    call = {"id": "1", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": {"error": "boom"}},
    ]
    (run,) = trajectories(saved(tmp_path, [{"messages": messages}]))
    (step,) = run.calls
    assert step.result is not None and json.loads(run.piece(step.result.content)) == {"error": "boom"}


def test_what_a_called_agent_gives_back_is_the_result_of_the_call(tmp_path: Path) -> None:
    call = {"id": "c1", "function": {"name": "delegate", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "How many ships sank?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "assistant-subagent-7", "tool_call_id": "c1", "content": "Three ships sank."},
        {"role": "critic", "content": "Check it."},
        {"role": "assistant", "content": "Three."},
    ]
    (run,) = trajectories(saved(tmp_path, [{"messages": messages}]))
    assert [run.piece(step.result.content) for step in run.calls if step.result] == ["Three ships sank."]
    assert [run.piece(step.message) for step in run.steps if step.message] == ["Check it.", "Three."]


def test_lists_of_messages_one_a_line_are_conversations(tmp_path: Path) -> None:
    lists = [[{"role": "user", "content": "hi"}, {"role": "assistant", "content": f"hello {n}"}] for n in range(3)]
    assert [run.final_answer for run in trajectories(saved(tmp_path, lists))] == ["hello 0", "hello 1", "hello 2"]


def test_a_late_result_finds_its_call_in_an_earlier_message(tmp_path: Path) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "slow", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "assistant", "content": "Still waiting."},
        {"role": "tool", "tool_call_id": "a", "content": "done"},
    ]
    run = trajectories(saved(tmp_path, [{"messages": messages}]))[0]
    assert [run.piece(step.result.content) for step in run.calls if step.result] == ["done"]


@pytest.mark.parametrize("messages", [[], None, "text", [1], [{"role": "user", "content": " "}]])
def test_a_record_in_which_nobody_speaks_is_rejected(tmp_path: Path, messages: Any) -> None:
    good = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]}
    items = read(saved(tmp_path, [good, {"messages": messages}]))
    assert [item.reason for item in items if isinstance(item, Rejection)] == ["no_trajectory_text"]


@pytest.mark.parametrize(
    "answer", [[{"role": "assistant", "content": ""}], [{"role": "assistant", "content": None}], []]
)
def test_a_failed_run_without_an_answer_counts(tmp_path: Path, answer: list[Any]) -> None:
    good = {"success": True, "messages": [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]}
    failed = {"id": "f", "task_id": "b", "success": False, "messages": [{"role": "user", "content": "3+3?"}, *answer]}
    _, run = trajectories(saved(tmp_path, [good, failed]))
    assert (run.id, run.success, run.flags, run.task) == ("f", False, ("no_answer",), "3+3?")
    assert [agent.id for agent in run.agents] == ["agent"]


@pytest.mark.parametrize("said", [{"success": False}, {"question": "3+3?"}])
def test_a_record_without_messages_is_a_run_only_if_it_states_a_task_and_an_outcome(
    tmp_path: Path, said: dict[str, Any]
) -> None:
    good = {"messages": [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]}
    empty = {"id": "e", "messages": []}
    (_, rejected), (_, run) = (
        read(saved(tmp_path, [good, empty | each])) for each in (said, {"question": "3+3?", "success": False})
    )
    assert isinstance(rejected, Rejection) and isinstance(run, Trajectory)
    assert (run.success, run.flags, run.task) == (False, ("no_answer",), "3+3?")


def test_values_nested_too_deep_to_be_stored_are_rejected(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    messages = [{"role": "assistant", "content": "", "tool_calls": [{"id": "a", "name": "f", "arguments": deep}]}]
    items = read(saved(tmp_path, [{"messages": messages}]))
    assert [item.reason for item in items if isinstance(item, Rejection)] == ["bad_json"]


@pytest.mark.parametrize(
    ("content", "thought", "said"),
    [
        ("<think>a</think>b", "a", "b"),
        ("a</think>b", "a", "b"),
        ("<think>cut off", "cut off", ""),
        ("<think></think>b", None, "b"),
        ("b <think>", None, "b <think>"),
        ("b", None, "b"),
    ],
)
def test_reasoning_in_front_is_split_off(content: str, thought: str | None, said: str) -> None:
    assert split_thought(content) == (thought, said)


def test_recorded_search_agents() -> None:
    runs = trajectories(data("agent-process-bench/hotpotqa.even-queries.jsonl"))
    assert len(runs) == len({run.id for run in runs}) == 125
    assert sum(run.success is True for run in runs) == 83
    assert sum(len(run.calls) for run in runs) == 257
    assert sum("step_limit" in run.flags for run in runs) == 1
    assert all(run.reference_answer for run in runs)
    assert all((run.final_answer is None) == ("step_limit" in run.flags) for run in runs)


# tau-bench


def test_a_run_that_was_cut_off_has_no_reward_info() -> None:
    finished, cut_off = trajectories(FIXTURES / "tau_bench")
    assert (finished.id, finished.success, finished.flags) == ("3", True, ())
    assert (cut_off.id, cut_off.success, cut_off.flags) == ("3#1", False, ("step_limit",))


def test_gold_actions_and_the_users_instruction_are_labels_only() -> None:
    run = trajectories(FIXTURES / "tau_bench")[0]
    assert run.labels["expected_calls"] == [{"name": "cancel_order", "arguments": {"order_id": "W1"}}]
    assert run.labels["expected_outputs"] == ["12.50"]
    assert run.task == "Cancel my order W1."
    assert run.labels["instruction"] not in run.text


def test_a_call_id_that_comes_twice_gets_both_results() -> None:
    run = trajectories(FIXTURES / "tau_bench")[0]
    assert [step.result is not None for step in run.calls] == [True, True]
    assert errors_of(run) == ["Error: order not found"]


def test_recorded_airline_runs() -> None:
    unmapped = UnmappedFields()
    runs = trajectories(data(TAU), unmapped=unmapped)
    assert len(runs) == 100
    assert sum(len(run.calls) for run in runs) == 577
    assert sum(len(run.labels["expected_calls"]) for run in runs) == 336
    assert sum(run.success is True for run in runs) == 49
    assert sum(len(errors_of(run)) for run in runs) == 21
    assert all(error.startswith("Error") for run in runs for error in errors_of(run))
    assert sum(run.flags == ("step_limit",) for run in runs) == 2
    assert {(run.task_id, run.trial) for run in runs} == {(str(n), t) for n in range(0, 50, 2) for t in range(4)}
    assert unmapped.table() == []


# tau2-bench


def matches(run: Trajectory, expected: JsonObject) -> bool:
    """The benchmark's rule: some call of the requestor has the name and the arguments that are compared."""
    if expected["requestor"] == "user":
        calls = [(call["name"], call["arguments"]) for call in run.labels.get("user_calls", [])]
    else:
        calls = [(step.call.name, run.arguments(step.call)) for step in run.calls if step.call]
    compared = expected.get("compare_args")

    def relevant(arguments: JsonObject | None) -> JsonObject:
        return {key: value for key, value in (arguments or {}).items() if compared is None or key in compared}

    return any(
        name == expected["name"] and relevant(arguments) == relevant(expected["arguments"]) for name, arguments in calls
    )


def test_what_the_user_does_on_a_device_is_no_call_of_the_agent() -> None:
    run = trajectories(FIXTURES / "tau2_bench")[0]
    assert names_of(run) == ["get_line", "enable_roaming"]
    assert run.turns[-1].user_message == (
        "[on the user's device] toggle_roaming({})\n[it shows] Roaming: ON\nIt works. ###STOP###"
    )
    assert [call["name"] for call in run.labels["expected_calls"]] == ["enable_roaming"]
    assert [call["name"] for call in run.labels["expected_user_calls"]] == ["toggle_roaming"]


def test_recorded_trials_keep_their_numbers_in_any_order() -> None:
    runs = trajectories(FIXTURES / "tau2_bench")
    assert [(run.id, run.trial) for run in runs] == [("roaming#1", 1), ("roaming", 0)]


def test_a_cost_of_zero_is_unknown_and_time_never_runs_backwards() -> None:
    priced, unpriced = trajectories(FIXTURES / "tau2_bench")
    assert priced.usage == Usage(input_tokens=230, output_tokens=29, cost_usd=0.003)
    assert recorded_usage(unpriced) == Usage(input_tokens=90, output_tokens=3)
    assert [step.latency_ms for step in priced.steps] == [None, 2500.0, 500.0, 1000.0]
    assert [step.latency_ms for step in unpriced.steps] == [None]


def test_a_simulation_without_reward_has_no_outcome() -> None:
    unfinished = trajectories(FIXTURES / "tau2_bench")[1]
    assert unfinished.success is None
    assert "reward" not in unfinished.labels
    assert "step_limit" in unfinished.flags


def test_gold_actions_of_the_fixture_match_as_recorded() -> None:
    run = trajectories(FIXTURES / "tau2_bench")[0]
    expected = [*run.labels["expected_calls"], *run.labels["expected_user_calls"]]
    assert [(matches(run, call), call["recorded_match"]) for call in expected] == [(True, True), (True, True)]


@pytest.mark.parametrize(("name", "matched", "rewarded"), [(TAU2_BASE, 36, 10), (TAU2_TUNED, 46, 13)])
def test_recorded_matches_are_found_again(name: str, matched: int, rewarded: int) -> None:
    runs = trajectories(data(name))
    expected = [(run, call) for run in runs for call in run.labels["expected_calls"]]
    assert (len(runs), len(expected)) == (20, 61)
    assert sum(matches(run, call) for run, call in expected) == matched
    assert [call for run, call in expected if matches(run, call) != call["recorded_match"]] == []
    assert sum(run.success is True for run in runs) == rewarded


def test_a_model_without_a_price_is_not_free() -> None:
    tuned = trajectories(data(TAU2_TUNED))
    assert all(run.usage and run.usage.cost_usd is None and run.usage.input_tokens for run in tuned)
    base = trajectories(data(TAU2_BASE))
    assert all(run.usage and run.usage.cost_usd for run in base)


BROKEN = {"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}}


@pytest.mark.parametrize(
    "response",
    [{"response": BROKEN}, {"response": {"status_code": 429, "body": BROKEN}}, {"response": None, **BROKEN}],
)
def test_a_log_whose_last_request_failed_is_a_run_that_broke(tmp_path: Path, response: dict[str, Any]) -> None:
    asked = [{"role": "user", "content": "Is order 17 paid?"}]
    call = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "paid"}
    log = [
        {"request": {"messages": asked}, "response": {"choices": [{"message": said}]}},
        {"request": {"messages": [*asked, said, result]}, **response},
    ]
    (run,) = read(saved(tmp_path, log))
    assert isinstance(run, Trajectory)
    assert (run.flags, run.extra["error"]) == (("no_answer", "failed"), "Rate limit reached")
    (item,) = read(saved(tmp_path, [{"custom_id": "r1", "response": None, **BROKEN}, *log[:1]]))[:1]
    assert isinstance(item, Rejection) and item.detail == "the request failed: Rate limit reached"


def test_the_end_that_a_simulated_user_marks_is_no_turn(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Cancel order 17."},
        {"role": "assistant", "content": "It is cancelled."},
        {"role": "user", "content": "###STOP###"},
    ]
    (run,) = trajectories(saved(tmp_path, [{"task_id": 1, "reward": 1.0, "traj": messages, "info": {}}]))
    assert (run.format, len(run.turns), run.final_answer) == ("tau_bench", 1, "It is cancelled.")


@pytest.mark.parametrize(("request_key", "cost_key"), [(None, "response_cost"), ("proxy_server_request", "spend")])
def test_requests_that_litellm_logs_have_their_cost_and_tools(
    tmp_path: Path, request_key: str | None, cost_key: str
) -> None:
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": {}}}]
    answer = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "It is paid."}}
    response = {"choices": [answer], "usage": {"prompt_tokens": 10, "completion_tokens": 2}}
    asked = [{"role": "user", "content": "Is order 17 paid?"}]
    request = {"messages": asked, "tools": tools}
    beside = {"messages": asked, "model_parameters": {"tools": tools}}
    record = {"messages": {}, request_key: request} if request_key else beside
    (run,) = trajectories(saved(tmp_path, [{**record, "response": response, cost_key: 0.003}]))
    assert run.usage == Usage(input_tokens=10, output_tokens=2, cost_usd=0.003)
    assert [tool.name for tool in run.agents[0].tools or ()] == ["look_up"]


def test_a_request_of_litellm_that_failed_says_why(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "A"},
    ]
    record = {"messages": messages, "response": {}, "status": "failure", "error_str": "RateLimitError: slow down"}
    (run,) = trajectories(saved(tmp_path, [record]))
    assert (run.flags, run.extra["error"]) == (("failed",), "RateLimitError: slow down")


def test_an_answer_that_was_spoken_is_its_transcript(tmp_path: Path) -> None:
    audio = {"id": "audio_1", "data": "UklG", "expires_at": 1754000000, "transcript": "It is paid."}
    messages = [{"role": "user", "content": "Paid?"}, {"role": "assistant", "content": None, "audio": audio}]
    (run,) = trajectories(written(tmp_path, {"messages": messages}))
    assert run.final_answer == "It is paid."


def test_an_error_that_is_json_is_named_by_its_message(tmp_path: Path) -> None:
    content = json.dumps({"name": "Error", "message": "no stock"}, indent=2)
    messages = [
        {"role": "user", "content": "Order it."},
        {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "order", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": content, "is_error": True},
        {"role": "assistant", "content": "There is none."},
    ]
    (run,) = trajectories(written(tmp_path, {"messages": messages}))
    assert errors_of(run) == ["no stock"]


@pytest.mark.parametrize("name", ["run_id", "runId", "trace_id", "task_id", "episode", "session", "conversation_id"])
@pytest.mark.parametrize("api", ["openai", "anthropic", "gemini", "responses"])
def test_lines_that_name_their_run_are_that_run(tmp_path: Path, api: str, name: str) -> None:
    def message(role: str, text: str) -> dict[str, Any]:
        if api == "openai":
            return {"role": role, "content": text}
        if api == "gemini":
            return {"role": role if role == "user" else "model", "parts": [{"text": text}]}
        kind = "text" if api == "anthropic" else "input_text" if role == "user" else "output_text"
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    lines = [{name: run, **message(*said)} for said in (("user", "Hi."), ("assistant", "Hello.")) for run in ("a", "b")]
    assert len(trajectories(written(tmp_path, *lines))) == 2


def test_trials_of_a_task_on_lines_are_runs(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
    lines = [{"task_id": "a", "trial": trial, **message} for trial in range(3) for message in said]
    assert len(trajectories(written(tmp_path, *lines))) == 3


def test_the_input_of_a_task_with_trials_is_its_text(tmp_path: Path) -> None:
    said = [{"role": "assistant", "content": "At 3."}]
    (run,) = trajectories(
        written(tmp_path, {"id": "tide", "input": "When is high tide?", "trials": [{"messages": said}]})
    )
    assert (run.task_id, run.task) == ("tide", "When is high tide?")


def test_runs_with_the_id_of_their_experiment_are_named_by_their_tasks(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    records = [{"run_id": "may-2", "task_id": name, "messages": messages} for name in ("a", "b")]
    runs = trajectories(saved(tmp_path, records))
    assert [(run.id, run.extra["run_id"]) for run in runs] == [("a", "may-2"), ("b", "may-2")]


def test_ids_beyond_64_bits_keep_their_digits(tmp_path: Path) -> None:
    digits = "123456789012345678901234567890"
    calls = [
        {"id": name, "type": "function", "function": {"name": "get", "arguments": given}}
        for name, given in (("1", f'{{"order": {digits}}}'), ("2", f'{{"order": {digits[:-1]}1}}'))
    ]
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "assistant", "content": "Done."},
    ]
    (tmp_path / "d.jsonl").write_text(f'{{"sample": {digits}, "messages": {json.dumps(messages)}}}\n')
    (run,) = trajectories(tmp_path / "d.jsonl")
    assert [given for _, given, _ in calls_of(run)] == [{"order": digits}, {"order": f"{digits[:-1]}1"}]


@pytest.mark.parametrize(
    "shown",
    [
        {"content": {"type": "FeatureCollection", "features": [{"type": "Feature", "id": 7}]}},
        {"content": [{"type": "Feature", "id": 7}, {"type": "Feature", "id": 8}]},
        {"content": "", "tool_result": {"id": 7}},
        {"content": None, "tool_output": {"id": 7}},
    ],
)
def test_an_object_of_a_tool_is_its_result(tmp_path: Path, shown: JsonObject) -> None:
    path = saved(
        tmp_path,
        [
            {
                "messages": [
                    {"role": "user", "content": "Where?"},
                    {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "map", "arguments": "{}"}}]},
                    {"role": "tool", "tool_call_id": "c", **shown},
                    {"role": "assistant", "content": "There."},
                ]
            }
        ],
    )
    (run,) = trajectories(path)
    ((_, _, result),) = calls_of(run)
    assert json.loads(result or "null") == next(value for value in shown.values() if value and value != "c")
    assert summary_of(path).trust == "complete"


def test_an_error_in_a_field_of_a_tool_message_is_one(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "content": "Refund it.", "tool_call": None, "tool_result": None},
        {"role": "assistant", "content": "", "tool_call": {"name": "refund", "args": {}}, "tool_result": None},
        {"role": "tool", "content": "", "tool_call": None, "tool_result": {"error": "invalid amount"}},
        {"role": "assistant", "content": "No.", "tool_call": None, "tool_result": None},
    ]
    (run,) = trajectories(saved(tmp_path, [{"turns": turns}]))
    assert errors_of(run) == ["invalid amount"]


def test_calls_of_a_simulated_user_are_what_it_says(tmp_path: Path) -> None:
    def call(name: str) -> JsonObject:
        return {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}}

    messages = [
        {"role": "assistant", "content": "How can I help?"},
        {"role": "user", "content": "I restart it.", "tool_calls": [call("restart"), call("ping")]},
        {"role": "tool", "tool_call_id": "restart", "content": "restarted"},
        {"role": "tool", "tool_call_id": "ping", "content": "no answer"},
        {"role": "assistant", "content": "", "tool_calls": [call("look_up")]},
        {"role": "tool", "tool_call_id": "look_up", "content": "blocked"},
        {"role": "assistant", "content": "It is blocked."},
        {"role": "user", "content": "", "tool_calls": [call("screen")]},
        {"role": "tool", "tool_call_id": "screen", "content": "off"},
        {"role": "user", "content": "It is off."},
        {"role": "assistant", "content": "Goodbye."},
    ]
    path = saved(tmp_path, [{"log": {"messages": messages}}])
    (run,) = trajectories(path)
    assert names_of(run) == ["look_up"]
    assert [turn.user_message for turn in run.turns] == [
        None,
        "[on the user's device] restart({})\n[on the user's device] ping({})\nI restart it.\n"
        "[it shows] restarted\n[it shows] no answer",
        "[on the user's device] screen({})\n[it shows] off\nIt is off.",
    ]
    assert summary_of(path).trust == "complete"


def test_an_action_in_a_field_is_a_call_or_what_the_agent_says(tmp_path: Path) -> None:
    contents = [
        {"role": "user", "content": "Where is the key?"},
        {"role": "agent", "thought": "I search.", "action": 'SearchRoom: {"room": "attic"}'},
        {"role": "environment", "content": "a chest"},
        {"role": "agent", "thought": "", "action": "open the chest"},
        {"role": "environment", "content": "a key"},
        {"role": "agent", "thought": "That is it.", "action": "In the chest."},
    ]
    path = saved(tmp_path, [{"id": 7, "contents": [contents], "label": 0}])
    (run,) = trajectories(path)
    assert calls_of(run) == [
        ("SearchRoom", {"room": "attic"}, "a chest"),
        ("action", {"action": "open the chest"}, "a key"),
    ]
    assert (run.final_answer, run.piece(run.calls[0].thought)) == ("In the chest.", "I search.")
    assert summary_of(path).trust == "complete"


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
REMINDER = {"type": "text", "text": "<system-reminder>Keep the list.</system-reminder>"}


@pytest.mark.parametrize(
    ("shown", "turns"),
    [([PICTURE], 1), ([REMINDER, PICTURE], 1), ([{"type": "text", "text": "Now book it."}, PICTURE], 2)],
)
def test_what_a_program_shows_in_the_name_of_the_user_is_a_part_of_the_result(
    tmp_path: Path, shown: list[JsonObject], turns: int
) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "screenshot", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "What is on the screen?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "taken"},
        {"role": "user", "content": shown},
        {"role": "assistant", "content": "A lamp."},
    ]
    (run,) = trajectories(saved(tmp_path, [{"messages": messages}]))
    assert (len(run.turns), run.final_answer) == (turns, "A lamp." if turns == 1 else None)
    ((_, _, result),) = calls_of(run)
    assert result is not None and ("[image" in result) == (turns == 1)

"""What a record states of its run under names of its own, compared with what was read."""

from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import trajectories

CHAT: list[JsonObject] = [
    {"role": "user", "content": "Is order 7 paid?"},
    {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "look_up", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "1", "content": "paid"},
    {"role": "assistant", "content": "It is."},
]
BLOCKS: list[JsonObject] = [
    {"role": "user", "content": "Is order 7 paid?"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "look_up", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "paid"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "It is."}]},
]
ITEMS: list[JsonObject] = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Is order 7 paid?"}]},
    {"type": "function_call", "call_id": "1", "name": "look_up", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "1", "output": "paid"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is."}]},
]
CONTENTS: list[JsonObject] = [
    {"role": "user", "parts": [{"text": "Is order 7 paid?"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "look_up", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "look_up", "response": {"result": "paid"}}}]},
    {"role": "model", "parts": [{"text": "It is."}]},
]
USED = {"usage": {"input_tokens": 30, "output_tokens": 5}}
ACT = {"tool": "look_up", "args": {"order": 7}, "result": "paid"}


@pytest.mark.parametrize("messages", [CHAT, BLOCKS, ITEMS, CONTENTS])
@pytest.mark.parametrize(("calls", "trust"), [(1, "complete"), ("1", "complete"), (3, "partial"), (0, "doubtful")])
def test_calls_that_a_record_counts_are_compared(
    tmp_path: Path, messages: list[JsonObject], calls: Any, trust: str
) -> None:
    assert summary_of(written(tmp_path, {"num_tool_calls": calls, "chat_log": messages})).trust == trust


@pytest.mark.parametrize(
    ("about", "trust"),
    [
        ({"stats": {"message_count": 4, "toolCallCount": 1}}, "complete"),
        ({"stats": {"message_count": 9}}, "partial"),
        ({"total_turns": 2}, "complete"),
        ({"num_steps": "8"}, "partial"),
        ({"metrics": {"agent": {"n_tool_calls": 5}}}, "partial"),
        ({"config": {"limits": {"num_steps": 50}}}, "complete"),
        ({"tool_errors": 2}, "partial"),
        ({"num_tool_calls": 10**18}, "partial"),
        ({**USED, "total_tokens": 35}, "complete"),
        ({**USED, "total_tokens": 99}, "partial"),
        ({**USED, "num_tokens": 20}, "complete"),
        ({**USED, "totals": {"tokens_in": 30, "tokens_out": 5}}, "complete"),
        ({**USED, "totals": {"tokens_in": 31, "tokens_out": 5}}, "partial"),
        ({**USED, "total_output_tokens": 6}, "partial"),
        ({"usage": {"input_tokens": 30, "cached_tokens": 10, "output_tokens": 5}, "tokens_in": 20}, "complete"),
        ({"totals": {"calls": 2}}, "complete"),
        ({"totals": {"calls": 3}}, "partial"),
        ({"trajectory_log": [ACT, ACT]}, "partial"),
        ({"tool_rates": [{"name": "a", "result": 1}, {"name": "b", "result": 1}]}, "complete"),
        ({"tools_info": [{"name": name, "input": {"type": "object"}} for name in "ab"]}, "complete"),
        ({"trajectory_log": [ACT], "expected_steps": [ACT, ACT]}, "complete"),
    ],
)
@pytest.mark.parametrize("name", ["chat_log", "messages"])
def test_other_counts_of_a_record_are_compared(tmp_path: Path, name: str, about: JsonObject, trust: str) -> None:
    assert summary_of(written(tmp_path, {**about, name: CHAT})).trust == trust


@pytest.mark.parametrize(
    "run",
    [
        {"turns": [{"user": "Is order 7 paid?", "agent": "It is.", "tool_log": [ACT]}]},
        {"task": "Pay.", "steps": [{**ACT, "children": [ACT]}]},
        {"messages": CHAT[:1] + CHAT[3:], "trajectory": [ACT]},
    ],
)
def test_calls_beside_and_below_the_messages_are_missing(tmp_path: Path, run: JsonObject) -> None:
    assert summary_of(written(tmp_path, run)).trust == "partial"


@pytest.mark.parametrize("name", ["stats", "total_usage", "token_usage"])
def test_totals_of_a_run_are_its_tokens(tmp_path: Path, name: str) -> None:
    (run,) = trajectories(written(tmp_path, {name: USED["usage"], "chat_log": CHAT}))
    assert run.usage == Usage(input_tokens=30, output_tokens=5)


def test_totals_of_a_run_are_compared_with_those_of_its_steps(tmp_path: Path) -> None:
    steps = [{**ACT, **USED}, {**ACT, "args": {"order": 8}, **USED}]
    run = {"task": "Pay.", "steps": steps, "total_usage": {"input_tokens": 900, "output_tokens": 10}}
    assert summary_of(written(tmp_path, run)).trust == "partial"


@pytest.mark.parametrize("about", [{"num_tasks": 3}, {"total_runs": 5}])
def test_runs_that_a_record_counts_are_compared(tmp_path: Path, about: JsonObject) -> None:
    runs = [{"task_id": task, "chat_log": CHAT} for task in ("a", "b")]
    assert summary_of(written(tmp_path, {**about, "results": runs})).trust == "partial"
    assert summary_of(written(tmp_path, {"num_tasks": 2, "results": runs})).trust == "complete"
    assert summary_of(written(tmp_path, {"num_runs": 2, "results": [*runs, *runs]})).trust == "complete"


@pytest.mark.parametrize("tokens", [{"input": 30, "output": 5}, {"prompt": 30, "completion": 5, "total": 35}])
def test_tokens_may_have_short_names(tmp_path: Path, tokens: JsonObject) -> None:
    (run,) = trajectories(written(tmp_path, {"tokens": tokens, "chat_log": CHAT}))
    assert run.usage == Usage(input_tokens=30, output_tokens=5)


@pytest.mark.parametrize(("calls", "trust"), [(1, "complete"), (2, "complete"), (3, "partial")])
def test_a_last_action_without_a_result_may_be_counted_or_not(tmp_path: Path, calls: int, trust: str) -> None:
    steps = [ACT, {"tool": "finish", "args": {"answer": "paid"}}]
    assert summary_of(written(tmp_path, {"task": "Pay.", "steps": steps, "total_tool_calls": calls})).trust == trust


@pytest.mark.parametrize("place", [1, 3])
def test_tokens_of_only_some_answers_are_no_total(tmp_path: Path, place: int) -> None:
    greeting: JsonObject = {"role": "assistant", "content": "What can I do?"}
    counted = [{**message, **USED} if message["role"] == "assistant" else message for message in CHAT]
    some = [counted[n] if n == place else message for n, message in enumerate(CHAT)]
    assert summary_of(written(tmp_path, {"messages": some})).trust == "partial"
    assert summary_of(written(tmp_path, {"messages": counted})).trust == "complete"
    assert summary_of(written(tmp_path, {"messages": [greeting, *counted]})).trust == "complete"
    blocks = [{**BLOCKS[n], **USED} if n == place else message for n, message in enumerate(BLOCKS)]
    assert summary_of(written(tmp_path, {"messages": blocks})).trust == "partial"


def test_tokens_of_an_answer_that_says_nothing_count(tmp_path: Path) -> None:
    counted = [{**message, **USED} if message["role"] == "assistant" else message for message in CHAT]
    (run,) = trajectories(written(tmp_path, {"messages": [*counted, {"role": "assistant", "content": "", **USED}]}))
    assert run.usage == Usage(input_tokens=90, output_tokens=15)
    assert run.final_answer == "It is."


@pytest.mark.parametrize("messages", [CHAT, BLOCKS, CONTENTS])
@pytest.mark.parametrize(
    "about",
    [{"usages": [USED["usage"], USED["usage"]]}, {"usage": [USED["usage"]] * 2}, {"llm_calls": [USED["usage"]] * 2}],
)
def test_usages_of_requests_beside_the_messages_are_added(
    tmp_path: Path, messages: list[JsonObject], about: JsonObject
) -> None:
    (run,) = trajectories(written(tmp_path, {"messages": messages, **about}))
    assert run.usage == Usage(input_tokens=60, output_tokens=10)


@pytest.mark.parametrize(
    "used",
    [
        {"tokens": {"in": 30, "out": 5}},
        {"tokens": {"input": 30, "output": 5}},
        {"token_usage": {"prompt": 30, "completion": 5}},
        {"input_tokens": 30, "output_tokens": 5},
        {"tokens_in": 30, "tokens_out": 5},
        {"cost": {"input_tokens": 30, "output_tokens": 5}},
        {"metadata": {"inputTokens": 30, "outputTokens": 5, "attempt": 1}},
    ],
)
def test_answers_and_steps_have_tokens_under_short_names(tmp_path: Path, used: JsonObject) -> None:
    counted = [{**message, **used} if message["role"] == "assistant" else message for message in CHAT]
    chat, steps = {"messages": counted}, {"task": "Pay.", "steps": [{**ACT, **used}], "final_answer": "It is."}
    (run,) = trajectories(written(tmp_path, chat))
    assert run.usage == Usage(input_tokens=60, output_tokens=10)
    (run,) = trajectories(written(tmp_path, steps))
    assert run.usage == Usage(input_tokens=30, output_tokens=5)
    assert summary_of(written(tmp_path, steps)).trust == "complete"
    assert summary_of(written(tmp_path, {**steps, "steps": [*steps["steps"], ACT]})).trust == "partial"


@pytest.mark.parametrize("about", [{"total_tokens": 35}, {"tokens_used": 35}, {"steps": [{**ACT, "tokens": 35}]}])
def test_tokens_that_are_only_stated_as_a_sum_are_missing(tmp_path: Path, about: JsonObject) -> None:
    record = {"task": "Pay.", **about} if "steps" in about else {"messages": CHAT, **about}
    assert summary_of(written(tmp_path, record)).trust == "partial"


def test_the_cost_of_a_run_beside_its_tokens_is_read(tmp_path: Path) -> None:
    counted = [{**message, **USED} if message["role"] == "assistant" else message for message in CHAT]
    (run,) = trajectories(written(tmp_path, {"messages": counted, "total_cost_usd": 0.5}))
    assert run.usage == Usage(input_tokens=60, output_tokens=10, cost_usd=0.5)


def test_messages_have_latencies(tmp_path: Path) -> None:
    (run,) = trajectories(written(tmp_path, {"messages": [{**message, "latency_ms": 50} for message in CHAT]}))
    assert [step.latency_ms for step in run.steps] == [100, 50]


def test_cached_tokens_are_of_the_input_or_beside_it(tmp_path: Path) -> None:
    within = {"inputTokens": 30, "outputTokens": 5, "cacheReadTokens": 20}
    (run,) = trajectories(written(tmp_path, {"messages": CHAT, "usage": within}))
    assert run.usage == Usage(input_tokens=30, cached_tokens=20, output_tokens=5)
    (run,) = trajectories(written(tmp_path, {"messages": CHAT, "usage": {**within, "inputTokens": 3}}))
    assert run.usage == Usage(input_tokens=23, cached_tokens=20, output_tokens=5)


@pytest.mark.parametrize(
    "about",
    [
        {"usage": {"model-a": USED["usage"], "model-b": USED["usage"]}},
        {"usage": {"agent": {"prompt_tokens": 60, "completion_tokens": 10}}},
        {"stats": {"tokens": {"input": 60, "output": 10}}},
        {
            "messages": [
                {**message, "metadata": USED} if message["role"] == "assistant" else message for message in CHAT
            ]
        },
    ],
)
def test_tokens_stand_in_other_objects(tmp_path: Path, about: JsonObject) -> None:
    (run,) = trajectories(written(tmp_path, {"messages": CHAT, **about}))
    assert run.usage == Usage(input_tokens=60, output_tokens=10)


@pytest.mark.parametrize(
    "about",
    [{"usage": {"total_tokens": 35}}, {"messages": [*CHAT[:3], {**CHAT[3], "usage": {"total_tokens": 35}}]}],
)
def test_a_usage_that_is_only_a_sum_is_missing(tmp_path: Path, about: JsonObject) -> None:
    assert summary_of(written(tmp_path, {"messages": CHAT, **about})).gaps == (
        "35 tokens stated by the source, 0 read",
    )


def test_a_cost_may_be_an_object(tmp_path: Path) -> None:
    (run,) = trajectories(written(tmp_path, {"messages": CHAT, "cost": {"total": 0.5, "currency": "USD"}}))
    assert run.usage == Usage(cost_usd=0.5)


@pytest.mark.parametrize("messages", [CHAT, BLOCKS])
@pytest.mark.parametrize(
    ("stated", "trust", "said"),
    [
        (0.5, "complete", "complete"),
        (1.0, "partial", "1 US dollar stated by the source, 0.5 read"),
        (0.1, "doubtful", "0.1 US dollars stated by the source, 0.5 read"),
    ],
)
def test_the_cost_of_a_run_is_compared_with_that_of_its_answers(
    tmp_path: Path, messages: list[JsonObject], stated: float, trust: str, said: str
) -> None:
    first, result, last = messages[1:]
    answers = [{**first, **USED, "cost_usd": 0.2}, result, {**last, **USED, "cost_usd": 0.3}]
    path = written(tmp_path, {"cost_usd": stated, "messages": [messages[0], *answers]})
    (run,) = trajectories(path)
    summary = summary_of(path)
    assert run.usage is not None and run.usage.cost_usd == stated
    assert summary.trust == trust and said in summary.sentence


@pytest.mark.parametrize("name", ["session_id", "conversationId"])
@pytest.mark.parametrize(("last", "trust"), [("a", "complete"), ("b", "doubtful"), (None, "complete")])
def test_messages_of_several_sessions_are_no_run(tmp_path: Path, name: str, last: str | None, trust: str) -> None:
    messages = [*({**message, name: "a"} for message in CHAT[:-1]), {**CHAT[-1], name: last}]
    assert summary_of(written(tmp_path, {"messages": messages})).trust == trust


def test_tokens_beside_the_messages_may_have_names_in_camel_case(tmp_path: Path) -> None:
    beside = {"promptTokens": 100, "totalCompletionTokens": 20, "tokenCost": 0.5}
    (run,) = trajectories(written(tmp_path, {"messages": CHAT, **beside}))
    assert run.usage == Usage(input_tokens=100, output_tokens=20, cost_usd=0.5)

"""Anthropic messages and OpenAI Responses: blocks and items with tools that run at the client or at the provider."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, read, recorded_usage, trajectories

ANTHROPIC = FIXTURES / "anthropic_messages"
RESPONSES = FIXTURES / "openai_responses"


def test_logged_requests_are_one_conversation_though_cache_marks_move() -> None:
    run = trajectories(ANTHROPIC)[0]
    assert len(run.turns) == 1
    assert run.final_answer == "a.txt holds apples, b.txt is missing."
    assert run.text.count("apples") == 2


def test_cached_tokens_are_part_of_the_input_and_counted_once() -> None:
    run = trajectories(ANTHROPIC)[0]
    assert recorded_usage(run) == Usage(input_tokens=230, cached_tokens=100, cache_write_tokens=100, output_tokens=42)
    assert [step.usage for step in run.calls][1] is None


def test_system_prompt_and_tools_belong_to_the_agent_and_not_to_the_text() -> None:
    run = trajectories(ANTHROPIC)[0]
    agent = run.agents[0]
    assert (agent.description, agent.model) == ("You are a clerk.", "claude-sonnet-4-5")
    assert [tool.name for tool in agent.tools or ()] == ["read_file"]
    assert "clerk" not in run.text


def test_thinking_is_thought_and_a_failed_result_says_so() -> None:
    run = trajectories(ANTHROPIC)[0]
    assert [run.piece(step.thought) for step in run.calls] == ["I read both.", ""]
    assert [step.result.error for step in run.calls if step.result] == [None, "no such file: b.txt"]


def test_tools_on_the_server_are_calls_with_their_results() -> None:
    run = trajectories(ANTHROPIC)[1]
    assert [clip.tool_type for clip in clips_of(run)] == ["web_search", "sports", "web_search", "final"]
    assert [step.result and step.result.error for step in run.calls] == [None, None, "max_uses_exceeded"]


def test_a_summary_of_earlier_messages_is_not_said_and_its_tokens_count(tmp_path: Path) -> None:
    """`compact_20260112`: the usage of a response leaves out what the summary took."""
    iterations = [
        {"type": "compaction", "input_tokens": 1000, "output_tokens": 50},
        {"type": "message", "input_tokens": 30, "output_tokens": 4},
    ]
    response = {
        "type": "message",
        "role": "assistant",
        "stop_reason": "end_turn",
        "content": [{"type": "compaction", "content": "Summary: fruit."}, {"type": "text", "text": "Apples."}],
        "usage": {"input_tokens": 30, "output_tokens": 4, "iterations": iterations},
    }
    request = {"system": "You are a clerk.", "messages": [{"role": "user", "content": "Which?"}]}
    path = written(tmp_path, {"request": request, "response": response})
    (run,) = trajectories(path)
    assert (run.final_answer, "Summary" in run.text) == ("Apples.", False)
    assert run.usage == Usage(input_tokens=1030, output_tokens=54)
    assert summary_of(path).trust == "complete"


def test_nothing_of_these_fixtures_is_lost() -> None:
    unmapped = UnmappedFields()
    trajectories(ANTHROPIC, unmapped=unmapped)
    trajectories(RESPONSES, unmapped=unmapped)
    assert unmapped.table() == []


@pytest.mark.parametrize("is_run", [True, False])
def test_results_of_amp_are_runs_of_tools(tmp_path: Path, is_run: bool) -> None:
    runs = [
        {"status": "done", "result" if is_run else "output": {"output": "app.py", "exitCode": 0}},
        {"status": "error", "error": {"message": "no such file"}},
    ]
    calls = [{"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": {}} for number in range(2)]
    results = [
        {"type": "tool_result", "toolUseID": f"c{number}", **({"run": run} if is_run else run)}
        for number, run in enumerate(runs)
    ]
    used = {"inputTokens": 10, "outputTokens": 5, "cacheReadInputTokens": 2, "cacheCreationInputTokens": 1}
    thread = {
        "id": "T-1",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "List."}]},
            {"role": "assistant", "content": calls, "usage": used},
            {"role": "user", "content": results},
            {"role": "assistant", "content": [{"type": "text", "text": "One file."}]},
        ],
    }
    (run,) = trajectories(written(tmp_path, thread))
    shown = [orjson.loads(text) if text and text[0] == "{" else text for _, _, text in calls_of(run)]
    assert shown == [{"output": "app.py", "exitCode": 0}, "no such file"]
    assert [step.result.error for step in run.calls if step.result] == [None, "no such file"]
    assert run.calls[0].usage == Usage(input_tokens=13, cached_tokens=2, cache_write_tokens=1, output_tokens=5)


def test_a_reply_cut_off_by_its_token_limit_is_marked(tmp_path: Path) -> None:
    response = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Once upon"}]}
    record = {"messages": [{"role": "user", "content": "Tell"}], "response": response | {"stop_reason": "max_tokens"}}
    path = tmp_path / "drop.jsonl"
    path.write_bytes(orjson.dumps(record))
    run = trajectories(path)[0]
    assert (run.flags, run.final_answer) == (("truncated",), "Once upon")


def test_responses_that_name_the_one_before_are_one_conversation() -> None:
    run = trajectories(RESPONSES)[0]
    assert (run.id, run.final_answer) == ("resp_1", "Rome is sunny, Oslo is unknown.")
    assert recorded_usage(run) == Usage(input_tokens=140, cached_tokens=10, output_tokens=32)
    assert [run.piece(step.result.content) for step in run.calls if step.result] == ["sunny", "Error: station offline"]
    assert [run.piece(step.thought) for step in run.calls] == ["Two calls.", ""]


def test_hosted_tools_are_calls_with_what_the_item_tells_of_their_results() -> None:
    run = trajectories(RESPONSES)[1]
    assert [clip.tool_type for clip in clips_of(run)] == [
        "microsandbox",
        "docs",
        "web_search",
        "file_search",
        "terminal",
        "final",
    ]
    assert [clip.call_status for clip in clips_of(run)] == ["ok", "error", "none", "ok", "ok", "none"]


def test_an_input_that_repeats_output_is_told_once(tmp_path: Path) -> None:
    question = {"role": "user", "content": "Weather?"}
    call = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c1", "output": "sunny"}
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Sunny."}]}
    path = tmp_path / "drop.jsonl"
    exchanges = [
        {"input": [question], "output": [call], "object": "response"},
        {"input": [question, call, result], "output": [answer], "object": "response"},
    ]
    path.write_bytes(b"".join(orjson.dumps(exchange) + b"\n" for exchange in exchanges))
    runs = trajectories(path)
    assert [(len(run.calls), len(run.turns), run.final_answer) for run in runs] == [(1, 1, "Sunny.")]


def _items() -> list[dict[str, Any]]:
    """Items that clients keep without their IDs, as `to_input_list` of a run with `store=False`."""
    return [
        {"role": "user", "content": "Rates?"},
        {"type": "reasoning", "summary": []},
        {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "rates"}},
        {"type": "file_search_call", "status": "completed", "queries": ["rates"], "results": [{"text": "2%"}]},
        {"type": "code_interpreter_call", "status": "completed", "code": "1+1", "outputs": []},
        {"type": "function_call", "name": "rate", "arguments": "{}", "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "2%"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "2%."}]},
    ]


@pytest.mark.parametrize("layout", ["array", "lines"])
def test_items_without_ids_are_one_run(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "drop.json"
    path.write_bytes(orjson.dumps(_items()) if layout == "array" else b"\n".join(map(orjson.dumps, _items())))
    (run,) = trajectories(path)
    assert [step.call.name for step in run.calls if step.call] == [
        "web_search",
        "file_search",
        "code_interpreter",
        "rate",
    ]
    assert run.final_answer == "2%."
    assert summary_of(path).doubts == ()


def test_an_item_that_nobody_knows_is_named_and_splits_no_run(tmp_path: Path) -> None:
    path = tmp_path / "drop.json"
    items = _items()
    path.write_bytes(orjson.dumps([*items[:2], {"type": "teleport_call", "to": "x"}, *items[2:]]))
    (run,) = trajectories(path)
    assert len(run.calls) == 4
    assert summary_of(path).unknown_parts == {"teleport_call": 1}


def _logged(request: Any, response: Any, operation: str = "InvokeModel") -> dict[str, Any]:
    """An entry of a Bedrock invocation log, schema version 1.0, of a model that is called with its own API."""
    return {
        "schemaType": "ModelInvocationLog", "schemaVersion": "1.0", "timestamp": "2026-04-17T14:21:50Z",
        "accountId": "1", "region": "us-east-1", "requestId": "r-1", "operation": operation,
        "modelId": "anthropic.claude-sonnet-4-5",
        "input": {"inputContentType": "application/json", "inputBodyJson": request, "inputTokenCount": 50},
        "output": {"outputContentType": "application/json", "outputBodyJson": response, "outputTokenCount": 12},
    }  # fmt: skip


def _exchange() -> list[tuple[Any, Any]]:
    request = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 99, "system": "You are desk.",
               "messages": [{"role": "user", "content": "Is it paid?"}]}  # fmt: skip
    call = {"type": "tool_use", "id": "c1", "name": "look_up", "input": {"order_id": "17"}}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "paid"}]}
    history = [*request["messages"], {"role": "assistant", "content": [call]}, result]
    message = {"id": "msg", "type": "message", "role": "assistant", "model": "claude"}
    first = {**message, "content": [call], "stop_reason": "tool_use", "usage": {"input_tokens": 50, "output_tokens": 9}}
    answer = [{"type": "text", "text": "Yes."}]
    last = {**message, "content": answer, "stop_reason": "end_turn", "usage": {"input_tokens": 70, "output_tokens": 3}}
    return [(request, first), ({**request, "messages": history}, last)]


@pytest.mark.parametrize("as_text", [False, True])
def test_a_bedrock_log_of_anthropic_requests_is_one_conversation(tmp_path: Path, as_text: bool) -> None:
    pairs = _exchange()
    if as_text:
        pairs = [(orjson.dumps(request).decode(), orjson.dumps(response).decode()) for request, response in pairs]
    path = written(tmp_path, *(_logged(request, response) for request, response in pairs))
    (run,) = trajectories(path)
    assert [(name, result) for name, _, result in calls_of(run)] == [("look_up", "paid")]
    assert (run.task, run.final_answer, run.usage) == ("Is it paid?", "Yes.", Usage(input_tokens=120, output_tokens=12))
    assert (run.agents[0].description, run.started_at) == ("You are desk.", "2026-04-17T14:21:50Z")
    assert summary_of(path).sentence == "complete"


def test_a_streamed_response_in_a_bedrock_log_is_refused_with_the_reason(tmp_path: Path) -> None:
    ((request, _), *_) = _exchange()
    chunks = [{"type": "message_start", "message": {}}, {"type": "message_stop"}]
    path = written(tmp_path, _logged(request, chunks, "InvokeModelWithResponseStream"))
    assert summary_of(path).sentence == "partial: 1 record rejected"
    (rejection,) = read(path)
    assert isinstance(rejection, Rejection) and rejection.reason == "streamed_response"


def test_what_the_system_says_between_turns_is_no_message_of_a_user(tmp_path: Path) -> None:
    """Requests of Claude Code have such messages."""
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Is order 7 paid?"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "look_up", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "paid"}]},
        {"role": "system", "content": [{"type": "text", "text": "The list of tasks is empty."}]},
        {"role": "assistant", "content": [{"type": "text", "text": "It is."}]},
    ]
    path = written(tmp_path, {"system": "You are a desk.", "messages": messages})
    (run,) = trajectories(path)
    assert run.format == "anthropic_messages"
    assert calls_of(run) == [("look_up", {}, "paid")]
    assert (len(run.turns), run.final_answer) == (1, "It is.")
    assert run.agents[0].description == "You are a desk.\n\nThe list of tasks is empty."
    assert summary_of(path).trust == "complete"


ASKED = {"role": "user", "content": "How many are left?"}
SAID = {"role": "assistant", "content": "Three."}


def of_chat(value: Any) -> JsonObject:
    call = {"id": "c1", "function": {"name": "count", "arguments": '{"of": "B-2"}'}}
    result = {"role": "tool", "tool_call_id": "c1", "content": value}
    return {"messages": [ASKED, {"role": "assistant", "content": None, "tool_calls": [call]}, result, SAID]}


def of_sharegpt(value: Any) -> JsonObject:
    call = '<tool_call>{"name": "count", "arguments": {"of": "B-2"}}</tool_call>'
    said = [("human", "How many are left?"), ("gpt", call), ("tool", value), ("gpt", "Three.")]
    return {"conversations": [{"from": speaker, "value": text} for speaker, text in said]}


def of_anthropic(value: Any) -> JsonObject:
    call = {"type": "tool_use", "id": "c1", "name": "count", "input": {"of": "B-2"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": value}
    said = {"role": "assistant", "content": [{"type": "text", "text": "Three."}]}
    messages = [ASKED, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}, said]
    return {"messages": messages}


def of_responses(value: Any) -> JsonObject:
    call = {"type": "function_call", "call_id": "c1", "name": "count", "arguments": '{"of": "B-2"}'}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Three."}]}
    return {"input": [ASKED, call, {"type": "function_call_output", "call_id": "c1", "output": value}, said]}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (30, "30"),
        (0, "0"),
        (1.5, "1.5"),
        (True, "true"),
        (False, "false"),
        ([1, "a"], '[\n  1,\n  "a"\n]'),
        ([[]], "[\n  []\n]"),
    ],
)
@pytest.mark.parametrize("form", [of_chat, of_sharegpt, of_anthropic, of_responses])
def test_what_a_tool_returned_may_be_any_value(
    tmp_path: Path, form: Callable[[Any], JsonObject], value: Any, shown: str
) -> None:
    path = written(tmp_path, form(value))
    (run,) = trajectories(path)
    assert calls_of(run) == [("count", {"of": "B-2"}, shown)]
    assert summary_of(path).trust == "complete"


def test_an_object_that_a_tool_returned_is_a_result_of_messages_of_anthropic(tmp_path: Path) -> None:
    path = written(tmp_path, of_anthropic({"left": 3}))
    (run,) = trajectories(path)
    assert calls_of(run) == [("count", {"of": "B-2"}, '{\n  "left": 3\n}')]
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ({"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "Three."}}, "Three."),
        ({"type": "resource", "resource": {"uri": "file:///a"}}, "[resource: file:///a]"),
        ({"type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/plain"}, "[resource: file:///a]"),
    ],
)
def test_results_of_mcp_may_have_resources(tmp_path: Path, part: JsonObject, shown: str) -> None:
    path = written(tmp_path, of_chat([{"type": "text", "text": "Found:"}, part]))
    (run,) = trajectories(path)
    assert calls_of(run) == [("count", {"of": "B-2"}, f"Found:\n{shown}")]
    assert summary_of(path).trust == "complete"


def test_a_request_of_a_batch_without_an_answer_is_rejected_with_the_reason(tmp_path: Path) -> None:
    part = {"type": "text", "text": "Yes."}
    said = {"id": "m", "type": "message", "role": "assistant", "content": [part], "stop_reason": "end_turn"}
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "too busy"}}
    results = ({"type": "succeeded", "message": said}, {"type": "errored", "error": error}, {"type": "expired"})
    items = read(written(tmp_path, *({"custom_id": str(n), "result": each} for n, each in enumerate(results))))
    assert [item.detail for item in items if isinstance(item, Rejection)] == [
        "the request failed: too busy",
        "the request failed: expired",
    ]

"""Anthropic messages and OpenAI Responses: blocks and items with tools that run at the client or at the provider."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.clips.segmentation import clips_of
from evaluation_assets.core.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.trajectories.model import Usage
from evaluation_assets_tests.core.formats.readers.summaries import summary_of
from evaluation_assets_tests.core.formats.reading import FIXTURES, trajectories

ANTHROPIC = FIXTURES / "anthropic_messages"
RESPONSES = FIXTURES / "openai_responses"


def test_logged_requests_are_one_conversation_though_cache_marks_move() -> None:
    run = trajectories(ANTHROPIC)[0]
    assert len(run.turns) == 1
    assert run.final_answer == "a.txt holds apples, b.txt is missing."
    assert run.text.count("apples") == 2


def test_cached_tokens_are_part_of_the_input_and_counted_once() -> None:
    run = trajectories(ANTHROPIC)[0]
    assert run.usage == Usage(input_tokens=230, cached_tokens=100, output_tokens=42)
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


def test_nothing_of_these_fixtures_is_lost() -> None:
    unmapped = UnmappedFields()
    trajectories(ANTHROPIC, unmapped=unmapped)
    trajectories(RESPONSES, unmapped=unmapped)
    assert unmapped.table() == []


def test_a_reply_cut_off_by_its_token_limit_is_marked(tmp_path: Path) -> None:
    response = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Once upon"}]}
    record = {"messages": [{"role": "user", "content": "Tell"}], "response": response | {"stop_reason": "max_tokens"}}
    path = tmp_path / "drop.jsonl"
    path.write_bytes(orjson.dumps(record))
    run = trajectories(path)[0]
    assert (run.flags, run.final_answer) == (("step_limit", "no_answer"), None)


def test_responses_that_name_the_one_before_are_one_conversation() -> None:
    run = trajectories(RESPONSES)[0]
    assert (run.id, run.final_answer) == ("resp_1", "Rome is sunny, Oslo is unknown.")
    assert run.usage == Usage(input_tokens=140, cached_tokens=10, output_tokens=32)
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
        {"type": "file_search_call", "status": "completed", "queries": ["rates"], "results": [{"text": "2 %"}]},
        {"type": "code_interpreter_call", "status": "completed", "code": "1+1", "outputs": []},
        {"type": "function_call", "name": "rate", "arguments": "{}", "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "2 %"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "2 %."}]},
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
    assert run.final_answer == "2 %."
    assert summary_of(path).doubts == ()


def test_an_item_that_nobody_knows_is_named_and_splits_no_run(tmp_path: Path) -> None:
    path = tmp_path / "drop.json"
    items = _items()
    path.write_bytes(orjson.dumps([*items[:2], {"type": "teleport_call", "to": "x"}, *items[2:]]))
    (run,) = trajectories(path)
    assert len(run.calls) == 4
    assert summary_of(path).unknown_parts == {"teleport_call": 1}

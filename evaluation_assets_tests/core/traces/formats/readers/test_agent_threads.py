"""Conversations of Mistral's API for agents, messages of Dify, and threads of Zed."""

from pathlib import Path

import orjson
import pytest

from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, trajectories

HISTORY, MESSAGES, THREAD = (
    FIXTURES / "mistral" / "history.json", FIXTURES / "dify" / "messages.json", FIXTURES / "zed" / "thread.json",
)  # fmt: skip


def data_of(path: Path) -> JsonObject:
    return orjson.loads(path.read_bytes())


@pytest.mark.parametrize("path", [HISTORY, MESSAGES, THREAD])
def test_nothing_is_amiss(path: Path) -> None:
    assert summary_of(path).trust == "complete"


def test_a_history_of_mistral_has_its_calls_and_the_agent_that_took_over() -> None:
    (run,) = trajectories(HISTORY)
    assert calls_of(run) == [("look_up", {"order": 17}, "paid"), ("code_interpreter", {"code": "1 + 1"}, "2")]
    assert (run.task, run.final_answer, run.started_at) == ("Is order 17 paid?", "It is paid.", "2026-03-01T10:00:00Z")
    assert [(agent.id, agent.model) for agent in run.agents] == [("desk", "model-a")]


def test_a_response_of_mistral_has_the_tokens_of_its_tools(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 3, "connector_tokens": 7, "total_tokens": 30}
    response = {"object": "conversation.response", "outputs": data_of(HISTORY)["entries"][2:], "usage": usage}
    (run,) = trajectories(path := written(tmp_path, {**response, "inputs": "Is it paid?"}))
    assert (run.task, run.usage, len(run.calls)) == ("Is it paid?", Usage(input_tokens=27, output_tokens=3), 2)
    assert summary_of(path).trust == "complete"


def test_messages_of_dify_are_turns_in_order_with_the_tools_of_each_thought() -> None:
    (run,) = trajectories(MESSAGES)
    assert calls_of(run) == [("look_up", {"order": 17}, "paid"), ("stock", {"sku": "B"}, "none")]
    assert [turn.user_message for turn in run.turns][1] == "Thanks."
    assert (run.id, run.labels["feedback"], run.text.count("It is paid.")) == ("conv-1", ["like"], 1)


def test_conversations_of_dify_are_kept_apart_and_say_where_they_begin(tmp_path: Path) -> None:
    page = data_of(MESSAGES)
    others = [{**message, "conversation_id": "conv-2"} for message in page["data"]]
    path = tmp_path / "page.json"
    path.write_bytes(orjson.dumps({**page, "data": [page["data"][0], *others, page["data"][1]]}))
    runs = trajectories(path)
    assert [run.source and (run.source.line, run.source.is_whole) for run in runs] == [(1, False), (2, False)]
    assert [len(run.turns) for run in runs] == [2, 2]
    assert calls_of(runs[0]) == calls_of(runs[1])


def test_a_message_of_dify_may_stand_alone_with_its_tokens(tmp_path: Path) -> None:
    (run,) = trajectories(written(tmp_path, data_of(MESSAGES)["data"][1]))
    assert run.usage == Usage(input_tokens=50, output_tokens=9, cost_usd=0.002)
    assert run.final_answer == "It is paid."


def test_a_thread_of_zed_has_its_results_errors_and_tokens() -> None:
    (run,) = trajectories(THREAD)
    assert calls_and_errors(run) == [('{"order":17}', "no such order")]
    assert (run.task, run.final_answer) == ("Is order 17 paid?\norders", "There is no such order.")
    assert (run.agents[0].model, run.usage) == (
        "model-a", Usage(input_tokens=40, cached_tokens=10, output_tokens=7),
    )  # fmt: skip


def test_an_older_thread_of_zed_reads_the_same(tmp_path: Path) -> None:
    call = {"id": "c1", "name": "look_up", "input": {"order": 17}}
    result = {"tool_use_id": "c1", "is_error": True, "content": "no such order", "output": None}
    thought, text = {"type": "thinking", "text": "I look."}, {"type": "text", "text": "I look it up."}
    answer = {"type": "text", "text": "There is no such order."}
    asked = {"type": "text", "text": "Is order 17 paid?\norders"}
    messages = [
        {"id": 0, "role": "user", "segments": [asked], "tool_uses": [], "tool_results": []},
        {"id": 1, "role": "assistant", "segments": [thought, text], "tool_uses": [call], "tool_results": []},
        {"id": 2, "role": "user", "segments": [], "tool_uses": [], "tool_results": [result]},
        {"id": 3, "role": "assistant", "segments": [answer], "tool_uses": [], "tool_results": []},
    ]
    (run,), (same,) = trajectories(THREAD), trajectories(written(tmp_path, {**data_of(THREAD), "messages": messages}))
    assert (same.text, same.usage) == (run.text, run.usage)

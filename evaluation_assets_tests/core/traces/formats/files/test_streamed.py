"""Answers that were streamed are read as those that came whole."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of
from evaluation_assets_tests.core.traces.formats.reading import calls_of, read

ARGUMENTS = ('{"city"', ': "Oslo"}')


def _chunk(delta: Any, finish: str | None = None, own_id: str = "c", **more: Any) -> Any:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": own_id, "object": "chat.completion.chunk", "model": "m", "choices": [choice], **more}


def _call(**function: str) -> Any:
    return {"tool_calls": [{"index": 0, **({"id": "1"} if "name" in function else {}), "function": function}]}


COMPLETION = [
    {"id": "", "object": "", "model": "", "choices": [], "prompt_filter_results": []},
    _chunk({"role": "assistant", "content": "I "}),
    _chunk({"content": "look."}),
    _chunk(_call(name="weather", arguments="")),
    *(_chunk(_call(arguments=piece)) for piece in ARGUMENTS),
    _chunk({}, "tool_calls"),
    {**_chunk({}), "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 7}},
]
ITEM = {"type": "function_call", "id": "f", "call_id": "1", "name": "weather"}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}
RESPONSE = {"id": "r", "object": "response", "model": "m", "status": "in_progress", "output": []}
RESPONSES = [
    {"type": "response.created", "response": RESPONSE},
    {"type": "response.output_item.added", "output_index": 0, "item": {**SAID, "content": []}},
    {"type": "response.output_text.delta", "output_index": 0, "delta": "I loo"},
    {"type": "response.output_item.done", "output_index": 0, "item": SAID},
    {"type": "response.output_item.added", "output_index": 1, "item": {**ITEM, "arguments": ""}},
    *({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": piece} for piece in ARGUMENTS),
    {
        "type": "response.completed",
        "response": {**RESPONSE, "status": "completed", "usage": {"input_tokens": 5, "output_tokens": 7}},
    },
]
BEGUN = {"type": "message", "role": "assistant", "id": "m", "model": "m", "content": [], "usage": {"input_tokens": 5}}
ANTHROPIC = [
    {"type": "message_start", "message": BEGUN},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    *(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        for text in ("I ", "look.")
    ),
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "1", "name": "weather", "input": {}},
    },
    *(
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": piece}}
        for piece in ARGUMENTS
    ),
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
]
CONVERSE = [
    {"messageStart": {"role": "assistant"}},
    *({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": text}}} for text in ("I ", "look.")),
    {"contentBlockStart": {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "1", "name": "weather"}}}},
    *({"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"toolUse": {"input": piece}}}} for piece in ARGUMENTS),
    {"messageStop": {"stopReason": "tool_use"}},
    {"metadata": {"usage": {"inputTokens": 5, "outputTokens": 7, "totalTokens": 12}}},
]
COHERE = [
    {"type": "message-start", "id": "c", "delta": {"message": {"role": "assistant"}}},
    {"type": "content-start", "index": 0, "delta": {"message": {"content": {"type": "text", "text": ""}}}},
    *(
        {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": text}}}}
        for text in ("I ", "look.")
    ),
    {
        "type": "tool-call-start",
        "index": 0,
        "delta": {"message": {"tool_calls": {"id": "1", "type": "function", "function": {"name": "weather"}}}},
    },
    *(
        {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {"function": {"arguments": each}}}}}
        for each in ARGUMENTS
    ),
    {
        "type": "message-end",
        "delta": {"finish_reason": "TOOL_CALL", "usage": {"tokens": {"input_tokens": 5, "output_tokens": 7}}},
    },
]
_OLLAMA_CALL = {"function": {"name": "weather", "arguments": {"city": "Oslo"}}}
_OLLAMA = {"model": "m", "created_at": "2026-01-02T03:04:05Z"}
OLLAMA = [
    {**_OLLAMA, "message": {"role": "assistant", "content": "I "}, "done": False},
    {**_OLLAMA, "message": {"role": "assistant", "content": "look.", "tool_calls": [_OLLAMA_CALL]}, "done": False},
    {
        **_OLLAMA,
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "prompt_eval_count": 5,
        "eval_count": 7,
    },
]
STREAMS = {
    "completion": COMPLETION,
    "responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "converse": CONVERSE,
    "cohere": COHERE,
    "ollama": OLLAMA,
}


def _framed(events: Sequence[Any]) -> str:
    return ": hello\n\n" + "".join(f"event: e\ndata: {orjson.dumps(each).decode()}\n\n" for each in events)


def _run(path: Path, text: str | bytes) -> Trajectory:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    (run,) = read(path)
    assert isinstance(run, Trajectory), run
    return run


def _check(run: Trajectory) -> None:
    assert calls_of(run) == [("weather", {"city": "Oslo"}, None)]
    assert "I look." in run.text
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens) == (5, 7)


@pytest.mark.parametrize("name", STREAMS)
def test_events_are_the_answer_that_they_are_pieces_of(tmp_path: Path, name: str) -> None:
    events = STREAMS[name]
    for number, text in enumerate((b"\n".join(map(orjson.dumps, events)), orjson.dumps(events), _framed(events))):
        _check(_run(tmp_path / f"{number}.txt", text))


@pytest.mark.parametrize("body", [COMPLETION, _framed(COMPLETION) + "data: [DONE]\n\n"])
def test_events_beside_a_request_are_its_answer(tmp_path: Path, body: Any) -> None:
    request = {"messages": [{"role": "user", "content": "Weather in Oslo?"}]}
    run = _run(tmp_path / "drop.json", orjson.dumps({"request": {"body": request}, "response": {"body": body}}))
    assert run.task == "Weather in Oslo?"
    _check(run)


def test_an_answer_that_is_not_understood_is_told(tmp_path: Path) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    asked = [
        {"role": "user", "content": "Weather in Oslo?"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "clear"},
    ]
    path = tmp_path / "drop.json"
    path.write_bytes(orjson.dumps({"request": {"body": {"messages": asked}}, "response": {"body": [{"piece": "It"}]}}))
    sentence = summary_of(path).sentence
    assert sentence == "doubtful: 1 part of messages could not be read: a response without choices"


def test_answers_of_requests_at_one_time_are_told_apart(tmp_path: Path) -> None:
    pieces = [_chunk({"content": text}, end, own_id) for text, end in (("x", None), ("y", "stop")) for own_id in "ab"]
    path = tmp_path / "drop.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, pieces)))
    assert [run.final_answer for run in read(path) if isinstance(run, Trajectory)] == ["xy", "xy"]


def test_a_response_that_broke_off_has_what_was_done(tmp_path: Path) -> None:
    run = _run(tmp_path / "drop.jsonl", b"\n".join(map(orjson.dumps, RESPONSES[:4])))
    assert "I look." in run.text


def test_events_of_a_stream_of_the_ai_sdk_are_one_message(tmp_path: Path) -> None:
    """IDs of texts repeat, and the input of a call may come in pieces alone."""
    events = [
        {"type": "start", "messageId": "m"},
        {"type": "text-start", "id": "0"},
        *({"type": "text-delta", "id": "0", "delta": text} for text in ("I ", "look.")),
        {"type": "text-end", "id": "0"},
        {"type": "tool-input-start", "toolCallId": "1", "toolName": "weather"},
        *({"type": "tool-input-delta", "toolCallId": "1", "inputTextDelta": piece} for piece in ARGUMENTS),
        {"type": "tool-output-available", "toolCallId": "1", "output": "clear"},
        {"type": "text-start", "id": "0"},
        {"type": "text-delta", "id": "0", "delta": "It is clear."},
        {"type": "finish"},
    ]
    run = _run(tmp_path / "drop.txt", _framed(events) + "data: [DONE]\n\n")
    assert calls_of(run) == [("weather", {"city": "Oslo"}, "clear")]
    assert run.text.index("I look.") < run.text.index("Oslo") < run.text.index("It is clear.")
    assert run.final_answer == "It is clear."

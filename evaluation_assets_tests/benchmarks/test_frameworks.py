"""The scripted model server and the scenario of the framework benchmark, spoken to in four protocols."""

import json
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic
from openai import OpenAI

from benchmarks.frameworks.reading import COLUMNS, compare
from benchmarks.frameworks.run import BEGIN, END, Row, table, write
from benchmarks.frameworks.scenario import ANSWERS, OFFLINE, TOOLS, USER_MESSAGES, WarehouseError, truth_of
from benchmarks.frameworks.server import Server, serve

Message = dict[str, Any]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve() as running:
        yield running


def _post(url: str, body: Message) -> str:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as reply:
        return reply.read().decode()


def _output(name: str, arguments: Message) -> str:
    try:
        return json.dumps(TOOLS[name](**arguments))
    except WarehouseError as problem:
        return str(problem)


def _chat(server: Server, run: str, tools: tuple[str, ...] = tuple(TOOLS)) -> list[Message]:
    """The whole conversation of one agent, over chat completions."""
    messages: list[Message] = [{"role": "system", "content": "You are desk."}]
    offered = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in tools]
    for text in USER_MESSAGES:
        messages.append({"role": "user", "content": text})
        calls: list[Message] = [{}]
        while calls:
            body = {"model": "m", "messages": messages, "tools": offered}
            said = json.loads(_post(f"{server.url}/{run}/v1/chat/completions", body))["choices"][0]["message"]
            messages.append(said)
            calls = said.get("tool_calls", [])
            for call in calls:
                content = _output(call["function"]["name"], json.loads(call["function"]["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
    return messages


def test_the_truth_is_what_the_server_replied(server: Server) -> None:
    messages = _chat(server, "one-agent")
    truth = truth_of(server.replies("one-agent"))
    assert [call.name for call in truth.calls] == [
        "look_up_order",
        "check_stock",
        "check_stock",
        "refund",
        "look_up_order",
    ]
    assert [call.error for call in truth.calls] == [None, None, OFFLINE, None, None]
    assert (truth.agents, truth.turns, truth.answer) == (("desk",), 2, ANSWERS[1])
    assert (truth.input_tokens, truth.output_tokens) == (100 + 110 + 130 + 140 + 150 + 160, 10 + 11 + 13 + 14 + 15 + 16)
    assert messages[-1]["content"] == ANSWERS[1]


def _responses(reply: str) -> list[str]:
    return [item["name"] for item in json.loads(reply)["output"] if item["type"] == "function_call"]


def _anthropic(reply: str) -> list[str]:
    return [block["name"] for block in json.loads(reply)["content"] if block["type"] == "tool_use"]


def _gemini(reply: str) -> list[str]:
    parts = json.loads(reply)["candidates"][0]["content"]["parts"]
    return [part["functionCall"]["name"] for part in parts if "functionCall" in part]


_NAMES = (*TOOLS, "transfer_to_billing")
_LOOKED_UP = {"order_id": "17"}
_PROTOCOLS: dict[str, tuple[str, Message, Callable[[str], list[str]]]] = {
    "responses": (
        "v1/responses",
        {
            "model": "m",
            "input": [
                {"role": "user", "content": USER_MESSAGES[0]},
                {"type": "function_call", "call_id": "1", "name": "look_up_order", "arguments": "{}"},
            ],
            "tools": [{"type": "function", "name": name} for name in _NAMES],
        },
        _responses,
    ),
    "anthropic": (
        "v1/messages",
        {
            "model": "m",
            "messages": [
                {"role": "user", "content": USER_MESSAGES[0]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "look_up_order"}]},
            ],
            "tools": [{"name": name, "input_schema": {}} for name in _NAMES],
        },
        _anthropic,
    ),
    "gemini": (
        "v1beta/models/m:generateContent",
        {
            "contents": [
                {"role": "user", "parts": [{"text": USER_MESSAGES[0]}]},
                {"role": "model", "parts": [{"functionCall": {"name": "look_up_order", "args": _LOOKED_UP}}]},
            ],
            "tools": [{"functionDeclarations": [{"name": name} for name in _NAMES]}],
        },
        _gemini,
    ),
}


@pytest.mark.parametrize("protocol", _PROTOCOLS)
def test_each_protocol_continues_with_the_parallel_calls(server: Server, protocol: str) -> None:
    path, body, calls_of = _PROTOCOLS[protocol]
    assert calls_of(_post(f"{server.url}/{protocol}/{path}", body)) == ["check_stock", "check_stock"]


def test_the_sdks_read_the_streams(server: Server) -> None:
    openai = OpenAI(base_url=f"{server.url}/reasoning-stream/v1", api_key="local", max_retries=0)
    anthropic = Anthropic(base_url=f"{server.url}/reasoning-stream", api_key="local", max_retries=0)
    asked: Any = [{"role": "user", "content": USER_MESSAGES[0]}]
    function: Any = {"name": "look_up_order", "parameters": {}}

    flat: Any = [{"type": "function", **function}]
    with openai.responses.stream(model="m", input=asked, tools=flat) as responses:
        response = responses.get_final_response()
    assert [item.type for item in response.output] == ["reasoning", "function_call"]
    assert response.usage is not None
    assert response.usage.output_tokens == 10

    offered: Any = [{"type": "function", "function": function}]
    chunks = list(openai.chat.completions.create(model="m", messages=asked, tools=offered, stream=True))
    called = chunks[0].choices[0].delta.tool_calls
    assert called is not None
    assert called[0].function is not None
    assert json.loads(called[0].function.arguments or "") == _LOOKED_UP
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == 10

    tools: Any = [{"name": "look_up_order", "input_schema": {"type": "object"}}]
    with anthropic.messages.stream(model="m", max_tokens=100, messages=asked, tools=tools) as blocks:
        message = blocks.get_final_message()
    assert [block.type for block in message.content] == ["thinking", "tool_use"]
    assert (message.usage.input_tokens, message.usage.output_tokens) == (100, 10)
    assert len(server.replies("reasoning-stream")) == 3


def test_the_hand_off_is_called_by_its_own_name_with_its_required_arguments(server: Server) -> None:
    schema = {"type": "object", "properties": {"task": {"type": "string"}}, "required": ["task"]}
    done = [{"function": {"name": name, "arguments": "{}"}} for name in ("look_up_order", "check_stock")]
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": USER_MESSAGES[0]}, {"role": "assistant", "tool_calls": done}],
        "tools": [{"function": {"name": "ask_billing", "parameters": schema}}],
    }
    said = json.loads(_post(f"{server.url}/hand-off/v1/chat/completions", body))["choices"][0]["message"]
    called = said["tool_calls"][0]["function"]
    assert called["name"] == "ask_billing"
    assert list(json.loads(called["arguments"])) == ["task"]
    assert truth_of(server.replies("hand-off")).hand_offs == ("ask_billing",)


def test_a_reading_is_compared_with_the_truth(server: Server, tmp_path: Path) -> None:
    messages = _chat(server, "compared")
    truth = truth_of(server.replies("compared"))
    sample = tmp_path / "chat.json"
    sample.write_text(json.dumps({"messages": messages}))
    cells: dict[str, str] = dict(zip(COLUMNS, compare(sample, truth).cells, strict=True))
    expected = {"format": "openai_messages", "task": "right", "calls": "5 of 5", "results": "5 of 5"}
    assert {name: cells[name] for name in expected} == expected

    sample.write_text(json.dumps({"messages": messages[:5]}))
    compared = compare(sample, replace(truth, input_tokens=None, output_tokens=None))
    assert dict(zip(COLUMNS, compared.cells, strict=True))["calls"] != "5 of 5"
    assert {"calls", "results", "answer"} <= set(compared.wrong)
    assert compared.unstated == ("tokens",)


def test_the_table_says_what_is_read_wrongly_and_what_an_export_does_not_state() -> None:
    def row(shape: str, calls: str, *wrong: str) -> Row:
        return Row("f", "1", shape, ("otel", "right", calls, *("",) * 6), wrong, ("tokens",))

    exports = [row(f"{run}, {shape}", "5 of 5") for run in ("chat", "responses") for shape in ("lines", "dumps")]
    lines = table([*exports, row("desk, otlp", "4 of 5", "calls")]).splitlines()[2:]
    assert lines == [
        "| f | 1 | otel | right | tokens | chat, responses: lines, dumps |",
        "| f | 1 | otel | calls 4 of 5 | tokens | desk: otlp |",
    ]


def test_only_the_text_between_the_markers_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write(page, "new")
    assert page.read_text() == f"before\n{BEGIN}\nnew\n{END}\nafter\n"

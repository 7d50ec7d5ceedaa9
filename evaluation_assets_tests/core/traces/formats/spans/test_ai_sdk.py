"""Spans of the AI SDK, as `ai` 5.0.277 and `LegacyOpenTelemetry` of `@ai-sdk/otel` write them for a mock model."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of
from evaluation_assets_tests.core.traces.formats.reading import check, trajectories
from evaluation_assets_tests.core.traces.formats.spans.making import otlp, span

SDK = {"ai.telemetry.functionId": "desk", "ai.model.id": "model-a", "gen_ai.request.model": "model-a"}
ASKED = [
    {"role": "system", "content": "You are desk."},
    {"role": "user", "content": [{"type": "text", "text": "Paid?"}]},
]


def called(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool-call", "toolCallId": call_id, "toolName": name, "input": arguments}


def request(name: str, start: int, messages: list[Any], **response: Any) -> dict[str, Any]:
    """A span of a request to the model."""
    attributes = {
        **SDK,
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.prompt.messages": json.dumps(messages),
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10,
        "ai.usage.cachedInputTokens": 40,
        **response,
    }
    return span(name, attributes, start=start, parent="ai.generateText", scope="ai")


def test_telemetry_of_the_ai_sdk_has_its_agent_calls_errors_and_tokens(tmp_path: Path) -> None:
    calls = [called("c1", "look_up", order_id="17"), called("c2", "stock", sku="B-2")]
    results = [
        {
            "type": "tool-result",
            "toolCallId": "c1",
            "toolName": "look_up",
            "output": {"type": "json", "value": {"a": 1}},
        },
        {
            "type": "tool-result",
            "toolCallId": "c2",
            "toolName": "stock",
            "output": {"type": "error-text", "value": "off"},
        },
    ]
    history = [*ASKED, {"role": "assistant", "content": calls}, {"role": "tool", "content": results}]
    tools = [
        span(
            one["toolName"],
            {
                **SDK,
                "ai.operationId": "ai.toolCall",
                "ai.toolCall.name": one["toolName"],
                "ai.toolCall.id": one["toolCallId"],
                "ai.toolCall.args": json.dumps(one["input"]),
                **more,
            },
            start=3,
            parent="ai.generateText",
            scope="ai",
            error=error,
        )
        for one, more, error in zip(calls, ({"ai.toolCall.result": '{"a":1}'}, {}), (None, "off"), strict=True)
    ]
    asked = json.dumps([{key: one[key] for key in ("toolCallId", "toolName", "input")} for one in calls])
    path = otlp(
        tmp_path / "spans.jsonl",
        span("ai.generateText", {**SDK, "ai.operationId": "ai.generateText"}, start=1, end=9, scope="ai"),
        request("one", 2, ASKED, **{"ai.response.toolCalls": asked}),
        *tools,
        request("two", 4, history, **{"ai.response.text": "It is paid."}),
    )
    (run,) = trajectories(path)
    check(run)
    assert [(agent.id, agent.description, agent.model) for agent in run.agents] == [
        ("desk", "You are desk.", "model-a")
    ]
    assert calls_and_errors(run) == [('{"order_id":"17"}', None), ('{"sku":"B-2"}', "off")]
    assert run.usage == Usage(input_tokens=200, cached_tokens=80, output_tokens=20)
    assert (run.task, run.final_answer) == ("Paid?", "It is paid.")
    assert summary_of(path).sentence == "complete"


def test_tokens_that_version_6_writes_to_a_cache_are_within_its_input(tmp_path: Path) -> None:
    details = {
        "ai.usage.inputTokenDetails.cacheReadTokens": 40,
        "ai.usage.inputTokenDetails.cacheWriteTokens": 30,
        "ai.response.text": "It is paid.",
    }
    (run,) = trajectories(otlp(tmp_path / "spans.jsonl", request("one", 2, ASKED, **details)))
    assert run.usage == Usage(input_tokens=100, cached_tokens=40, cache_write_tokens=30, output_tokens=10)


@pytest.mark.parametrize(
    ("given", "written"),
    [("ai.usage.inputTokens", "ai.usage.outputTokens"), ("ai.usage.promptTokens", "ai.usage.completionTokens")],
)
def test_spans_may_have_no_other_attributes_than_those_of_the_ai_sdk(tmp_path: Path, given: str, written: str) -> None:
    asked = {"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": json.dumps(ASKED)}
    counted = {"ai.model.id": "model-a", given: 100, written: 10, "ai.response.text": "It is paid."}
    path = otlp(tmp_path / "spans.jsonl", span("one", {**asked, **counted}, start=1, end=2, scope="ai"))
    (run,) = trajectories(path)
    assert (run.task, run.final_answer, run.agents[0].model) == ("Paid?", "It is paid.", "model-a")
    assert run.usage == Usage(input_tokens=100, output_tokens=10)
    assert summary_of(path).sentence == "complete"


def test_a_generated_object_is_what_the_model_said(tmp_path: Path) -> None:
    path = otlp(tmp_path / "spans.jsonl", request("one", 2, ASKED, **{"ai.response.object": '{"paid": true}'}))
    (run,) = trajectories(path)
    assert run.final_answer == '{"paid": true}'

"""Spans of Strands Agents with messages as events, and of Google ADK with content and without.

The shapes are those of strands-agents 1.x and google-adk 2.x, as `benchmarks/frameworks` makes them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.formats.unmapped_fields import UnmappedFields
from evaluation_assets_tests.core.formats.reading import calls_of, check, trajectories
from evaluation_assets_tests.core.formats.spans.making import asked_for, chat, otlp, returned, said, span
from evaluation_assets_tests.core.formats.spans.test_conversations import summary_of


def test_messages_of_strands_in_events_are_read(tmp_path: Path) -> None:
    use = json.dumps([{"toolUse": {"toolUseId": "c1", "name": "check", "input": {"item": 5}}}])
    found = {"toolUseId": "c1", "status": "error", "content": [{"text": "no stock"}]}
    system = ("gen_ai.system.message", {"content": json.dumps([{"text": "You are desk."}])})
    asked = ("gen_ai.user.message", {"content": json.dumps([{"text": "Is 5 there?"}])})
    history = [
        ("gen_ai.assistant.message", {"content": use}),
        ("gen_ai.tool.message", {"content": json.dumps([{"toolResult": found}])}),
    ]
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "check", "gen_ai.tool.call.id": "c1"}
    tool_events: list[tuple[str, dict[str, Any]]] = [
        ("gen_ai.tool.message", {"role": "tool", "content": '{"item": 5}', "id": "c1"}),
        ("gen_ai.choice", {"message": json.dumps(found["content"]), "id": "c1"}),
    ]
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"}
    model = {"gen_ai.operation.name": "chat"}
    spans = [
        span("run", agent, end=9, events=[system, asked, ("gen_ai.choice", {"message": "No.\n"})]),
        span("m1", model, start=1, parent="run", events=[system, asked, ("gen_ai.choice", {"message": use})]),
        span("t", {**tool, "gen_ai.tool.status": "error"}, start=3, parent="run", events=tool_events),
        span(
            "m2",
            model,
            start=5,
            parent="run",
            events=[system, asked, *history, ("gen_ai.choice", {"message": json.dumps([{"text": "No."}])})],
        ),
    ]
    path = otlp(tmp_path / "spans.jsonl", *spans)
    (run,) = trajectories(path)
    check(run)
    assert (run.task, run.final_answer) == ("Is 5 there?", "No.")
    assert calls_of(run) == [("check", {"item": 5}, "no stock")]
    assert [step.result.error for step in run.calls if step.result] == ["no stock"]
    assert summary_of(path).trust == "complete"


ADK = "gcp.vertex.agent"


def adk_tool(name: str, call_id: str, start: int, **more: Any) -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.id": call_id}
    return span(f"{name} {call_id}", {**attributes, **more}, start=start, scope=ADK)


def test_calls_that_adk_names_anew_when_it_runs_them_are_made_once(tmp_path: Path) -> None:
    calls = [*asked_for("check_0", "check", item="a")["parts"], *asked_for("check_1", "check", item="b")["parts"]]
    question, both = said("user", "a and b?"), {"role": "assistant", "parts": calls}
    results = [returned("check_0", "yes"), returned("check_1", "no")]

    def ran(call_id: str, start: int, item: str, text: str) -> dict[str, Any]:
        values = {"gen_ai.tool.call.arguments": json.dumps({"item": item}), "gen_ai.tool.call.result": text}
        return adk_tool("check", call_id, start, **values)

    path = otlp(
        tmp_path / "spans.jsonl",
        span("m1", chat([question], [both]), scope=ADK),
        ran("adk-2", 2, "b", "no"),
        ran("adk-1", 3, "a", "yes"),
        adk_tool("(merged tools)", "adk-3", 4),
        span("m2", chat([question, both, *results], [said("assistant", "Only a.")]), start=6, scope=ADK),
    )
    (run,) = trajectories(path)
    assert calls_of(run) == [("check", {"item": "a"}, "yes"), ("check", {"item": "b"}, "no")]
    assert summary_of(path).trust == "complete"


def test_spans_without_content_name_the_setting_and_keep_each_call(tmp_path: Path) -> None:
    path = otlp(
        tmp_path / "spans.jsonl",
        span("m1", {"gen_ai.operation.name": "generate_content"}, scope=ADK),
        adk_tool("check", "adk-1", 2),
        adk_tool("check", "adk-2", 3),
    )
    (run,) = trajectories(path)
    assert len(run.calls) == 2
    summary = summary_of(path)
    assert (summary.trust, summary.spans_without_content) == ("partial", 3)
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY" in summary.sentence


def logged(span_id: str, name: str, body: dict[str, Any], second: int) -> dict[str, Any]:
    """A log record, as opentelemetry-instrumentation-openai-v2 emits what was said."""
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in body.items()]
    record = {
        "timeUnixNano": str(second * 10**9),
        "traceId": "t1",
        "spanId": span_id,
        "eventName": name,
        "body": {"kvlistValue": {"values": pairs}},
    }
    return {"resourceLogs": [{"resource": {}, "scopeLogs": [{"scope": {}, "logRecords": [record]}]}]}


@pytest.mark.parametrize("name", ["logs.jsonl", "logs.json"])
def test_messages_in_log_records_of_another_file_belong_to_their_spans(tmp_path: Path, name: str) -> None:
    otlp(tmp_path / "traces.jsonl", span("m1", {"gen_ai.operation.name": "chat"}))
    records = [
        logged("m1", "gen_ai.user.message", {"content": "Hi"}, 1),
        logged("m1", "gen_ai.choice", {"message": json.dumps({"role": "assistant", "content": "Hello"})}, 2),
        logged("m9", "gen_ai.user.message", {"content": "of a span that is not here"}, 3),
    ]
    lines = [json.dumps(record) for record in records]
    (tmp_path / name).write_text("\n".join(lines) if name.endswith("l") else f"[{','.join(lines)}]")
    unmapped = UnmappedFields()
    (run,) = trajectories(tmp_path, unmapped=unmapped)
    check(run)
    assert (run.task, run.final_answer) == ("Hi", "Hello")
    assert unmapped.notes["orphan_span", "spans[]"] == 1

"""Spans of Strands Agents with messages as events, of Google ADK and of OpenAI's client with content and without.

The shapes are those of strands-agents 1.x, google-adk 2.x and opentelemetry-instrumentation-openai-v2 2.4b0, as
`benchmarks/frameworks` makes them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets_tests.core.traces.formats.reading import calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.spans.making import asked_for, chat, otlp, returned, said, span
from evaluation_assets_tests.core.traces.formats.spans.test_conversations import summary_of


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


def any_value(value: Any) -> dict[str, Any]:
    """A value as OTLP wraps it."""
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": any_value(one)} for key, one in value.items()]}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(one) for one in value]}}
    return {"stringValue": value}


def logged(span_id: str, name: str, body: dict[str, Any], second: int, **attributes: Any) -> dict[str, Any]:
    """A log record as opentelemetry-instrumentation-openai-v2 2.4b0 emits it, in the encoding of the OTLP exporter."""
    record = {
        "body": any_value(body) if body else {},
        "attributes": [{"key": key.replace("__", "."), "value": any_value(one)} for key, one in attributes.items()],
        "flags": 3,
        "traceId": "t1",
        "spanId": span_id,
        "observedTimeUnixNano": str(second * 10**9),
        "eventName": name,
    }
    scope = {"scope": {"name": "opentelemetry.instrumentation.openai_v2"}, "logRecords": [record]}
    return {"resourceLogs": [{"resource": {}, "scopeLogs": [scope | {"schemaUrl": "https://example.org/1.30.0"}]}]}


def choice(**message: Any) -> dict[str, Any]:
    return {"finish_reason": "stop", "message": {"role": "assistant", **message}}


@pytest.mark.parametrize("name", ["logs.jsonl", "logs.json"])
def test_messages_in_log_records_of_another_file_belong_to_their_spans(tmp_path: Path, name: str) -> None:
    otlp(tmp_path / "traces.jsonl", span("m1", {"gen_ai.operation.name": "chat"}))
    records = [
        logged("m1", "gen_ai.user.message", {"content": "Hi"}, 1, gen_ai__system="openai"),
        logged("m1", "gen_ai.choice", choice(content="Hello"), 2, gen_ai__system="openai"),
        logged("m9", "gen_ai.user.message", {"content": "of a span that is not here"}, 3, gen_ai__system="openai"),
    ]
    lines = [json.dumps(record) for record in records]
    (tmp_path / name).write_text("\n".join(lines) if name.endswith("l") else f"[{','.join(lines)}]")
    unmapped = UnmappedFields()
    (run,) = trajectories(tmp_path, unmapped=unmapped)
    check(run)
    assert (run.task, run.final_answer) == ("Hi", "Hello")
    assert unmapped.notes["orphan_span", "spans[]"] == 1


def client_spans(scope: str = "opentelemetry.instrumentation.openai_v2") -> list[dict[str, Any]]:
    return [span(name, {"gen_ai.operation.name": "chat"}, start=at, scope=scope) for name, at in (("m1", 1), ("m2", 5))]


@pytest.mark.parametrize("has_content", [True, False])
def test_calls_and_results_in_log_records_are_read(tmp_path: Path, has_content: bool) -> None:
    """Without content, the records still have the calls by name, and the roles of all messages."""

    def content(text: str) -> dict[str, Any]:
        return {"content": text} if has_content else {}

    function = {"name": "look"} | ({"arguments": '{"order": 17}'} if has_content else {})
    calls = [{"id": "c1", "type": "function", "function": function}]
    records = [
        logged("m1", "gen_ai.user.message", content("Order 17?"), 1),
        logged("m1", "gen_ai.choice", choice(tool_calls=calls), 2),
        logged("m2", "gen_ai.user.message", content("Order 17?"), 5),
        logged("m2", "gen_ai.assistant.message", {"tool_calls": calls}, 6),
        logged("m2", "gen_ai.tool.message", {**content("late"), "id": "c1"}, 7),
        logged("m2", "gen_ai.choice", choice(**content("It is late.")), 8),
    ]
    path = otlp(tmp_path / "traces.jsonl", *client_spans())
    with path.open("a") as sink:
        sink.writelines(f"{json.dumps(record)}\n" for record in records)
    (run,) = trajectories(path)
    summary = summary_of(path)
    if has_content:
        check(run)
        assert (run.task, run.final_answer, summary.trust) == ("Order 17?", "It is late.", "complete")
        assert calls_of(run) == [("look", {"order": 17}, "late")]
    else:
        assert [step.call.name for step in run.calls if step.call] == ["look"]
        assert summary.trust == "partial"
        assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true" in summary.sentence


def test_messages_in_attributes_of_a_log_record_are_read(tmp_path: Path) -> None:
    """The latest conventions log one event per call of a model, with the whole history (openai-v2 2.4b0)."""
    name, scope = "gen_ai.client.inference.operation.details", "opentelemetry.util.genai.handler"

    def message(role: str, **part: Any) -> dict[str, Any]:
        return {"role": role, "parts": [part]}

    asked = message("user", content="Order 17?", type="text")
    call = message("assistant", arguments={"order": "17"}, name="look", id="c1", type="tool_call")
    result = message("tool", response="late", id="c1", type="tool_call_response")
    answer = message("assistant", content="It is late.", type="text")
    details = [("m1", [asked], call), ("m2", [asked, call, result], answer)]
    path = otlp(tmp_path / "traces.jsonl", *client_spans(scope))
    with path.open("a") as sink:
        for number, (span_id, given, made) in enumerate(details, 1):
            said_in = {"gen_ai__input__messages": given, "gen_ai__output__messages": [made]}
            sink.write(json.dumps(logged(span_id, name, {}, number, **said_in)) + "\n")
    (run,) = trajectories(path)
    check(run)
    assert (run.task, run.final_answer) == ("Order 17?", "It is late.")
    assert calls_of(run) == [("look", {"order": "17"}, "late")]
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize("scopes", [("agents", "agents", "agents"), ("agents", "mcp.client", "mcp.server")])
def test_what_a_client_and_a_server_of_mcp_record_of_a_call_is_no_other_call(
    tmp_path: Path, scopes: tuple[str, str, str]
) -> None:
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look_up"}
    known = {"gen_ai.tool.call.id": "c1", "gen_ai.tool.call.result": "paid"}
    agents, client, server = scopes
    path = otlp(
        tmp_path / "spans.jsonl",
        span("run", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"}, end=9, scope=agents),
        span(
            "m",
            chat([said("user", "Is it paid?")], [asked_for("c1", "look_up", order=17)]),
            start=1,
            parent="run",
            scope=agents,
        ),
        span("t", {**tool, **known}, start=2, end=6, parent="run", scope=agents),
        span("client", {**tool, "mcp.method.name": "tools/call"}, start=3, end=5, parent="t", scope=client),
        span("server", {**tool, "mcp.method.name": "tools/call"}, start=3, end=5, parent="client", scope=server),
    )
    (run,) = trajectories(path)
    assert calls_of(run) == [("look_up", {"order": 17}, "paid")]
    assert [agent.id for agent in run.agents] == ["desk"]
    assert summary_of(path).trust == "complete"

"""Spans as stores and other exporters write them: Tempo, Phoenix, protobuf's JSON, MLflow's OTLP."""

import base64
import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets_tests.core.traces.formats.reading import calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.spans.making import asked_for, chat, otlp, said, span

TRACE, SPANS = "0af7651916cd43dd8448eb211c80319c", ("b7ad6b7169203331", "00f067aa0ba902b7")


def in_base64(name: str) -> str:
    return base64.b64encode(bytes.fromhex(name)).decode()


def tempo() -> list[dict[str, Any]]:
    """The batches of a trace of Tempo, with IDs in base64."""
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look", "gen_ai.tool.call.result": "late"}
    spans = [
        span("model", chat([said("user", "Order 17?")], [asked_for("c1", "look", order=17)]), start=1),
        span("tool", tool, start=3, parent="model"),
    ]
    for one, name in zip(spans, SPANS, strict=True):
        one |= {"traceId": in_base64(TRACE), "spanId": in_base64(name), "kind": "SPAN_KIND_SERVER", "status": {}}
    spans[1]["parentSpanId"] = in_base64(SPANS[0])
    inner = [{key: value for key, value in one.items() if key != "scope"} for one in spans]
    service = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    return [{"resource": service, "scopeSpans": [{"scope": {"name": "s", "version": "1.0.0"}, "spans": inner}]}]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("shape", ["batches", "instrumentationLibrarySpans", "trace"])
def test_traces_of_tempo_have_ids_in_hexadecimal(tmp_path: Path, shape: str, indent: int | None) -> None:
    """Shapes of Tempo's documentation and threads, not seen on a server.

    `/api/traces/ID` answers `batches` (grafana/tempo issue 5437), in older versions with `instrumentationLibrarySpans`
    (pull request 427); `/api/v2/traces/ID` answers a `trace` with `resourceSpans` ("Push spans with HTTP").
    """
    batches = tempo()
    if shape == "instrumentationLibrarySpans":
        batches = [{"resource": one["resource"], shape: [{"spans": one["scopeSpans"][0]["spans"]}]} for one in batches]
    answer = {"trace": {"resourceSpans": batches}} if shape == "trace" else {"batches": batches}
    (tmp_path / "trace.json").write_text(json.dumps(answer, indent=indent))
    (run,) = trajectories(tmp_path)
    check(run)
    assert (run.id, list(run.extra["spans"]), run.extra["service"]) == (TRACE, list(SPANS), "shop")
    assert calls_of(run) == [("look", {"order": 17}, "late")]


def test_a_parent_of_zeros_is_none(tmp_path: Path) -> None:
    """Grafana exports a trace of Tempo with such a parent for its first span: grafana/tempo issue 3500."""
    batches = tempo()
    spans = batches[0]["scopeSpans"][0]["spans"]
    for one, name, parent in zip(spans, SPANS, ("0" * 16, "feedfeedfeedfeed"), strict=True):
        one |= {"traceId": TRACE, "spanId": name, "parentSpanId": parent}
    (tmp_path / "trace.json").write_text(json.dumps({"batches": batches}))
    unmapped = UnmappedFields()
    (run,) = trajectories(tmp_path, unmapped=unmapped)
    assert list(run.extra["spans"]) == list(SPANS)
    assert unmapped.notes["orphan_span", "spans[]"] == 1  # not two


@pytest.mark.parametrize("indent", [None, 1])
def test_spans_of_phoenix_in_otlp_are_read(tmp_path: Path, indent: int | None) -> None:
    """The answer of `/v1/projects/PROJECT/spans/otlpv1` of Phoenix 20.26, where absent fields are null."""

    def value(text: str) -> dict[str, Any]:
        kinds = ("array_value", "bool_value", "bytes_value", "double_value", "int_value", "kvlist_value")
        return dict.fromkeys(kinds) | {"string_value": text}

    def stored(name: str, kind: str, start: int, parent: str | None, **attributes: str) -> dict[str, Any]:
        pairs = {"openinference.span.kind": kind, **{key.replace("__", "."): text for key, text in attributes.items()}}
        counts = dict.fromkeys(("dropped_attributes_count", "dropped_events_count", "dropped_links_count", "flags"))
        return counts | {
            "attributes": [{"key": key, "value": value(text)} for key, text in pairs.items()],
            "end_time_unix_nano": (start + 1) * 10**9,
            "events": None,
            "kind": "SPAN_KIND_INTERNAL",
            "links": None,
            "name": name,
            "parent_span_id": parent,
            "span_id": SPANS[kind == "TOOL"],
            "start_time_unix_nano": start * 10**9,
            "status": {"code": 2, "message": "no stock"} if kind == "TOOL" else {"code": 1, "message": None},
            "trace_id": TRACE,
            "trace_state": None,
        }

    tool = {"tool__name": "look", "input__value": '{"order": 17}', "output__value": "failed"}
    spans = [
        stored("look", "TOOL", 3, SPANS[0], **tool),
        stored("desk", "AGENT", 1, None, input__value="Order 17?", output__value="It is late."),
    ]
    (tmp_path / "spans.json").write_text(json.dumps({"data": spans, "next_cursor": None}, indent=indent))
    (run,) = trajectories(tmp_path)
    check(run)
    assert (run.task, run.final_answer) == ("Order 17?", "It is late.")
    assert calls_of(run) == [("look", {"order": 17}, "failed")]
    assert [step.result.error for step in run.calls if step.result] == ["no stock"]


def test_spans_of_mlflow_are_read(tmp_path: Path) -> None:
    """MLflow writes each attribute as JSON, texts too."""

    def mlflow(kind: str, given: Any, found: Any, **more: Any) -> dict[str, Any]:
        values = {"spanType": kind, "spanInputs": given, "spanOutputs": found, **more}
        return {f"mlflow.{key}": orjson.dumps(value).decode() for key, value in values.items()}

    question = {"role": "user", "content": "Order 17?"}
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"order": 17}'}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "late"}
    answer = {"choices": [{"message": {"role": "assistant", "content": "It is late."}}]}
    used = {"chat.tokenUsage": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}}
    spans = [
        span("run", mlflow("AGENT", {"question": "Order 17?"}, "It is late."), end=9),
        span(
            "m1",
            mlflow("CHAT_MODEL", {"messages": [question]}, {"choices": [{"message": asked}]}, **used),
            start=1,
            parent="run",
        ),
        span("look", mlflow("TOOL", {"order": 17}, "late"), start=3, parent="run"),
        span(
            "m2", mlflow("CHAT_MODEL", {"messages": [question, asked, result]}, answer, **used), start=5, parent="run"
        ),
    ]
    (run,) = trajectories(otlp(tmp_path / "spans.jsonl", *spans))
    check(run)
    assert (run.task, run.final_answer) == ("Order 17?", "It is late.")
    assert calls_of(run) == [("look", {"order": 17}, "late")]
    assert run.usage is not None and (run.usage.input_tokens, run.usage.output_tokens) == (20, 4)

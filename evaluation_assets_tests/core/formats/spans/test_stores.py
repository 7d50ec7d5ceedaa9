"""Spans as stores and other exporters write them: Tempo, protobuf's JSON, MLflow's OTLP."""

import base64
import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets_tests.core.formats.reading import calls_of, check, trajectories
from evaluation_assets_tests.core.formats.spans.making import asked_for, chat, otlp, said, span

TRACE, SPANS = "0af7651916cd43dd8448eb211c80319c", ("b7ad6b7169203331", "00f067aa0ba902b7")


def in_base64(name: str) -> str:
    return base64.b64encode(bytes.fromhex(name)).decode()


def tempo() -> dict[str, Any]:
    """A trace as Tempo's API answers: `batches`, with IDs in base64."""
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look", "gen_ai.tool.call.result": "late"}
    spans = [
        span("model", chat([said("user", "Order 17?")], [asked_for("c1", "look", order=17)]), start=1),
        span("tool", tool, start=3, parent="model"),
    ]
    for one, name in zip(spans, SPANS, strict=True):
        one |= {"traceId": in_base64(TRACE), "spanId": in_base64(name)}
    spans[1]["parentSpanId"] = in_base64(SPANS[0])
    inner = [{key: value for key, value in one.items() if key != "scope"} for one in spans]
    return {"batches": [{"resource": {}, "scopeSpans": [{"scope": {"name": "s"}, "spans": inner}]}]}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("shape", ["batches", "trace"])
def test_traces_of_tempo_have_ids_in_hexadecimal(tmp_path: Path, shape: str, indent: int | None) -> None:
    answer = tempo() if shape == "batches" else {"trace": {"resourceSpans": tempo()["batches"]}}
    (tmp_path / "trace.json").write_text(json.dumps(answer, indent=indent))
    (run,) = trajectories(tmp_path)
    check(run)
    assert (run.id, list(run.extra["spans"])) == (TRACE, list(SPANS))
    assert calls_of(run) == [("look", {"order": 17}, "late")]


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

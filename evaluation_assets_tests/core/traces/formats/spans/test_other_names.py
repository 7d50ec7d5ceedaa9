"""Spans under the names of other SDKs and stores: an agent that looks up an order, which fails, and says so."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.trajectories.model import JsonObject
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories

START = 1_777_629_600
ASKED = [{"role": "user", "parts": [{"type": "text", "content": "Is order 17 paid?"}]}]
CALL = [
    {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "look_up", "arguments": {"order": 17}}]}
]
RESULT = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "offline"}]}]
SAID = [{"role": "assistant", "parts": [{"type": "text", "content": "I cannot say."}]}]


def chat(given: list[Any], said: list[Any], tokens: tuple[int, int]) -> JsonObject:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "model-a",
        "gen_ai.input.messages": json.dumps(given),
        "gen_ai.output.messages": json.dumps(said),
        "gen_ai.usage.input_tokens": tokens[0],
        "gen_ai.usage.output_tokens": tokens[1],
    }


SPANS = [  # ID, parent, attributes, from and to which second, error
    ("a1", "", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"}, (0, 6), None),
    ("a2", "a1", chat(ASKED, CALL, (100, 20)), (0, 1), None),
    (
        "a3", "a1",
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look_up", "gen_ai.tool.call.id": "c1"},
        (1, 2), "offline",
    ),
    ("a4", "a1", chat([*ASKED, *CALL, *RESULT], SAID, (130, 10)), (2, 5), None),
]  # fmt: skip


def printed_by_node(number: int) -> JsonObject:
    name, parent, attributes, (start, end), error = SPANS[number]
    above = {"parentSpanContext": {"traceId": "t1", "spanId": parent}} if parent else {}
    return {
        "traceId": "t1", "id": name, **above, "name": name, "kind": 0, "timestamp": (START + start) * 10**6,
        "duration": (end - start) * 1e6, "attributes": attributes, "events": [], "links": [],
        "status": {"code": 2, "message": error} if error else {"code": 0},
    }  # fmt: skip


def span_of_node(number: int) -> JsonObject:
    name, parent, attributes, (start, end), error = SPANS[number]
    return {
        "_spanContext": {"traceId": "t1", "spanId": name, "traceFlags": 1}, "name": name, "attributes": attributes,
        **({"parentSpanId": parent} if parent else {}), "startTime": [START + start, 0], "endTime": [START + end, 0],
        "status": {"code": 2, "message": error} if error else {"code": 0}, "_ended": True,
    }  # fmt: skip


def of_zipkin(number: int) -> JsonObject:
    name, parent, attributes, (start, end), error = SPANS[number]
    failed = {"otel.status_code": "ERROR", "error": error} if error else {}
    return {
        "traceId": "t1", "id": name, **({"parentId": parent} if parent else {}), "name": name,
        "timestamp": (START + start) * 10**6, "duration": (end - start) * 10**6, "localEndpoint": {"serviceName": "s"},
        "tags": {key: str(value) for key, value in attributes.items()} | failed,
    }  # fmt: skip


MESSAGES = [
    {"role": "user", "content": "Is order 17 paid?"},
    {"role": "assistant", "tool_calls": [{"name": "look_up", "arguments": {"order": 17}, "tool_id": "c1"}]},
    {"role": "tool", "content": "offline", "tool_id": "c1"},
    {"role": "assistant", "content": "I cannot say."},
]
OF_DATADOG: list[tuple[str, JsonObject, JsonObject]] = [
    ("agent", {"value": "Is order 17 paid?"}, {"value": "I cannot say."}),
    ("llm", {"messages": MESSAGES[:1]}, {"messages": MESSAGES[1:2]}),
    ("tool", {"value": '{"order": 17}'}, {}),
    ("llm", {"messages": MESSAGES[:3]}, {"messages": MESSAGES[3:]}),
]


def of_datadog(number: int) -> JsonObject:
    name, parent, attributes, (start, end), error = SPANS[number]
    kind, given, said = OF_DATADOG[number]
    metrics = {"input_tokens": (0, 100, 0, 130)[number], "output_tokens": (0, 20, 0, 10)[number]}
    about = {"span.kind": kind, "input": given, "output": said, "model_name": "model-a"}
    return {
        "trace_id": "t1", "span_id": name, "parent_id": parent or "undefined",
        "name": attributes.get("gen_ai.agent.name") or attributes.get("gen_ai.tool.name") or "chat",
        "start_ns": (START + start) * 10**9, "duration": (end - start) * 10**9, "status": "error" if error else "ok",
        "meta": {**about, **({"error": {"message": error, "type": "IOError"}} if error else {})},
        "metrics": metrics if kind == "llm" else {}, "tags": ["ml_app:desk"],
    }  # fmt: skip


def exported_by_datadog(number: int) -> JsonObject:
    sent = of_datadog(number)
    about = {key: value for key, value in sent.pop("meta").items() if key != "span.kind"}
    start = {"start_ms": sent.pop("start_ns") / 10**6}
    return {"id": "x", "type": "span", "attributes": {**sent, **about, **start, "span_kind": OF_DATADOG[number][0]}}


def check(path: Path) -> None:
    (run,) = trajectories(path)
    assert (run.task, run.final_answer, run.duration_s) == ("Is order 17 paid?", "I cannot say.", 6)
    assert calls_of(run) == [("look_up", {"order": 17}, "offline")]
    assert [step.result and step.result.error for step in run.calls] == ["offline"]
    assert run.usage is not None and (run.usage.input_tokens, run.usage.output_tokens) == (230, 30)
    assert [(agent.id, agent.model) for agent in run.agents] == [("desk", "model-a")]
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize("form", [printed_by_node, span_of_node, of_zipkin, of_datadog, exported_by_datadog])
def test_spans_are_one_run_whatever_their_names(tmp_path: Path, form: Any) -> None:
    check(written(tmp_path, *map(form, (2, 3, 0, 1))))
    path = tmp_path / "drop.json"
    path.write_text(json.dumps([form(number) for number in range(4)]))
    check(path)


def test_zipkin_answers_with_a_list_for_each_trace(tmp_path: Path) -> None:
    others = [{**of_zipkin(number), "traceId": "t2"} for number in range(4)]
    path = tmp_path / "drop.json"
    path.write_text(json.dumps([list(map(of_zipkin, range(4))), others]))
    assert [run.final_answer for run in trajectories(path)] == ["I cannot say."] * 2


def test_datadog_exports_pages_of_spans(tmp_path: Path) -> None:
    path = tmp_path / "drop.json"
    path.write_text(json.dumps({"data": list(map(exported_by_datadog, range(4))), "meta": {"page": {}}}))
    check(path)

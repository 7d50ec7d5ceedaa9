"""Spans of Monocle, from its file exporter or from a collector."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories
from evaluation_assets_tests.core.traces.formats.spans.making import otlp, span

OWN = {
    "monocle_apptrace.version": "0.8.8",
    "workflow.name": "desk",
    "scope.agentic.session": "s-1",
    "scope.agentic.turn": "t-1",
}
AGENT = {"entity.1.type": "agent.langgraph", "entity.1.name": "clerk"}
MODEL = {
    "entity.1.type": "inference.openai",
    "entity.2.type": "model.llm.model-a",
    "entity.2.name": "model-a",
    "entity.3.type": "tool.function",
    "entity.3.name": "look_up",
}
ASKED = ['{"system": "You are a clerk."}', '"Is order 7 paid?"']
ACTED = '{"ai": {"name": "look_up", "args": {"order": 7}, "id": "c-1", "type": "tool_call"}}'
SHOWN = [*ASKED, ACTED, '{"tool": "paid"}', '{"user": null}']
TOOL = {"entity.1.type": "tool.langgraph", "entity.1.name": "look_up", "entity.2.type": "agent.langgraph"}


def _events(given: Any, said: Any, **counts: int) -> list[tuple[str, dict[str, Any]]]:
    told = {} if said is None else {"response": said}
    return [("data.input", {"input": given}), ("data.output", told), ("metadata", counts)]


def _spans() -> list[dict[str, Any]]:
    def one(name: str, kind: str, parent: str | None, start: int, events: Any = (), **more: Any) -> dict[str, Any]:
        return span(name, {**OWN, "span.type": kind, **more}, parent=parent, start=start, end=20 - start, events=events)

    words = _events(["Is order 7 paid?"], "It is.")
    acting = _events(ASKED, ACTED, prompt_tokens=9, completion_tokens=2)
    answering = _events(SHOWN, '{"ai": "It is."}', prompt_tokens=12, completion_tokens=3)
    return [
        one("workflow", "workflow", None, 0, **{"entity.1.name": "desk"}),
        one("turn", "agentic.turn", "workflow", 1, words),
        one("agent", "agentic.invocation", "turn", 2, words, **AGENT),
        one("llm 1", "inference.framework", "agent", 3, acting, **MODEL),
        one("api 1", "inference.modelapi", "llm 1", 4),
        one("tool", "agentic.tool.invocation", "agent", 5, _events("{'order': 7}", "paid"), **TOOL),
        one("llm 2", "inference", "agent", 6, answering, **MODEL),
    ]


def _console(spans: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    def plain(pairs: Any) -> dict[str, Any]:
        return {one["key"]: _value(one["value"]) for one in pairs}

    return [
        {
            "name": one["name"],
            "context": {"trace_id": one["traceId"], "span_id": one["spanId"]},
            "parent_id": one["parentSpanId"] or None,
            "start_time": f"2026-05-01T10:00:{int(one['startTimeUnixNano']) // 10**9:02}Z",
            "end_time": f"2026-05-01T10:00:{int(one['endTimeUnixNano']) // 10**9:02}Z",
            "attributes": plain(one["attributes"]),
            "events": [{**event, "attributes": plain(event["attributes"])} for event in one["events"]],
        }
        for one in spans
    ]


def _value(value: dict[str, Any]) -> Any:
    (inner,) = value.values()
    if isinstance(inner, dict):
        return [_value(item) for item in inner["values"]]
    return int(inner) if "intValue" in value else inner


@pytest.mark.parametrize("is_otlp", [True, False])
def test_a_trace_of_monocle_has_its_agent_calls_and_tokens(tmp_path: Path, is_otlp: bool) -> None:
    path = tmp_path / "trace.json"
    if is_otlp:
        otlp(path, *_spans())
    else:
        path.write_bytes(orjson.dumps(_console(_spans())))
    (run,) = trajectories(path)
    assert (run.task, run.final_answer) == ("Is order 7 paid?", "It is.")
    assert calls_of(run) == [("look_up", {"order": 7}, "paid")]
    (agent,) = run.agents
    assert (agent.id, agent.model, agent.description) == ("clerk", "model-a", "You are a clerk.")
    assert run.usage is not None and (run.usage.input_tokens, run.usage.output_tokens) == (21, 5)
    assert run.extra["session_id"] == "s-1"
    assert summary_of(path).trust == "complete"


def test_the_error_of_a_request_is_no_answer_of_the_model(tmp_path: Path) -> None:
    failed = span(
        "llm", {**OWN, **MODEL, "span.type": "inference"}, events=_events(ASKED, "Error code: 401"), error="denied"
    )
    answered = span(
        "llm 2", {**OWN, **MODEL, "span.type": "inference"}, start=3, events=_events(ASKED, '{"ai": "It is."}')
    )
    (run,) = trajectories(otlp(tmp_path / "trace.json", failed, answered))
    assert run.final_answer == "It is." and "Error code: 401" not in run.text

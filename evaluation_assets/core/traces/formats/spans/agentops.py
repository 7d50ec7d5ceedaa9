"""Traces of AgentOps, as its API returns them: the trace, and its spans with their attributes nested by name."""

from typing import Any

from evaluation_assets.core.traces.formats.untyped import at, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_KINDS = {"llm": "LLM", "agent": "AGENT", "tool": "TOOL"}
"""Kinds of spans; any other is a part of a workflow."""


def is_trace(data: Any) -> bool:
    spans = list(objects_in(at(data, "spans")))
    named = all({"span_id", "span_name", "span_attributes"} <= span.keys() for span in spans)
    return bool(spans) and named and isinstance(at(at(data, "trace"), "trace_id"), str)


def spans_of(trace: JsonObject) -> list[JsonObject]:
    """The spans of a trace, as the console exporter of Python's SDK writes them."""
    return [_span_of(span, trace["trace"]["trace_id"]) for span in objects_in(trace["spans"])]


def _span_of(span: JsonObject, trace_id: str) -> JsonObject:
    own = object_in(span["span_attributes"])
    about, tool, model = object_in(own.get("agentops")), object_in(own.get("tool")), object_in(own.get("gen_ai"))
    kind = _KINDS.get(str(at(about.get("span"), "kind")), "CHAIN")
    attributes: JsonObject = {"openinference.span.kind": kind}
    if kind == "LLM":
        counts = {key: _number(value) for key, value in object_in(model.get("usage")).items()}
        attributes["gen_ai"] = {**model, "usage": counts}
    elif kind == "TOOL":
        entity = object_in(about.get("entity"))
        attributes["gen_ai.tool.name"] = tool.get("name") or entity.get("name")
        attributes["gen_ai.tool.call.arguments"] = tool.get("parameters") or entity.get("input")
        attributes["gen_ai.tool.call.result"] = tool.get("result") or entity.get("output")
    elif kind == "AGENT":
        agent = object_in(own.get("agent"))
        attributes["gen_ai.agent.name"] = agent.get("name") or agent.get("role")
    return {
        "name": span["span_name"],
        "context": {"trace_id": trace_id, "span_id": span["span_id"]},
        "parent_id": span.get("parent_span_id") or None,
        "start_time": span.get("start_time"),
        "end_time": span.get("end_time"),
        "attributes": attributes,
        "status": {"code": span.get("status_code"), "description": span.get("status_message")},
        "resource": {"attributes": {"service.name": span.get("service_name")}},
    }


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() else value

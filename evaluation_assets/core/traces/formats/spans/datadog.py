"""Spans of Datadog LLM Observability: as its SDK sends them and as its API exports them."""

from typing import Any

from evaluation_assets.core.traces.formats.untyped import as_number, at, first_text, list_in, object_in, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_KINDS = {"agent": "AGENT", "llm": "LLM", "tool": "TOOL", "retrieval": "RETRIEVER", "embedding": "EMBEDDING"}
"""Kinds of spans; any other (`workflow`, `task`) is a part of a workflow."""
_COUNTS = {
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cache_read_input_tokens": "gen_ai.usage.cache_read.input_tokens",
    "cache_write_input_tokens": "gen_ai.usage.cache_creation.input_tokens",
}
_ROOT = "undefined"


def span_of(data: Any) -> JsonObject | None:
    """The span that an object is, as the console exporter of Python's SDK writes it; `None` for any other value."""
    exported = at(data, "attributes")
    fields = exported if at(data, "type") == "span" and isinstance(exported, dict) else object_in(data)
    about = fields if fields is exported else object_in(fields.get("meta"))
    kind = first_text(about, "span_kind", "span.kind", "kind")
    start = as_number(fields.get("start_ns") or fields.get("start_ms"))
    if kind is None or start is None or not all(first_text(fields, key) for key in ("trace_id", "span_id")):
        return None
    error, parent = object_in(about.get("error")), first_text(fields, "parent_id")
    has_failed = fields.get("status") == "error"
    told = first_text(error, "message", "type") or first_text(about, "error.message", "error.type")
    return {
        "name": fields.get("name"),
        "context": {"trace_id": fields["trace_id"], "span_id": fields["span_id"]},
        "parent_id": None if parent == _ROOT else parent,
        "start_time": start,
        "end_time": _end_of(fields, start),
        "attributes": _attributes(kind, fields, about),
        "status": {"code": "ERROR", "description": told} if has_failed else {},
        "resource": {"attributes": {"service.name": first_text(fields, "ml_app", "service")}},
    }


def _end_of(fields: JsonObject, start: float) -> float | None:
    """The end in the unit of the start: the duration is in nanoseconds."""
    took = as_number(fields.get("duration"))
    return None if took is None else start + (took if "start_ns" in fields else took / 1e6)


def _attributes(kind: str, fields: JsonObject, about: JsonObject) -> JsonObject:
    given, said = object_in(about.get("input")), object_in(about.get("output"))
    attributes: JsonObject = {
        "openinference.span.kind": _KINDS.get(kind, "CHAIN"),
        "input.value": given.get("value"),
        "output.value": said.get("value"),
    }
    metrics = object_in(fields.get("metrics"))
    if kind == "llm":
        attributes |= {name: metrics.get(count) for count, name in _COUNTS.items()}
        attributes["gen_ai.request.model"] = first_text(about, "model_name")
        attributes["gen_ai.input.messages"] = _messages(given)
        attributes["gen_ai.output.messages"] = _messages(said)
    elif kind == "tool":
        attributes |= {"gen_ai.tool.name": fields.get("name"), "gen_ai.tool.call.arguments": given.get("value")}
        attributes["gen_ai.tool.call.result"] = said.get("value")
    elif kind == "agent":
        attributes["gen_ai.agent.name"] = fields.get("name")
    return without_none(attributes)


def _messages(holder: JsonObject) -> list[Any] | None:
    return [_message(message) for message in list_in(holder.get("messages"))] or None


def _message(message: Any) -> JsonObject:
    """A chat message, whose calls and results have the names of OpenAI."""
    data = object_in(message)
    calls = [
        {
            "id": call.get("tool_id"),
            "type": "function",
            "function": {key: call.get(key) for key in ("name", "arguments")},
        }
        for call in map(object_in, list_in(data.get("tool_calls")))
    ]
    returned = next(map(object_in, list_in(data.get("tool_results"))), {})
    told = {
        "role": data.get("role"),
        "content": data.get("content") or returned.get("result"),
        "tool_call_id": data.get("tool_id") or returned.get("tool_id"),
        "tool_calls": calls or None,
    }
    return without_none(told)

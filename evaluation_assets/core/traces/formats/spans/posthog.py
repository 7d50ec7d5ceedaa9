"""Events of PostHog's LLM analytics, each of which is a span: `$ai_generation`, `$ai_span`, `$ai_trace`."""

from typing import Any

from evaluation_assets.core.traces.formats.times import seconds_of
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.untyped import as_number, at, decoded, first_text, listed, without_none
from evaluation_assets.core.traces.trajectories.model import JsonObject

_GENERATION, _TRACE = "$ai_generation", "$ai_trace"
_EVENTS = (_GENERATION, "$ai_span", _TRACE)
_COUNTS = {
    "$ai_input_tokens": "gen_ai.usage.input_tokens",
    "$ai_output_tokens": "gen_ai.usage.output_tokens",
    "$ai_cache_read_input_tokens": "gen_ai.usage.cache_read.input_tokens",
    "$ai_cache_creation_input_tokens": "gen_ai.usage.cache_creation.input_tokens",
    "$ai_total_cost_usd": "gen_ai.usage.cost",
}


def span_of(data: Any) -> JsonObject | None:
    """The span of an event, as the console exporter of Python's SDK writes it; `None` for any other value."""
    kind, about = at(data, "event"), decoded(at(data, "properties"))
    trace = first_text(about, "$ai_trace_id")
    if kind not in _EVENTS or trace is None:
        return None
    name = (
        trace if kind == _TRACE else first_text(about, "$ai_span_id", "$ai_generation_id") or first_text(data, "uuid")
    )
    end, took = seconds_of(data.get("timestamp")), as_number(about.get("$ai_latency"))
    parent = first_text(about, "$ai_parent_id") or trace
    has_failed = about.get("$ai_is_error") is True
    return {
        "name": first_text(about, "$ai_span_name") or kind.removeprefix("$ai_"),
        "context": {"trace_id": trace, "span_id": name},
        "parent_id": None if kind == _TRACE else parent,
        "start_time": None if end is None else end - (took or 0),
        "end_time": end,
        "attributes": _of_model(about) if kind == _GENERATION else _of_step(about),
        "status": {"code": "ERROR", "description": as_text(about.get("$ai_error"))} if has_failed else {},
    }


def _of_model(about: JsonObject) -> JsonObject:
    return without_none(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": first_text(about, "$ai_model"),
            "gen_ai.input.messages": _messages(about.get("$ai_input"), "user"),
            "gen_ai.output.messages": _messages(about.get("$ai_output_choices"), "assistant"),
            "gen_ai.tool.definitions": about.get("$ai_tools"),
            **{name: about.get(count) for count, name in _COUNTS.items()},
        }
    )


def _messages(value: Any, role: str) -> list[Any] | None:
    if value is None:
        return None
    messages = (at(item, "message") or item for item in listed(decoded(value)))
    return [message if isinstance(message, dict) else {"role": role, "content": message} for message in messages]


def _of_step(about: JsonObject) -> JsonObject:
    given, said = about.get("$ai_input_state"), about.get("$ai_output_state")
    return without_none({"openinference.span.kind": "CHAIN", "input.value": given, "output.value": said})

"""Spans of Opik: downloads of a trace with its spans, pages of the API, and lists of spans."""

from typing import Any

from evaluation_assets.core.traces.formats.spans.store_export import StoredSpan, StoreExport, seconds
from evaluation_assets.core.traces.formats.spans.stored import usage_attributes
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, first_text, object_in, objects_in, with_numbers
from evaluation_assets.core.traces.trajectories.model import JsonObject

_KINDS = {"llm": "LLM", "tool": "TOOL", "general": "CHAIN", "guardrail": "GUARDRAIL"}
_OWN = "original_usage."
_CACHED = (
    f"{_OWN}cache_read_input_tokens", f"{_OWN}prompt_tokens_details.cached_tokens",
    f"{_OWN}input_tokens_details.cached_tokens", f"{_OWN}cached_content_token_count",
)  # fmt: skip
_THREAD, _SCORES = "thread_id", "feedback_scores"


def _spans(data: Any) -> list[JsonObject]:
    record = object_in(data)
    trace = object_in(record.get("trace"))
    listed = [one for key in ("spans", "content") for one in objects_in(record.get(key)) if _is_span(one)]
    if not listed:
        return [record] if _is_span(record) else []
    about = {key: trace[key] for key in (_THREAD, _SCORES) if key in trace}
    return [{**about, **listed[0]}, *listed[1:]]


def _is_span(data: JsonObject) -> bool:
    return (
        first_text(data, "type") in _KINDS and "start_time" in data and "trace_id" in data and "parent_span_id" in data
    )


def _opened(fields: Fields) -> StoredSpan:
    fields.set_aside(
        "provider", "project_name", "project_id", "created_at", "last_updated_at", "created_by", "last_updated_by"
    )
    error, kind = fields.value("error_info"), _KINDS[fields.text("type") or "general"]
    used = usage_attributes(
        _counts(with_numbers(object_in(fields.value("usage")))), fields.number("total_estimated_cost")
    )
    return StoredSpan(
        id=fields.name("id"),
        trace_id=fields.name("trace_id"),
        parent_id=fields.name("parent_span_id"),
        kind=kind,
        name=fields.text("name") or "",
        given=fields.value("input"),
        said=fields.value("output"),
        start_s=seconds(fields.value("start_time")),
        end_s=seconds(fields.value("end_time")),
        error=None if error is None else first_text(error, "message", "exception_type") or "error",
        model=fields.text("model"),
        usage=used if kind == "LLM" else {},
        session=fields.name(_THREAD),
        scores=[_score(score) for score in objects_in(fields.value(_SCORES))],
    )


def _counts(used: JsonObject) -> JsonObject:
    """Tokens under the names of OpenAI, with those of the cache, which only the provider's own counts have.

    Earlier versions left what Anthropic reads from its cache and writes to it out of the input.
    """
    cached = next((used[key] for key in _CACHED if isinstance(used.get(key), int)), None)
    written = used.get(f"{_OWN}cache_creation_input_tokens")
    counts = {**used, "cache_read_input_tokens": cached, "cache_creation_input_tokens": written}
    given = used.get(f"{_OWN}input_tokens")
    if f"{_OWN}cache_read_input_tokens" in used and isinstance(given, int):
        counts["input_tokens"] = sum(count for count in (given, cached, written) if isinstance(count, int))
    return counts


def _score(score: JsonObject) -> JsonObject:
    return {key: value for key in ("name", "value", "reason", "source") if (value := at(score, key)) is not None}


OPIK = StoreExport(
    name="opik",
    description="Opik: traces with their spans, pages and lists of spans",
    detection="spans with a type (llm, tool, general), a trace_id, a parent_span_id and a start_time",
    spans=_spans,
    opened=_opened,
)

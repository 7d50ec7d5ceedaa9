"""Spans of Braintrust: exports of logs and experiments, and results of queries (`data`)."""

from typing import Any

from evaluation_assets.core.traces.formats.spans.store_export import StoredSpan, StoreExport
from evaluation_assets.core.traces.formats.spans.stored import usage_attributes
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import (
    as_number,
    first_text,
    list_in,
    object_in,
    objects_in,
    with_numbers,
)
from evaluation_assets.core.traces.trajectories.model import JsonObject

_KINDS = {"llm": "LLM", "tool": "TOOL", **dict.fromkeys(("score", "classifier", "facet"), "EVALUATOR")}
_USAGE = {
    "prompt_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "cache_read_input_tokens": "prompt_cached_tokens",
    "cache_creation_input_tokens": "prompt_cache_creation_tokens",
}


def _spans(data: Any) -> list[JsonObject]:
    record = object_in(data)
    listed = [one for key in ("data", "events", "rows") for one in objects_in(record.get(key)) if _is_span(one)]
    return listed or ([record] if _is_span(record) else [])


def _is_span(data: JsonObject) -> bool:
    return all(key in data for key in ("root_span_id", "span_id", "span_attributes", "span_parents"))


def _opened(fields: Fields) -> StoredSpan:
    fields.set_aside("id", "is_root", "created", "project_id", "org_id", "log_id", "tags", "_xact_id", "experiment_id")
    own, metadata, metrics = fields.object("span_attributes"), fields.object("metadata"), fields.object("metrics")
    used = with_numbers(metrics.rest())
    counts = {name: used.get(theirs) for name, theirs in _USAGE.items()}
    parents, error = list_in(fields.value("span_parents")), fields.value("error")
    kind = own.text("type") or ""
    fields.set_aside("span_attributes")
    return StoredSpan(
        id=fields.name("span_id"),
        trace_id=fields.name("root_span_id"),
        parent_id=next((parent for parent in parents if isinstance(parent, str)), None),
        kind=_KINDS.get(kind, "CHAIN"),
        name=own.text("name") or "",
        given=fields.value("input"),
        said=fields.value("output"),
        start_s=as_number(used.get("start")),
        end_s=as_number(used.get("end")),
        error=None if error is None else first_text(error, "message") or as_text(error),
        model=metadata.text("model"),
        tools=metadata.value("tools"),
        usage=usage_attributes(counts, used.get("estimated_cost")) if kind == "llm" else {},
        session=metadata.name("session_id", "thread_id"),
        scores=[
            {"name": name, "value": value}
            for name, value in object_in(fields.value("scores")).items()
            if value is not None
        ],
        expected=fields.value("expected"),
    )


BRAINTRUST = StoreExport(
    name="braintrust",
    description="Braintrust: exports of logs and experiments",
    detection="records, or a list data of them, with span_id, root_span_id, span_parents and span_attributes",
    spans=_spans,
    opened=_opened,
)

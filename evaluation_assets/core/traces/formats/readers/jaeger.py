"""Traces exported by Jaeger's API or UI: `data` with one object per trace."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, UnusableRecord, any_record
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.isolation import each_own_file
from evaluation_assets.core.traces.formats.spans.spool import SpanSpool
from evaluation_assets.core.traces.formats.spans.transcripts import each_trace
from evaluation_assets.core.traces.formats.spans.tree import Event, Span
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

NAME = "jaeger"
DESCRIPTION = "Jaeger JSON exports of OpenTelemetry GenAI or OpenInference traces"
DETECTION = "objects with traceID and spans"

_OWN_TAGS = frozenset(
    ("otel.scope.version", "otel.status_code", "otel.status_description", "span.kind", "error", "internal.span.format")
)
"""Tags that Jaeger adds to the attributes of a span."""


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per trace."""
    return each_trace(each_own_file(files, detect, NAME, read_records), NAME, unmapped, partial(_keep, unmapped))


def _keep(unmapped: UnmappedFields, spool: SpanSpool, record: Record) -> None:
    """Spool the spans of a trace."""
    with unmapped.reading(record.json_object(), "traces[].") as trace:
        name = trace.name("traceID")
        if name is None:
            raise UnusableRecord("no_trajectory_text", "the trace has no traceID")
        services = _services(trace.value("processes"))
        trace.set_aside("warnings")
        spans = [_span(span, name, services, unmapped) for span in trace.objects("spans")]
    known = [span for span in spans if span is not None]
    if not known:
        raise UnusableRecord("no_trajectory_text", "the trace has no spans")
    for span in known:
        spool.add(span, record.source, record.line)


def _span(fields: Fields, trace_id: str, services: dict[str, tuple[str, str]], unmapped: UnmappedFields) -> Span | None:
    name = fields.name("spanID")
    if name is None:
        unmapped.count("spans[] (without an id)")
        fields.rest()
        return None
    tags = _tags(fields.items("tags"))
    start, duration = fields.number("startTime"), fields.amount("duration")
    fields.set_aside("traceID", "flags", "warnings", "process")
    parent = fields.name("parentSpanID")
    for reference in fields.objects("references"):
        kind = reference.text("refType")
        reference.set_aside("traceID")
        target = reference.name("spanID")
        parent = parent or (target if kind in (None, "CHILD_OF") else None)
    events = []
    for log in fields.objects("logs"):
        log.set_aside("timestamp")
        attributes = _tags(log.items("fields"))
        events.append(Event(name=str(attributes.pop("event", "")), attributes=attributes))
    service, version = services.get(fields.text("processID") or "", ("", ""))
    failed = tags.get("otel.status_code") == "ERROR" or tags.get("error") in (True, "true")
    told = next((event.attributes.get("exception.message") for event in events if event.name == "exception"), None)
    error = next((str(text) for text in (told, tags.get("otel.status_description")) if text), "error")
    return Span(
        id=name,
        trace_id=trace_id,
        parent_id=parent,
        name=fields.text("operationName") or "",
        scope=str(tags.pop("otel.scope.name", "")),
        service=service,
        service_version=version,
        start_s=None if start is None else start / 1e6,
        duration_ms=None if duration is None else duration / 1000,
        error=error if failed else None,
        attributes={key: value for key, value in tags.items() if key not in _OWN_TAGS},
        events=events,
    )


def _tags(items: list[Any]) -> JsonObject:
    return {item["key"]: item.get("value") for item in objects_in(items) if isinstance(item.get("key"), str)}


def _services(processes: Any) -> dict[str, tuple[str, str]]:
    """The name and version of each program."""
    return {
        key: (
            str(at(process, "serviceName") or ""),
            str(_tags(list_in(at(process, "tags"))).get("service.version", "")),
        )
        for key, process in object_in(processes).items()
    }


def _is_trace(data: Any) -> bool:
    return isinstance(data, dict) and isinstance(data.get("traceID"), str) and isinstance(data.get("spans"), list)


detect = any_record(_is_trace)

"""OpenTelemetry traces as OTLP JSON, as written by collectors and SDKs: `resourceSpans` of many traces in any order.

The spans of a trace may be spread over batches, lines and files. They are spooled to disk, then read one trace at a
time.
"""

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, UnusableRecord, any_record
from evaluation_assets.core.traces.formats.files.json_values import as_line
from evaluation_assets.core.traces.formats.files.records import is_document, read_parts, read_records
from evaluation_assets.core.traces.formats.isolation import each_own_file
from evaluation_assets.core.traces.formats.spans import monocle
from evaluation_assets.core.traces.formats.spans.flat_spans import error_of
from evaluation_assets.core.traces.formats.spans.spool import SpanSpool
from evaluation_assets.core.traces.formats.spans.transcripts import each_trace
from evaluation_assets.core.traces.formats.spans.tree import Event, Span
from evaluation_assets.core.traces.formats.times import as_utc
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields, type_name
from evaluation_assets.core.traces.formats.untyped import at, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

NAME = "otel"
DESCRIPTION = "OpenTelemetry traces as OTLP JSON, with GenAI, OpenLLMetry or OpenInference attributes"
DETECTION = (
    "records with resourceSpans, with batches of spans as Tempo answers, or with spans in data as Phoenix answers"
)

_RESOURCES = ("resourceSpans", "resource_spans", "batches")
_SCOPES = ("scopeSpans", "instrumentationLibrarySpans", "scope_spans")
_OTHER_SIGNALS = ("resourceLogs", "resource_logs", "resourceMetrics", "resource_metrics")
"""Other signals that collectors write to the same files; they contain no spans."""

_DEEPEST = 60
_BASE64 = re.compile(r"[A-Za-z0-9+/]{11}=|[A-Za-z0-9+/]{22}==")
_PLACES = tuple(f"{start}{resources}.item" for start in ("", "item.", "trace.") for resources in _RESOURCES)
_BARE_SPANS = "data.item"
_LOG_RECORDS = "scopeLogs.item.logRecords.item"
_LOG_PLACES = tuple(f"{start}resourceLogs.item.{_LOG_RECORDS}" for start in ("", "item."))
_GEN_AI = "gen_ai."
_PARTS = ("resource", *(f"{scopes}.item.{part}" for scopes in _SCOPES for part in ("scope", "spans.item")))


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per trace, in order of their first span."""
    spans = each_own_file(files, detect, NAME, partial(_spans_in, unmapped))
    return each_trace(spans, NAME, unmapped, partial(_keep, unmapped))


def _spans_in(unmapped: UnmappedFields, file: DropFile) -> Iterator[Record | Rejection]:
    is_empty = True
    for item in file.watch.over(_of_document(file)) if is_document(file) else _of_lines(file, unmapped):
        is_empty = False
        yield item
    if is_empty:
        yield Rejection(file.source, 1, "no_trajectory_text", "the file has no spans", "")


def _holds_spans(data: Any) -> bool:
    batches = list_in(at(data, "batches"))
    return (
        _is_bare(data)
        or any(key in object_in(data) for key in _RESOURCES[:2])
        or any(key in object_in(batch) for batch in batches for key in _SCOPES)
    )


def _is_bare(data: Any) -> bool:
    """Whether a record is a span as Phoenix answers, without its resource and library."""
    return isinstance(at(data, "attributes"), list) and "span_id" in data


def _holds_events(data: Any) -> bool:
    return any(
        _is_told(record)
        for resource in objects_in(at(data, "resourceLogs"))
        for group in objects_in(resource.get("scopeLogs"))
        for record in objects_in(group.get("logRecords"))
    )


@dataclass(frozen=True, slots=True)
class _Given:
    """A raw span with the names of its library and service, and the version of the service."""

    span: Any
    scope: str = ""
    service: tuple[str, str] = ("", "")


def _keep(unmapped: UnmappedFields, spool: SpanSpool, record: Record) -> None:
    """Spool a span."""
    given: _Given = record.data
    if _is_told(given.span):
        spool.add(_log_record(given.span, unmapped), record.source, record.line)
        return
    spool.add(_span(given, unmapped), record.source, record.line)


def _of_document(file: DropFile) -> Iterator[Record]:
    """Read the spans of one large document. Exporters write the resource and scope before their spans."""
    service, scope = ("", ""), ""
    number = 0
    places = [*(f"{start}.{part}" for start in _PLACES for part in _PARTS), *_LOG_PLACES, _BARE_SPANS]
    for place, value in read_parts(file.path, file.source, *places):
        if place.endswith(".resource"):
            service, scope = _service(value), ""
        elif place.endswith(".scope"):
            scope = _scope(value)
        elif not place.endswith(_LOG_RECORDS) or _is_told(value):
            number += 1
            yield Record(file.source, number, _Given(value, scope, service), as_line(value))


def _of_lines(file: DropFile, unmapped: UnmappedFields) -> Iterator[Record | Rejection]:
    """Read the spans of one batch per line."""
    for record in read_records(file):
        if isinstance(record, Rejection):
            yield record
            continue
        if _holds_spans(trace := at(record.data, "trace")):
            record = replace(record, data=trace)
        if _is_bare(record.data):
            yield replace(record, data=_Given(record.data))
            continue
        if not isinstance(record.data, dict) or not any(key in record.data for key in (*_RESOURCES, *_OTHER_SIGNALS)):
            shape = type_name(record.data) if not isinstance(record.data, dict) else "an object without that field"
            yield record.rejected(UnusableRecord("wrong_type", f"expected an object with resourceSpans, got {shape}"))
            continue
        spans = 0
        for resource in objects_in(record.data.get("resourceLogs")):
            for group in objects_in(resource.get("scopeLogs")):
                for value in filter(_is_told, objects_in(group.get("logRecords"))):
                    yield replace(record, data=_Given(value))
        with unmapped.reading(record.data) as batch:
            batch.set_aside(*_OTHER_SIGNALS)
            for resource in batch.objects(*_RESOURCES):
                resource.set_aside("schemaUrl", "schema_url")
                service = _service(resource.value("resource"))
                for group in resource.objects(*_SCOPES):
                    group.set_aside("schemaUrl", "schema_url")
                    scope = _scope(group.value("scope", "instrumentationLibrary"))
                    for value in group.items("spans"):
                        spans += 1
                        yield replace(record, data=_Given(value, scope, service))
        if not spans and any(record.data.get(key) for key in _RESOURCES):
            yield record.rejected(UnusableRecord("no_trajectory_text", "the line has no spans"))


def _span(given: _Given, unmapped: UnmappedFields) -> Span:
    data = given.span
    if not isinstance(data, dict):
        raise UnusableRecord("wrong_type", f"expected a span object, got {type_name(data)}")
    with unmapped.reading(data, "spans[].") as fields:
        name, trace_id = _id(fields, "spanId", "span_id"), _id(fields, "traceId", "trace_id")
        if name is None or trace_id is None:
            raise UnusableRecord("wrong_type", "the span has no spanId or no traceId")
        fields.set_aside("kind", "flags", "links", "traceState", "trace_state", "droppedAttributesCount")
        fields.set_aside("droppedEventsCount", "droppedLinksCount")
        start = _nanoseconds(fields, unmapped, "startTimeUnixNano", "start_time_unix_nano")
        end = _nanoseconds(fields, unmapped, "endTimeUnixNano", "end_time_unix_nano")
        parent = _id(fields, "parentSpanId", "parent_span_id")
        status = fields.object("status")
        code, told = status.value("code"), status.text("message")
        events = []
        for event in fields.objects("events"):
            event.set_aside("timeUnixNano", "time_unix_nano", "droppedAttributesCount")
            events.append(Event(name=event.text("name") or "", attributes=_attributes(event.items("attributes"))))
        span = Span(
            id=name,
            trace_id=trace_id,
            parent_id=None if parent is None or not parent.strip("0") else parent,  # Grafana exports zeros for none
            name=fields.text("name") or "",
            scope=given.scope,
            service=given.service[0],
            service_version=given.service[1],
            start_s=None if start is None else start / 1e9,
            duration_ms=None if start is None or end is None or end < start else (end - start) / 1e6,
            error=error_of(told, events) if code in (2, "2", "STATUS_CODE_ERROR", "ERROR") else None,
            attributes=_attributes(fields.items("attributes")),
            events=events,
        )
        return monocle.translated(span)


def _is_told(record: Any) -> bool:
    """Whether a log record is an event of a span of a model: what was said, in conventions that log it."""
    return isinstance(record, dict) and "spanId" in record and "name" not in record and _event_name(record) is not None


def _event_name(record: JsonObject) -> str | None:
    named = record.get("eventName") or _attributes(record.get("attributes")).get("event.name")
    return named if isinstance(named, str) and named.startswith(_GEN_AI) else None


def _log_record(data: JsonObject, unmapped: UnmappedFields) -> Span:
    """A log record as the event of its span."""
    with unmapped.reading(data, "logRecords[].") as fields:
        name, trace_id = _id(fields, "spanId"), _id(fields, "traceId")
        if name is None or trace_id is None:
            raise UnusableRecord("wrong_type", "the log record has no spanId or no traceId")
        body = _plain(fields.value("body"))
        attributes = _attributes(fields.items("attributes")) | (body if isinstance(body, dict) else {"content": body})
        time = _nanoseconds(fields, unmapped, "timeUnixNano", "observedTimeUnixNano")
        fields.rest()
        return Span(
            id=name,
            trace_id=trace_id,
            start_s=None if time is None else time / 1e9,
            events=[Event(name=_event_name(data) or "", attributes=attributes)],
            log=True,
        )


def _id(fields: Fields, *keys: str) -> str | None:
    """An ID; one in base64, as protobuf's own JSON and Tempo have it, in the usual hexadecimal form."""
    name = fields.name(*keys)
    if name is None or _BASE64.fullmatch(name) is None:
        return name
    return base64.b64decode(name).hex()


def _nanoseconds(fields: Fields, unmapped: UnmappedFields, *keys: str) -> float | None:
    """A timestamp in nanoseconds since 1970; invalid values are counted as unmapped."""
    recorded = fields.number(*keys)
    if recorded is not None and (recorded < 0 or as_utc(recorded / 1e9) is None):
        unmapped.count(f"spans[].{keys[0]} (no point in time)")
        return None
    return recorded


def _service(resource: Any) -> tuple[str, str]:
    attributes = _attributes(at(resource, "attributes"))
    return str(attributes.get("service.name") or ""), str(attributes.get("service.version") or "")


def _scope(scope: Any) -> str:
    name = at(scope, "name")
    return name if isinstance(name, str) else ""


def _attributes(items: Any) -> JsonObject:
    pairs = (item for item in objects_in(items) if isinstance(item.get("key"), str))
    return {item["key"]: value for item in pairs if (value := _plain(item.get("value"))) is not None}


def _plain(value: Any, depth: int = 0) -> Any:
    """Unwrap an AnyValue of the protocol."""
    if not isinstance(value, dict) or depth == _DEEPEST:
        return value if isinstance(value, str | int | float) else None
    for key, inner in value.items():
        kind = "" if inner is None else key.replace("_", "").lower()  # Phoenix writes each kind, all but one as null
        if kind == "intvalue":
            return _whole(inner)
        if kind in ("stringvalue", "boolvalue", "doublevalue", "bytesvalue"):
            return inner if isinstance(inner, str | int | float) else None
        if kind == "arrayvalue":
            return [_plain(item, depth + 1) for item in list_in(at(inner, "values"))]
        if kind == "kvlistvalue":
            pairs = objects_in(at(inner, "values"))
            return {str(one.get("key")): _plain(one.get("value"), depth + 1) for one in pairs}
    return None


def _whole(value: Any) -> int | None:
    """Parse a 64-bit number, which protocol JSON encodes as text."""
    if isinstance(value, str) and len(value) < 20:
        return int(value) if value.lstrip("-").isdecimal() else None
    return value if isinstance(value, int) else None


detect = any_record(lambda record: _holds_spans(record) or _holds_spans(at(record, "trace")) or _holds_events(record))

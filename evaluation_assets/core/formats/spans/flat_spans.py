"""Spans with one record each: of OpenTelemetry's console exporter, and of Phoenix as JSON or as rows of a table."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from evaluation_assets.core.formats.spans.tree import Event, Span
from evaluation_assets.core.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.formats.untyped import list_in
from evaluation_assets.core.trajectories.model import JsonObject

_DEEPEST = 12
_TABLE = ("context.", "attributes.")
"""Prefixes of columns in a table of spans."""


def spans_in(data: Any) -> list[JsonObject]:
    """The spans of a record: a span, a row of a table of spans, or a list of spans in `data`, as Phoenix answers."""
    if is_span(data):
        return [data]
    if not isinstance(data, dict):
        return []
    if is_span(row := _unflattened(data)):
        return [row]
    return [item for item in list_in(data.get("data")) if is_span(item)]


def is_span(data: Any) -> bool:
    """Whether a value is a span with its IDs in `context`."""
    context = data.get("context") if isinstance(data, dict) else None
    return isinstance(context, dict) and all(isinstance(context.get(key), str) for key in ("trace_id", "span_id"))


def _unflattened(row: JsonObject) -> JsonObject:
    """A row of a table with its columns `context.*` and `attributes.*` as objects."""
    data: JsonObject = {}
    for column, value in row.items():
        prefix = next((one for one in _TABLE if column.startswith(one)), None)
        if prefix is None:
            data[column] = value
        else:
            data.setdefault(prefix[:-1], {})[column.removeprefix(prefix)] = value
    return data


def flat_span(data: JsonObject, unmapped: UnmappedFields) -> Span:
    """Read a span."""
    with unmapped.reading(data, "spans[].") as fields:
        context = fields.object("context")
        status, resource = fields.object("status"), fields.object("resource")
        context.set_aside("trace_state")
        fields.set_aside("kind", "links", "id", "__index_level_0__")
        kind = fields.text("span_kind")
        events = [event_of(event) for event in fields.objects("events")]
        start, end = (_time(fields, key) for key in ("start_time", "end_time"))
        code = status.text("status_code") or fields.text("status_code") or ""
        told = status.text("description") or fields.text("status_message")
        attributes = dict(_flattened(fields.value("attributes")))
        if kind is not None:
            attributes.setdefault("openinference.span.kind", kind)
        service = resource.object("attributes").text("service.name")
        resource.object("attributes").rest()
        resource.set_aside("schema_url")
        return Span(
            id=_bare(context.name("span_id")) or "",
            trace_id=_bare(context.name("trace_id")) or "",
            parent_id=_bare(fields.name("parent_id")),
            name=fields.text("name") or "",
            service=service or "",
            start_s=start,
            duration_ms=None if start is None or end is None or end < start else (end - start) * 1000,
            error=error_of(told, events) if code.upper() == "ERROR" else None,
            attributes=attributes,
            events=events,
        )


def _bare(name: str | None) -> str | None:
    """An ID without the prefix that the console exporter writes and other exporters do not."""
    return None if name is None else name.removeprefix("0x")


def event_of(fields: Fields) -> Event:
    event = Event(name=fields.text("name", "Name") or "", attributes=fields.object("attributes", "Attributes").rest())
    fields.set_aside("timestamp", "Timestamp")
    return event


def error_of(told: str | None, events: list[Event]) -> str:
    messages = (event.attributes.get("exception.message") for event in events if event.name == "exception")
    return next((message for message in messages if isinstance(message, str) and message), told or "error")


def _flattened(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Flatten attributes to dotted keys; Phoenix nests them."""
    if isinstance(value, dict) and (not prefix or prefix.count(".") < _DEEPEST):
        for key, inner in value.items():
            yield from _flattened(inner, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for index, item in enumerate(value):
            yield from _flattened(item, f"{prefix}.{index}")
    elif value is not None:
        yield prefix, value


def moment_of(text: str | None) -> float | None:
    try:
        return None if text is None else datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _time(fields: Fields, key: str) -> float | None:
    """A time as text, or as pandas writes it: in milliseconds since 1970."""
    number = None if fields.is_text(key) else fields.number(key)
    return moment_of(fields.text(key)) if number is None else number / 1000

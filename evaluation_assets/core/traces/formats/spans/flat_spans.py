"""Spans with one record each, with their attributes as an object.

OpenTelemetry's console exporter and Phoenix (JSON, or rows of a table) have the IDs in `context`; ADOT, CloudWatch and
programs that write the spans of an in-memory exporter have them beside the attributes, in snake or camel case. The SDKs
of Go and Node, Zipkin, Datadog, AgentOps and the table of Pydantic Logfire have names of their own. A record may also
be the attributes of a model's request alone.
"""

import re
from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.traces.formats.spans import agentops, datadog, logfire, monocle, other_names
from evaluation_assets.core.traces.formats.spans.tree import Event, Span
from evaluation_assets.core.traces.formats.times import seconds_of, span_ms
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import first_text, list_in
from evaluation_assets.core.traces.trajectories.identity import digest
from evaluation_assets.core.traces.trajectories.model import JsonObject

_DEEPEST = 12
_TABLE = ("context.", "attributes.")
"""Prefixes of columns in a table of spans."""

_IDS = (("trace_id", "span_id"), ("traceId", "spanId"))
_LISTS = ("data", "spans")
_STARTS, _ENDS = ("start_time", "startTimeUnixNano"), ("end_time", "endTimeUnixNano")
_BESIDE = ("input", "inputs", "output", "outputs")
"""What spans of one's own have beside their attributes."""
_UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6))
"""Upper limits of times in seconds, milliseconds and microseconds since 1970, in this century; others are in ns."""

_FAILED = ("ERROR", "STATUS_CODE_ERROR", "STATUSCODE.ERROR", "2")
_KINDS = frozenset(("LLM", "TOOL", "AGENT", "CHAIN"))
"""Kinds of OpenInference that programs of one's own write in the place of the kind of OpenTelemetry."""
_WHOLE = re.compile(
    r"gen_ai\.(?:(?:input|output)\.messages|tool\.(?:call\.(?:arguments|result)|definitions)|system_instructions)"
    r"|(?:in|out)put\.value|tool_call\.function\.arguments|traceloop\.entity\.(?:in|out)put"
)
"""Attributes whose values may be objects. What is in them is no attribute."""
_SAID = "gen_ai.output.messages"
_DETAILS = "gen_ai.client.inference.operation.details"


def spans_in(data: Any) -> list[JsonObject]:
    """The spans of a record: a span, a row of a table of spans, or an object with a list of spans."""
    if (span := _one_in(data)) is not None:
        return [span]
    if not isinstance(data, dict):
        return [span for item in list_in(data) if (span := other_names.span_of(item)) is not None]
    if rows := [row for row in (data, *list_in(data.get("rows"))) if logfire.is_row(row)]:
        return logfire.spans_of(rows)
    if agentops.is_trace(data):
        return agentops.spans_of(data)
    if isinstance(data.get(_SAID), str | list) and not any(key in data for key in ("attributes", *_STARTS)):
        return [_of_attributes(data)]
    if is_span(row := _unflattened(data)):
        return [row]
    return [span for key in _LISTS for item in list_in(data.get(key)) if (span := _one_in(item)) is not None]


def _one_in(data: Any) -> JsonObject | None:
    """The span that a value is, under the names of Python's SDK."""
    return data if is_span(data) else other_names.span_of(data) or datadog.span_of(data)


def is_span(data: Any) -> bool:
    """Whether a value is a span: an object with its IDs in `context`, or beside its attributes."""
    if not isinstance(data, dict):
        return False
    context = data.get("context")
    if isinstance(context, dict) and _names_a_span(context):
        return True
    # MLflow's have no such times: its traces have a format of their own.
    is_timed = any(key in data for key in _STARTS) and not any(key in data for key in _BESIDE)
    return is_timed and isinstance(data.get("attributes"), dict) and "name" in data and _names_a_span(data)


def _of_attributes(data: JsonObject) -> JsonObject:
    """The span of a model's request of which a record has the attributes alone; it is a trace by itself."""
    name = first_text(data, "gen_ai.response.id") or digest(as_text(data))
    known = {key: value for key, value in data.items() if key.startswith("gen_ai.")}
    beside = {key: value for key, value in data.items() if key not in known and key not in _BESIDE}
    context = {"trace_id": name, "span_id": name}
    return {"name": first_text(data, "gen_ai.operation.name"), "context": context, "attributes": known, **beside}


def _names_a_span(data: JsonObject) -> bool:
    return any(all(isinstance(data.get(key), str) for key in keys) for keys in _IDS)


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
        context = fields.object("context") if fields.is_object("context") else fields
        status, resource, scope = fields.object("status"), fields.object("resource"), fields.object("scope")
        context.set_aside("trace_state")
        scope.set_aside("version", "attributes")
        fields.set_aside("kind", "links", "id", "__index_level_0__", "flags", "traceState", "durationNano")
        own = (fields.text("kind") or "").upper()
        kind = fields.text("span_kind") or (own if own in _KINDS else None)
        events = [event_of(event) for event in fields.objects("events", "span_events")]
        start, end = time_in(fields, *_STARTS), time_in(fields, *_ENDS)
        code = status.name("status_code", "code") or fields.text("status_code") or ""
        told = status.text("description", "message") or fields.text("status_message")
        attributes = dict(_flattened(fields.value("attributes")))
        if kind is not None:
            attributes.setdefault("openinference.span.kind", kind)
        program = resource.object("attributes").rest()
        resource.set_aside("schema_url")
        span = Span(
            id=_bare(context.name("span_id", "spanId")) or "",
            trace_id=_bare(context.name("trace_id", "traceId")) or "",
            parent_id=_bare(fields.name("parent_id", "parent_span_id", "parentSpanId")),
            name=fields.text("name") or "",
            scope=scope.text("name") or "",
            service=first_text(program, "service.name") or "",
            service_version=first_text(program, "service.version") or "",
            start_s=start,
            duration_ms=span_ms(start, end),
            error=error_of(told, events) if code.upper() in _FAILED else None,
            attributes=attributes,
            events=events,
        )
        return monocle.translated(span)


def _bare(name: str | None) -> str | None:
    """An ID without the prefix that the console exporter writes and other exporters do not."""
    return None if name is None else name.removeprefix("0x")


def event_of(fields: Fields) -> Event:
    """Read an event. ADOT writes what a model was told and said into the body of an event."""
    body = fields.object("body")
    given, said = (body.object(key).items("messages") for key in ("input", "output"))
    name = fields.text("name", "Name", "event_name") or ""
    attributes = fields.object("attributes", "Attributes").rest()
    fields.set_aside("timestamp", "Timestamp", "span_id", "trace_id")
    if given or said:
        messages = {"gen_ai.input.messages": given, _SAID: said}
        return Event(name=_DETAILS, attributes={**attributes, **messages})
    return Event(name=name, attributes={**body.rest(), **attributes})


def error_of(told: str | None, events: list[Event]) -> str:
    messages = (event.attributes.get("exception.message") for event in events if event.name == "exception")
    return next((message for message in messages if isinstance(message, str) and message), told or "error")


def _flattened(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Flatten attributes to dotted keys; Phoenix nests them."""
    if value is not None and _WHOLE.fullmatch(prefix):
        yield prefix, value
    elif isinstance(value, dict) and (not prefix or prefix.count(".") < _DEEPEST):
        for key, inner in value.items():
            yield from _flattened(inner, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for index, item in enumerate(value):
            yield from _flattened(item, f"{prefix}.{index}")
    elif value is not None:
        yield prefix, value


def time_in(fields: Fields, *keys: str) -> float | None:
    """A time in seconds since 1970, written as text or as a number: pandas has milliseconds, the SDK nanoseconds."""
    key = next((key for key in keys if key in fields), keys[0])
    number = fields.number(key) if not fields.is_text(key) or (fields.text(key) or "").isdecimal() else None
    if number is None:
        return seconds_of(fields.text(key))
    return number / next((unit for limit, unit in _UNITS if number < limit), 1e9)

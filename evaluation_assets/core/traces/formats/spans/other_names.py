"""Spans under the names that other SDKs and stores have, as the console exporter of Python's SDK writes them.

Go's SDK prints `SpanContext` and attributes as pairs. Node's prints `timestamp` and `duration` in microseconds; its
spans as JSON (`_spanContext`) have seconds and nanoseconds. Zipkin has the attributes as texts in `tags`.
"""

from typing import Any

from evaluation_assets.core.traces.formats.untyped import as_number, at, first_text, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_NO_SPAN = "0"


def span_of(data: Any) -> JsonObject | None:
    """The span that an object is; `None` for any other value, and for spans with the names of Python's SDK."""
    if not isinstance(data, dict):
        return None
    if first_text(data.get("SpanContext"), "TraceID") and first_text(data["SpanContext"], "SpanID") and "Name" in data:
        return _of_go(data)
    if first_text(data.get("_spanContext"), "traceId") and isinstance(data.get("attributes"), dict):
        return _of_node(data, object_in(data["_spanContext"]), _nanoseconds(data, "startTime"), _end_of(data))
    is_timed = as_number(data.get("timestamp")) is not None and first_text(data, "traceId") and first_text(data, "id")
    if not is_timed:
        return None
    end = data["timestamp"] + (as_number(data.get("duration")) or 0)
    if isinstance(data.get("attributes"), dict) and "name" in data:
        return _of_node(data, {"traceId": data["traceId"], "spanId": data["id"]}, data["timestamp"], end)
    return _of_zipkin(data, end) if isinstance(data.get("tags"), dict) else None


def _of_go(data: JsonObject) -> JsonObject:
    context, parent = data["SpanContext"], object_in(data.get("Parent"))
    status = object_in(data.get("Status"))
    scope = object_in(data.get("InstrumentationScope") or data.get("InstrumentationLibrary"))
    return {
        "name": data["Name"],
        "context": {"trace_id": context["TraceID"], "span_id": context["SpanID"]},
        "parent_id": None if set(parent.get("SpanID") or _NO_SPAN) == {_NO_SPAN} else parent["SpanID"],
        "start_time": data.get("StartTime"),
        "end_time": data.get("EndTime"),
        "attributes": _pairs(data),
        "events": [
            {"name": event.get("Name"), "attributes": _pairs(event)} for event in objects_in(data.get("Events"))
        ],
        "status": {"code": status.get("Code"), "description": status.get("Description")},
        "resource": {"attributes": _pairs({"Attributes": data.get("Resource")})},
        "scope": {"name": scope.get("Name")},
    }


def _pairs(data: JsonObject) -> JsonObject:
    given = objects_in(data.get("Attributes"))
    return {str(one.get("Key")): object_in(one.get("Value")).get("Value") for one in given}


def _of_node(data: JsonObject, context: JsonObject, start: float | None, end: float | None) -> JsonObject:
    scope = object_in(data.get("instrumentationScope") or data.get("instrumentationLibrary"))
    resource = object_in(data.get("resource"))
    return {
        "name": data.get("name"),
        "context": {"trace_id": context["traceId"], "span_id": context.get("spanId")},
        "parent_id": first_text(data.get("parentSpanContext"), "spanId")
        or first_text(data, "parentSpanId", "parentId"),
        "start_time": start,
        "end_time": end,
        "attributes": data["attributes"],
        "events": [
            {"name": event.get("name"), "attributes": object_in(event.get("attributes"))}
            for event in objects_in(data.get("events"))
        ],
        "status": object_in(data.get("status")),
        "resource": {"attributes": object_in(resource.get("attributes") or resource.get("_attributes"))},
        "scope": {"name": scope.get("name")},
    }


def _nanoseconds(data: JsonObject, key: str) -> float | None:
    """A time that is a pair of seconds and nanoseconds."""
    pair = [as_number(part) for part in list_in(data.get(key))]
    return None if len(pair) != 2 or pair[0] is None or pair[1] is None else int(pair[0]) * 10**9 + int(pair[1])


def _end_of(data: JsonObject) -> float | None:
    start, took = _nanoseconds(data, "startTime"), _nanoseconds(data, "_duration")
    lasted = None if start is None or took is None else start + took
    return _nanoseconds(data, "endTime") if "endTime" in data else lasted


def _of_zipkin(data: JsonObject, end: float) -> JsonObject:
    tags = data["tags"]
    has_failed = bool(tags.get("error")) or tags.get("otel.status_code") == "ERROR"
    told = first_text(tags, "otel.status_description", "error")
    return {
        "name": data.get("name"),
        "context": {"trace_id": data["traceId"], "span_id": data["id"]},
        "parent_id": first_text(data, "parentId"),
        "start_time": data["timestamp"],
        "end_time": end,
        "attributes": {key: value for key, value in tags.items() if not key.startswith(("otel.", "error"))},
        "status": {"code": "ERROR", "description": told} if has_failed else {},
        "resource": {"attributes": {"service.name": at(data.get("localEndpoint"), "serviceName")}},
        "scope": {"name": first_text(tags, "otel.scope.name", "otel.library.name")},
    }

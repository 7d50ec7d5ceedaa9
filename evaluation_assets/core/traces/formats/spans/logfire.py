"""Rows of the table of records of Pydantic Logfire, which its query API returns as JSON: a span or a log each."""

from typing import Any

import orjson

from evaluation_assets.core.traces.formats.untyped import object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

_PENDING = "pending_span"
"""What a span had when it started: the row of the span itself has it, too."""


def is_row(data: Any) -> bool:
    if not isinstance(data, dict) or not isinstance(data.get("attributes"), dict):
        return False
    return all(isinstance(data.get(key), str) for key in ("span_name", "start_timestamp", "trace_id", "span_id"))


def spans_of(rows: list[JsonObject]) -> list[JsonObject]:
    """The spans of rows, as the console exporter of Python's SDK writes them."""
    return [_span_of(row) for row in rows if row.get("kind") != _PENDING]


def _span_of(row: JsonObject) -> JsonObject:
    has_failed = row.get("is_exception") is True
    return {
        "name": row["span_name"],
        "context": {"trace_id": row["trace_id"], "span_id": row["span_id"]},
        "parent_id": row.get("parent_span_id"),
        "start_time": row["start_timestamp"],
        "end_time": row.get("end_timestamp"),
        "attributes": {key: _as_recorded(value) for key, value in row["attributes"].items()},
        "events": [
            {"name": event.get("event_name"), "attributes": object_in(event.get("attributes"))}
            for event in objects_in(row.get("otel_events"))
        ],
        "status": {
            "code": "ERROR" if has_failed else row.get("otel_status_code"),
            "description": row.get("exception_message") or row.get("otel_status_message"),
        },
        "resource": {"attributes": {"service.name": row.get("service_name")}},
        "scope": {"name": row.get("otel_scope_name")},
    }


def _as_recorded(value: Any) -> Any:
    """An attribute as its program wrote it: text with JSON, which the table has as objects."""
    is_parsed = isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value))
    return orjson.dumps(value).decode() if is_parsed else value

"""OTLP JSON documents, split by trace. Every limit that protects the spool from a sender is applied here."""

import base64
import re
from collections.abc import Iterator
from typing import Any

import orjson

from evaluation_assets.core.intake.sources.otlp.counting import check_values
from evaluation_assets.core.intake.sources.otlp.parts import MalformedRequest, OversizedRequest, Part, Parts, Signal
from evaluation_assets.core.traces.formats.files.json_values import loaded
from evaluation_assets.core.traces.formats.untyped import at, list_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject

MOST_ATTRIBUTES = 2048
"""Of a span, an event, a log record, a resource or a library; SDKs have 128 by default."""

MOST_EVENTS = 10_000
"""Of a span."""

MOST_PARTS_BYTES = 128 << 20
"""Of all parts of a request. Each repeats its resource and libraries, which may be as large as the request."""

_HEXADECIMAL = re.compile(r"[0-9a-fA-F]+")
_LAYERS: dict[Signal, tuple[str, str, str]] = {
    "traces": ("resourceSpans", "scopeSpans", "spans"),
    "logs": ("resourceLogs", "scopeLogs", "logRecords"),
}
_GEN_AI = "gen_ai."


def document_of(body: bytes) -> JsonObject:
    """Decode the body of a request. One text or number that JSON or a table lacks costs no span: senders do not repeat
    what is refused.

    Raises:
        MalformedRequest: the body is not a JSON object, or is nested too deeply.
        OversizedRequest: it holds too many values.
    """
    check_values(body)
    try:
        document = loaded(body)
    except ValueError as problem:
        is_deep = isinstance(problem.__cause__, RecursionError | TypeError)
        raise MalformedRequest("the body is nested too deeply" if is_deep else "the body is not JSON") from None
    if not isinstance(document, dict):
        raise MalformedRequest("the body is not a JSON object")
    return document


def parts_of(document: JsonObject, signal: Signal) -> Parts:
    """Split a request by traces.

    Raises:
        MalformedRequest: the document does not have the shape of the signal.
        OversizedRequest: its parts are too large together.
    """
    resources, scopes, name = _LAYERS[signal]
    if not isinstance(document.get(resources, []), list):
        raise MalformedRequest(f"{resources} is not a list")
    parts = Parts()
    of_traces: dict[str, list[JsonObject]] = {}
    of_parts: dict[str, list[JsonObject]] = {}
    for resource in _groups(document, resources, parts):
        opened: dict[str, JsonObject] = {}
        for scope in _groups(resource, scopes, parts):
            for trace, items in _accepted(resource, scope, signal, parts).items():
                if trace not in opened:
                    opened[trace] = {**_about(resource, "resource"), scopes: []}
                    of_traces.setdefault(trace, []).append(opened[trace])
                opened[trace][scopes].append({**_about(scope, "scope"), name: items})
                of_parts.setdefault(trace, []).extend(items)
    size = 0
    for trace, items in of_parts.items():
        try:
            content = orjson.dumps({resources: of_traces[trace]})
        except orjson.JSONEncodeError:
            parts.reject(len(items), "values are nested too deeply")
            continue
        size += len(content)
        if size > MOST_PARTS_BYTES:
            raise OversizedRequest
        part = Part(
            trace=trace,
            signal=signal,
            items=len(items),
            has_root=signal == "traces" and not all(item.get("parentSpanId", "").strip("0") for item in items),
            content=content,
        )
        parts.parts.append(part)
    return parts


def _groups(holder: JsonObject, key: str, parts: Parts) -> Iterator[JsonObject]:
    """The objects in a list of groups. What is none may have held spans, and is refused as one of them."""
    for group in _listed(holder, key, parts):
        if isinstance(group, dict):
            yield group
        else:
            parts.reject(1, f"an entry of {key} is not an object")


def _listed(holder: JsonObject, key: str, parts: Parts) -> list[Any]:
    entries = holder.get(key)
    if entries is not None and not isinstance(entries, list):
        parts.reject(1, f"{key} is not a list")
    return list_in(entries)


def _about(group: JsonObject, key: str) -> JsonObject:
    """What the items of a group have in common: their resource or library."""
    return {name: group[name] for name in (key, "schemaUrl") if name in group}


def _accepted(resource: JsonObject, scope: JsonObject, signal: Signal, parts: Parts) -> dict[str, list[JsonObject]]:
    """The items of one library by trace."""
    by_trace: dict[str, list[JsonObject]] = {}
    for item in _listed(scope, _LAYERS[signal][2], parts):
        if signal == "logs" and not _is_gen_ai(item):
            parts.ignored += 1
        elif (problem := _problem(resource, scope, item)) is not None:
            parts.reject(1, problem)
        else:
            by_trace.setdefault(item["traceId"], []).append(item)
    return by_trace


def _problem(resource: JsonObject, scope: JsonObject, item: Any) -> str | None:
    """Why an item is refused. The IDs of others are written as hexadecimal digits in lower case."""
    if not isinstance(item, dict):
        return "a span is not an object"
    for key, size in (("traceId", 16), ("spanId", 8)):
        known = _hexadecimal(item.get(key), size)
        if known is None or not known.strip("0"):
            return f"{key} is not an ID of {2 * size} hexadecimal digits"
        item[key] = known
    if item.get("parentSpanId"):
        item["parentSpanId"] = _hexadecimal(item["parentSpanId"], 8) or ""
    events = list(objects_in(item.get("events")))
    if len(events) > MOST_EVENTS:
        return f"a span has more than {MOST_EVENTS:,} events"
    holders = (item, *events, *objects_in([resource.get("resource"), scope.get("scope")]))
    if any(len(list_in(holder.get("attributes"))) > MOST_ATTRIBUTES for holder in holders):
        return f"more than {MOST_ATTRIBUTES:,} attributes on one span, event, log record, resource or scope"
    return None


def _hexadecimal(value: Any, size: int) -> str | None:
    """An ID in hexadecimal digits; protobuf's own JSON has it in base64."""
    if not isinstance(value, str):
        return None
    if len(value) == 2 * size:
        return value.lower() if _HEXADECIMAL.fullmatch(value) else None
    try:
        decoded = base64.b64decode(value, validate=True)
    except ValueError:
        return None
    return decoded.hex() if len(decoded) == size else None


def _is_gen_ai(record: Any) -> bool:
    """Whether a log record belongs to a span and is an event of the conventions for generative AI."""
    if not isinstance(record, dict) or not record.get("spanId") or not record.get("traceId"):
        return False
    return any(isinstance(name, str) and name.startswith(_GEN_AI) for name in _event_names(record))


def _event_names(record: JsonObject) -> Iterator[Any]:
    yield record.get("eventName")
    for attribute in objects_in(record.get("attributes")):
        if attribute.get("key") == "event.name":
            yield at(attribute.get("value"), "stringValue")

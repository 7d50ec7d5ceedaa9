"""Spans and OTLP files, made on the spot."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson


def span(
    name: str,
    attributes: dict[str, Any],
    *,
    start: int = 0,
    end: int | None = None,
    parent: str | None = None,
    trace: str = "t1",
    scope: str = "library",
    events: Iterable[tuple[str, dict[str, Any]]] = (),
    error: str | None = None,
) -> dict[str, Any]:
    """A span as OTLP has it, with its name as its ID, and the library that wrote it as `scope`."""
    status: dict[str, Any] = {} if error is None else {"code": 2, "message": error}
    return {
        "traceId": trace,
        "spanId": name,
        "parentSpanId": parent or "",
        "name": name,
        "startTimeUnixNano": str(start * 10**9),
        "endTimeUnixNano": str((start + 1 if end is None else end) * 10**9),
        "attributes": _pairs(attributes),
        "events": [{"name": event, "attributes": _pairs(values)} for event, values in events],
        "status": status,
        "scope": scope,
    }


def otlp(path: Path, *spans: dict[str, Any]) -> Path:
    """Write a file of OTLP JSON lines, a span a line."""
    with path.open("wb") as sink:
        for one in spans:
            inner = {key: value for key, value in one.items() if key != "scope"}
            scope = {"scope": {"name": one["scope"]}, "spans": [inner]}
            sink.write(orjson.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [scope]}]}) + b"\n")
    return path


def chat(inputs: list[Any], outputs: list[Any], **more: Any) -> dict[str, Any]:
    """Attributes of a model span in the GenAI conventions."""
    messages = {"gen_ai.input.messages": inputs, "gen_ai.output.messages": outputs}
    texts = {key: orjson.dumps(value).decode() for key, value in messages.items()}
    return {"gen_ai.operation.name": "chat", **texts, **more}


def said(role: str, text: str) -> dict[str, Any]:
    """A message of text."""
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def asked_for(call_id: str | None, name: str, **arguments: Any) -> dict[str, Any]:
    """A message with a call."""
    call = {"type": "tool_call", "name": name, "arguments": arguments}
    return {"role": "assistant", "parts": [call if call_id is None else {**call, "id": call_id}]}


def returned(call_id: str | None, text: str) -> dict[str, Any]:
    """A message with the result of a call."""
    part = {"type": "tool_call_response", "response": text}
    return {"role": "tool", "parts": [part if call_id is None else {**part, "id": call_id}]}


def _pairs(values: dict[str, Any]) -> list[Any]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": list(map(_value, value))}}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": str(value)}

"""IDs of traces and spans as OpenTelemetry writes them."""

import re
from base64 import b64decode

_TRACE, _SPAN = re.compile(r"[0-9a-f]{32}"), re.compile(r"[0-9a-f]{16}")
_SPAN_IN_BASE64 = re.compile(r"[0-9A-Za-z+/]{11}=")


def otel_trace(trace_id: str) -> str | None:
    """An ID as OpenTelemetry writes it, 32 hexadecimal digits; `None` if it is not one. MLflow puts `tr-` before it."""
    plain = trace_id.removeprefix("tr-")
    return plain if _TRACE.fullmatch(plain) else None


def otel_span(span_id: str) -> str | None:
    """An ID as OpenTelemetry writes it, 16 hexadecimal digits; `None` if it is not one. MLflow exports base64."""
    if _SPAN.fullmatch(span_id):
        return span_id
    return b64decode(span_id).hex() if _SPAN_IN_BASE64.fullmatch(span_id) else None

"""The setting that makes an instrumentation record messages, by the library that wrote a span."""

_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"
_CAPTURE_IN_SPANS = (
    "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental and "
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"
)
_OPENLLMETRY = "TRACELOOP_TRACE_CONTENT=true (OpenLLMetry)"
_SETTINGS = (
    ("gcp.vertex.agent", f"{_CAPTURE_IN_SPANS} (Google ADK)"),
    ("openinference.", "OPENINFERENCE_HIDE_INPUTS=false and OPENINFERENCE_HIDE_OUTPUTS=false (OpenInference)"),
    ("pydantic-ai", "InstrumentationSettings(include_content=True) (Pydantic AI)"),
    ("opentelemetry.util.genai", _CAPTURE_IN_SPANS),
    ("opentelemetry.instrumentation.google_genai", _CAPTURE_IN_SPANS),
    ("opentelemetry.instrumentation.openai_v2", _CAPTURE),
    ("opentelemetry.instrumentation.vertexai", f"{_CAPTURE} (OpenTelemetry) or {_OPENLLMETRY}"),
    ("opentelemetry.instrumentation.openai_agents", f"{_CAPTURE} (OpenTelemetry) or {_OPENLLMETRY}"),
    ("opentelemetry.instrumentation.", _OPENLLMETRY),
)
"""Beginnings of names of libraries, the more specific first. OpenTelemetry and OpenLLMetry share some of the names."""


def content_setting(scope: str) -> str:
    """What to set so that spans of this library have messages; empty if it is not known."""
    return next((setting for start, setting in _SETTINGS if scope.startswith(start)), "")

"""The setting that makes an instrumentation record messages, by the library that wrote a span."""

_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"
_SETTINGS = (
    (
        "gcp.vertex.agent",
        "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental and "
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY (Google ADK)",
    ),
    ("openinference.", "OPENINFERENCE_HIDE_INPUTS=false and OPENINFERENCE_HIDE_OUTPUTS=false (OpenInference)"),
    ("pydantic-ai", "InstrumentationSettings(include_content=True) (Pydantic AI)"),
    ("opentelemetry.instrumentation.openai_v2", _CAPTURE),
    ("opentelemetry.instrumentation.google_genai", _CAPTURE),
    ("opentelemetry.instrumentation.vertexai_v2", _CAPTURE),
    ("opentelemetry.instrumentation.", "TRACELOOP_TRACE_CONTENT=true (OpenLLMetry)"),
)
"""Beginnings of names of libraries, the more specific first."""


def content_setting(scope: str) -> str:
    """What to set so that spans of this library have messages; empty if it is not known."""
    return next((setting for start, setting in _SETTINGS if scope.startswith(start)), "")

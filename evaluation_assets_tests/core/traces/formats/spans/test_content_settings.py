"""Settings that make instrumentations record messages.

The names are in the sources of opentelemetry-instrumentation-openai-v2 2.4b0, -vertexai 2.2b0 and 0.62.4,
-google-genai 1.3b0, -openai-agents-v2 0.1.0, -openai-agents 0.62.4 and -langchain 0.62.4, opentelemetry-util-genai
0.4b0, openinference-instrumentation 0.1.72, google-adk 2.13.0 and pydantic-ai-slim 2.68.0.
"""

import pytest

from evaluation_assets.core.traces.formats.spans.content_settings import content_setting

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


@pytest.mark.parametrize(
    ("scope", "settings"),
    [
        ("opentelemetry.instrumentation.openai_v2", [f"{CAPTURE}=true"]),
        ("opentelemetry.instrumentation.vertexai", [f"{CAPTURE}=true", "TRACELOOP_TRACE_CONTENT=true"]),
        ("opentelemetry.instrumentation.openai_agents", [f"{CAPTURE}=true", "TRACELOOP_TRACE_CONTENT=true"]),
        ("opentelemetry.instrumentation.google_genai", [f"{CAPTURE}=SPAN_ONLY", "gen_ai_latest_experimental"]),
        ("opentelemetry.util.genai.handler", [f"{CAPTURE}=SPAN_ONLY", "gen_ai_latest_experimental"]),
        ("opentelemetry.instrumentation.langchain", ["TRACELOOP_TRACE_CONTENT=true"]),
        ("openinference.instrumentation.crewai", ["OPENINFERENCE_HIDE_INPUTS=false"]),
        ("a.library", []),
    ],
)
def test_setting_of_the_library(scope: str, settings: list[str]) -> None:
    setting = content_setting(scope)
    assert all(name in setting for name in settings)
    assert bool(setting) == bool(settings)

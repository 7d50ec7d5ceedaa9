"""Run the scenario with Google's Agent Development Kit, for its spans: `make.py OUT_DIR BASE_URL`."""

import asyncio
import os
import sys
from pathlib import Path

import scenario

CONTENT = {
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY",
    "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
}
"""Without both, its spans have no messages."""


def check_stock(sku: str) -> dict:
    """Check how many items are in stock."""
    try:
        return scenario.check_stock(sku)
    except scenario.WarehouseError as problem:
        return {"error": str(problem)}


async def main(out: Path, base_url: str) -> None:
    keys = {"GOOGLE_API_KEY": "local", "GOOGLE_GEMINI_BASE_URL": f"{base_url}/gemini"}
    os.environ |= keys | CONTENT

    from exporters import OtlpFile
    from google.adk.agents import Agent
    from google.adk.runners import InMemoryRunner
    from google.genai import types
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OtlpFile(out / "gemini.otlp.jsonl")))
    trace.set_tracer_provider(provider)
    desk = Agent(
        name="desk",
        model="gemini-2.5-flash",
        instruction=scenario.INSTRUCTIONS["desk"],
        tools=[scenario.look_up_order, check_stock, scenario.refund],
    )
    runner = InMemoryRunner(agent=desk, app_name="refunds")
    session = await runner.session_service.create_session(app_name="refunds", user_id="u")
    for text in scenario.USER_MESSAGES:
        said = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=said):
            pass
    provider.shutdown()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))

"""Run the scenario with Pydantic AI: `make.py OUT_DIR BASE_URL`."""

import json
import sys
from pathlib import Path

import scenario
from exporters import OtlpFile
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor
from pydantic_ai import Agent, InstrumentationSettings, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

MODELS = {"responses": OpenAIResponsesModel, "chat": OpenAIChatModel}


def check_stock(sku: str) -> dict:
    """Check how many items are in stock."""
    try:
        return scenario.check_stock(sku)
    except scenario.WarehouseError as problem:
        raise ModelRetry(str(problem)) from problem


def main(out: Path, base_url: str) -> None:
    for run, model_class in MODELS.items():
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(OtlpFile(out / f"{run}.otlp.jsonl")))
        with (out / f"{run}.console.json").open("w", encoding="utf-8") as console:
            provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=console)))
            Agent.instrument_all(InstrumentationSettings(tracer_provider=provider))
            agent = Agent(
                model_class("gpt-5", provider=OpenAIProvider(base_url=f"{base_url}/{run}/v1", api_key="local")),
                name="desk",
                instructions=scenario.INSTRUCTIONS["desk"],
                tools=[scenario.look_up_order, check_stock, scenario.refund],
            )
            messages = []
            for text in scenario.USER_MESSAGES:
                result = agent.run_sync(text, message_history=messages)
                messages = result.all_messages()
            provider.shutdown()
        (out / f"{run}.all_messages.json").write_bytes(result.all_messages_json())
    overrides = {f"{run}.all_messages.json": {"agents": None} for run in MODELS}
    (out / "overrides.json").write_text(json.dumps(overrides), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])

"""Run the scenario with Strands Agents, for its spans: `make.py OUT_DIR BASE_URL`."""

import os
import subprocess
import sys
from pathlib import Path

import scenario
from exporters import OtlpFile
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from strands import Agent, tool
from strands.models.openai import OpenAIModel

RUNS = {"events": "", "latest": "gen_ai_latest_experimental"}
"""What each run sets as OTEL_SEMCONV_STABILITY_OPT_IN."""


def main(out: Path, base_url: str) -> None:
    for run, conventions in RUNS.items():
        environment = {**os.environ, "OTEL_SEMCONV_STABILITY_OPT_IN": conventions}
        subprocess.run([sys.executable, __file__, str(out), base_url, run], check=True, env=environment)


def make(out: Path, base_url: str, run: str) -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OtlpFile(out / f"{run}.otlp.jsonl")))
    trace.set_tracer_provider(provider)
    agent = Agent(
        model=OpenAIModel(client_args={"base_url": f"{base_url}/{run}/v1", "api_key": "local"}, model_id="gpt-5"),
        name="desk",
        system_prompt=scenario.INSTRUCTIONS["desk"],
        tools=[tool(function) for function in scenario.TOOLS.values()],
        callback_handler=None,
        trace_attributes={"session.id": "conversation-1"},
    )
    for text in scenario.USER_MESSAGES:
        agent(text)
    provider.shutdown()


if __name__ == "__main__":
    folder, url, *one = sys.argv[1:]
    make(Path(folder), url, one[0]) if one else main(Path(folder), url)

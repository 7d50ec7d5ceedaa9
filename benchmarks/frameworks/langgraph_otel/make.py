"""Run the scenario with LangGraph under two OpenTelemetry instrumentations: `make.py OUT_DIR BASE_URL`."""

import os
import subprocess
import sys
from pathlib import Path

from exporters import OtlpFile
from langgraph_otel.conversation import converse
from openinference.instrumentation.langchain import LangChainInstrumentor as OpenInference
from opentelemetry.instrumentation.langchain import LangchainInstrumentor as OpenLLMetry
from opentelemetry.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

RUNS = {
    "openinference": [OpenInference],
    "both": [OpenInference, OpenLLMetry],
    "openllmetry": [OpenLLMetry],
    "openllmetry_openai": [OpenLLMetry, OpenAIInstrumentor],
    "openinference_openai": [OpenInference, OpenAIInstrumentor],
}
"""The instrumentations of each run: of the framework, and beside it of the provider's client."""


def main(out: Path, base_url: str) -> None:
    for run in RUNS:  # an instrumentation does not take itself out again, so each run has a process
        subprocess.run([sys.executable, __file__, str(out), base_url, run], check=True)


def make(out: Path, base_url: str, run: str) -> None:
    os.environ["TRACELOOP_TRACE_CONTENT"] = "true"
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OtlpFile(out / f"{run}.otlp.jsonl")))
    for kind in RUNS[run]:
        kind().instrument(tracer_provider=provider)
    converse(f"{base_url}/{run}/v1")
    provider.shutdown()


if __name__ == "__main__":
    folder, url, *one = sys.argv[1:]
    make(Path(folder), url, one[0]) if one else main(Path(folder), url)

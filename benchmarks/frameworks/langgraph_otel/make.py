"""Run the scenario with LangGraph under two OpenTelemetry instrumentations: `make.py OUT_DIR BASE_URL`."""

import os
import subprocess
import sys
from pathlib import Path

import scenario
from exporters import OtlpFile
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import ToolMessage
from langchain_openai import ChatOpenAI
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


@wrap_tool_call
def failures_are_results(request, handler):
    """Give a tool's failure to the model."""
    try:
        return handler(request)
    except scenario.WarehouseError as problem:
        return ToolMessage(content=str(problem), tool_call_id=request.tool_call["id"], status="error")


def main(out: Path, base_url: str) -> None:
    for run in RUNS:  # an instrumentation does not take itself out again, so each run has a process
        subprocess.run([sys.executable, __file__, str(out), base_url, run], check=True)


def make(out: Path, base_url: str, run: str) -> None:
    os.environ["TRACELOOP_TRACE_CONTENT"] = "true"
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OtlpFile(out / f"{run}.otlp.jsonl")))
    for kind in RUNS[run]:
        kind().instrument(tracer_provider=provider)
    _converse(f"{base_url}/{run}/v1")
    provider.shutdown()


def _converse(base_url: str) -> None:
    agent = create_agent(
        ChatOpenAI(model="gpt-5", base_url=base_url, api_key="local", use_responses_api=False),
        [scenario.look_up_order, scenario.check_stock, scenario.refund],
        system_prompt=scenario.INSTRUCTIONS["desk"],
        middleware=[failures_are_results],
        name="desk",
    )
    messages = []
    for text in scenario.USER_MESSAGES:
        state = {"messages": [*messages, {"role": "user", "content": text}]}
        messages = agent.invoke(state, {"configurable": {"thread_id": "1"}, "metadata": {"thread_id": "1"}})["messages"]


if __name__ == "__main__":
    folder, url, *one = sys.argv[1:]
    make(Path(folder), url, one[0]) if one else main(Path(folder), url)

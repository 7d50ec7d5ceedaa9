"""Run the scenario with CrewAI under OpenInference's instrumentation: `make.py OUT_DIR BASE_URL`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import scenario
from exporters import OtlpFile
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

RUNS = ("desk", "desk_openai", "crew", "crew_openai")
"""One agent, or a crew of two; under CrewAI's instrumentation only, or with that of the provider's client."""

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false"}


def main(out: Path, base_url: str) -> None:
    overrides: dict[str, dict] = {f"{run}.otlp.jsonl": {} for run in RUNS}
    for run in RUNS:  # an instrumentation does not take itself out again, so each run has a process
        subprocess.run([sys.executable, __file__, str(out), base_url, run], check=True)
        if not run.endswith("_openai"):  # CrewAI's instrumentation has no spans of models
            overrides[f"{run}.otlp.jsonl"] |= {"input_tokens": None, "output_tokens": None}
        if run.startswith("crew"):  # each agent is given a task of its own, and its conversation begins with it
            overrides[f"{run}.otlp.jsonl"] |= {"turns": 2}
    (out / "overrides.json").write_text(json.dumps(overrides), "utf-8")


def make(out: Path, base_url: str, run: str) -> None:
    from openinference.instrumentation.crewai import CrewAIInstrumentor
    from openinference.instrumentation.openai import OpenAIInstrumentor

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OtlpFile(out / f"{run}.otlp.jsonl")))
    CrewAIInstrumentor().instrument(tracer_provider=provider)
    if run.endswith("_openai"):
        OpenAIInstrumentor().instrument(tracer_provider=provider)
    _work(f"{base_url}/{run}/v1", has_billing=run.startswith("crew"))
    provider.shutdown()


def _work(base_url: str, *, has_billing: bool) -> None:
    from crewai import LLM, Agent, Crew, Task
    from crewai.tools import tool

    def agent(name, tools):
        return Agent(
            role=name,
            goal=scenario.INSTRUCTIONS[name],
            backstory=scenario.DESCRIPTIONS[name],
            tools=[tool(function.__name__)(function) for function in tools],
            llm=LLM(model="openai/gpt-5", base_url=base_url, api_key="local"),
        )

    desk_tools, billing_tools = [scenario.look_up_order, scenario.check_stock], [scenario.refund]
    agents = [agent("desk", desk_tools if has_billing else desk_tools + billing_tools)]
    agents += [agent("billing", billing_tools)] if has_billing else []
    tasks = [
        Task(description=scenario.USER_MESSAGES[0], expected_output="An answer.", agent=worker) for worker in agents
    ]
    Crew(agents=agents, tasks=tasks).kickoff()


if __name__ == "__main__":
    folder, url, *one = sys.argv[1:]
    make(Path(folder), url, one[0]) if one else main(Path(folder), url)

"""Run the scenario with the OpenAI Agents SDK: `make.py OUT_DIR BASE_URL`."""

import json
import sys
from pathlib import Path

import scenario
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    add_trace_processor,
    function_tool,
    set_trace_processors,
    trace,
)
from agents.tracing import TracingProcessor
from exporters import OtlpFile
from openai import AsyncOpenAI
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

MODELS = {"responses": OpenAIResponsesModel, "chat": OpenAIChatCompletionsModel}


class JsonLines(TracingProcessor):
    """Appends each finished trace and span as the SDK exports it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def on_trace_start(self, trace) -> None: ...

    def on_trace_end(self, trace) -> None:
        self._write(trace)

    def on_span_start(self, span) -> None: ...

    def on_span_end(self, span) -> None:
        self._write(span)

    def shutdown(self) -> None: ...

    def force_flush(self) -> None: ...

    def _write(self, item) -> None:
        with self._path.open("a", encoding="utf-8") as sink:
            sink.write(json.dumps(item.export()) + "\n")


def main(out: Path, base_url: str) -> None:
    reworded = {"error_text": "An error occurred while running the tool. Please try again."}
    unknown = {"agents": None, "input_tokens": None, "output_tokens": None, "has_errors": False}
    overrides = {}
    for run, model_class in MODELS.items():
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(OtlpFile(out / f"{run}.openinference_otlp.jsonl")))
        set_trace_processors([])
        OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
        add_trace_processor(JsonLines(out / f"{run}.sdk_trace.jsonl"))
        model = model_class("gpt-5", AsyncOpenAI(base_url=f"{base_url}/{run}/v1", api_key="local"))
        items = converse(model)
        provider.shutdown()
        OpenAIAgentsInstrumentor().uninstrument()
        (out / f"{run}.input_list.json").write_text(json.dumps(items), "utf-8")
        # Lists of items have neither agents nor usage, and the SDK words a tool's failure as an ordinary output.
        overrides[f"{run}.input_list.json"] = unknown | reworded
        overrides |= {f"{run}.{shape}.jsonl": reworded for shape in ("openinference_otlp", "sdk_trace")}
    # The SDK exports a response as its ID and usage, without what was said.
    overrides["responses.sdk_trace.jsonl"] = reworded | {"task": None, "turns": None, "answer": None}
    (out / "overrides.json").write_text(json.dumps(overrides), "utf-8")


def converse(model) -> list:
    """Run the scenario, and return the items of the conversation."""

    def agent(name, tools, handoffs=()):
        text = scenario.INSTRUCTIONS[name]
        described = {"handoff_description": scenario.DESCRIPTIONS[name]}
        return Agent(name=name, instructions=text, model=model, tools=tools, handoffs=list(handoffs), **described)

    billing = agent("billing", [function_tool(scenario.refund)])
    desk = agent("desk", [function_tool(scenario.look_up_order), function_tool(scenario.check_stock)], [billing])
    items = []
    with trace("Refund", group_id="conversation-1"):
        for text in scenario.USER_MESSAGES:
            result = Runner.run_sync(desk, [*items, {"role": "user", "content": text}])
            items = result.to_input_list()
    return items


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])

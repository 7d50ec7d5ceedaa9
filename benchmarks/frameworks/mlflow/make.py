"""Run the scenario with MLflow tracing, and export the traces as MLflow does: `make.py OUT_DIR BASE_URL`."""

import json
import sys
import tempfile
from functools import partial
from pathlib import Path

import mlflow
import scenario
from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
from openai import AsyncOpenAI, OpenAI

TOOLS = {name: mlflow.trace(tool, span_type="TOOL", name=name) for name, tool in scenario.TOOLS.items()}


def main(out: Path, base_url: str) -> None:
    # The SDK words a tool's failure in its own way.
    reworded = {"error_text": "An error occurred while running the tool. Please try again."}
    for run, converse in RUNS.items():
        with tempfile.TemporaryDirectory() as folder:
            mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
            mlflow.set_experiment(run)
            mlflow.openai.autolog()
            with mlflow.start_span("conversation", span_type="CHAIN"):
                converse(f"{base_url}/{run}/v1")
            mlflow.flush_trace_async_logging()
            _export(out, run)
    overrides = {sample.name: reworded for sample in out.iterdir() if sample.name.startswith("agents")}
    (out / "overrides.json").write_text(json.dumps(overrides), "utf-8")


def _export(out: Path, run: str) -> None:
    traces = mlflow.search_traces(return_type="list", order_by=["timestamp_ms ASC"])
    (out / f"{run}.to_dict.json").write_text(json.dumps([trace.to_dict() for trace in traces]), "utf-8")
    lines = "".join(f"{trace.to_json()}\n" for trace in traces)
    (out / f"{run}.to_json.jsonl").write_text(lines, "utf-8")
    frame = mlflow.search_traces(order_by=["timestamp_ms ASC"])
    # Requests of different types are no column of Parquet.
    frame.drop(columns=["request", "response"]).to_parquet(out / f"{run}.search_traces_parquet.parquet")
    frame.to_json(out / f"{run}.search_traces.jsonl", orient="records", lines=True)


def _by_hand(base_url: str) -> None:
    """One agent in a loop of its own: spans of the client by autolog, of tools and turns by decorators."""
    client = OpenAI(base_url=base_url, api_key="local")
    offered = [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
        for name in TOOLS
    ]
    messages = [{"role": "system", "content": scenario.INSTRUCTIONS["desk"]}]

    @mlflow.trace(name="desk", span_type="AGENT")
    def turn(question: str) -> str:
        messages.append({"role": "user", "content": question})
        while True:
            reply = client.chat.completions.create(model="gpt-5", messages=messages, tools=offered)
            said = reply.choices[0].message
            messages.append(said.model_dump(exclude_none=True))
            if not said.tool_calls:
                return said.content
            for call in said.tool_calls:
                content = _call(call.function.name, json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})

    for text in scenario.USER_MESSAGES:
        turn(text)


def _call(name: str, arguments: dict) -> str:
    try:
        return json.dumps(TOOLS[name](**arguments))
    except scenario.WarehouseError as problem:
        return str(problem)


def _agents_sdk(model_class: type, base_url: str) -> None:
    """Two agents of the OpenAI Agents SDK, traced by autolog."""
    model = model_class("gpt-5", AsyncOpenAI(base_url=base_url, api_key="local"))

    def agent(name, tools, handoffs=()):
        return Agent(
            name=name,
            instructions=scenario.INSTRUCTIONS[name],
            handoff_description=scenario.DESCRIPTIONS[name],
            model=model,
            tools=[function_tool(tool) for tool in tools],
            handoffs=list(handoffs),
        )

    billing = agent("billing", [scenario.refund])
    desk = agent("desk", [scenario.look_up_order, scenario.check_stock], [billing])
    items = []
    for text in scenario.USER_MESSAGES:
        items = Runner.run_sync(desk, [*items, {"role": "user", "content": text}]).to_input_list()


RUNS = {
    "by_hand": _by_hand,
    "agents_chat": partial(_agents_sdk, OpenAIChatCompletionsModel),
    "agents_responses": partial(_agents_sdk, OpenAIResponsesModel),
}

if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])

"""Send traces to a Phoenix server, and export the spans as its users do: `make.py OUT_DIR BASE_URL`."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agents import OpenAIChatCompletionsModel, OpenAIResponsesModel, set_trace_processors
from langgraph_otel.conversation import converse as converse_with_langgraph
from openai import AsyncOpenAI
from openai_agents.make import converse
from openinference.instrumentation.langchain import LangChainInstrumentor
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from phoenix.client import Client

_START_SECONDS = 90
_STORE_SECONDS = 30
AGENTS_SDK = {"agents_responses": OpenAIResponsesModel, "agents_chat": OpenAIChatCompletionsModel}


def main(out: Path, base_url: str) -> None:
    # The SDK words a tool's failure in its own way.
    reworded = {"error_text": "An error occurred while running the tool. Please try again."}
    with server() as phoenix:
        for run, model_class in AGENTS_SDK.items():
            provider = provider_of(run, phoenix)
            set_trace_processors([])
            OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
            converse(model_class("gpt-5", AsyncOpenAI(base_url=f"{base_url}/{run}/v1", api_key="local")))
            provider.shutdown()
            OpenAIAgentsInstrumentor().uninstrument()
            export(out, run, phoenix)
        provider = provider_of("langgraph", phoenix)
        LangChainInstrumentor().instrument(tracer_provider=provider)
        converse_with_langgraph(f"{base_url}/langgraph/v1")
        provider.shutdown()
        export(out, "langgraph", phoenix)
    overrides = {sample.name: reworded for sample in out.iterdir() if sample.name.startswith("agents")}
    (out / "overrides.json").write_text(json.dumps(overrides), "utf-8")


def provider_of(project: str, phoenix: str) -> TracerProvider:
    """A provider whose spans go to a project of the server."""
    provider = TracerProvider(resource=Resource({"openinference.project.name": project}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{phoenix}/v1/traces")))
    return provider


def export(out: Path, project: str, phoenix: str) -> None:
    """Export the spans of a project: by REST, and as the client's data frame."""
    data = _stored(f"{phoenix}/v1/projects/{project}/spans?limit=1000")
    (out / f"{project}.rest.json").write_bytes(data)
    with urllib.request.urlopen(f"{phoenix}/v1/projects/{project}/spans/otlpv1?limit=1000") as reply:
        (out / f"{project}.rest_otlp.json").write_bytes(reply.read())
    client = Client(base_url=phoenix)
    spans = client.spans.get_spans(project_identifier=project, limit=1000)
    (out / f"{project}.get_spans.json").write_text(json.dumps(spans), "utf-8")
    frame = client.spans.get_spans_dataframe(project_identifier=project, limit=1000)
    frame.to_json(out / f"{project}.dataframe.jsonl", orient="records", lines=True, date_format="epoch")
    if "attributes.metadata" in frame:  # LangGraph's metadata has values of several types, which Parquet refuses
        frame["attributes.metadata"] = frame["attributes.metadata"].map(json.dumps)
    frame.to_parquet(out / f"{project}.dataframe_parquet.parquet")


def _stored(url: str) -> bytes:
    """The spans of a project as soon as their number stays the same: the server stores them in the background."""
    before, end = -1, time.monotonic() + _STORE_SECONDS
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(url) as reply:
                data = reply.read()
        except urllib.error.HTTPError:  # no project until its first span is stored
            data = b'{"data": []}'
        count = len(json.loads(data)["data"])
        if count and count == before:
            return data
        before = count
        time.sleep(2)
    raise TimeoutError(f"the spans are not stored after {_STORE_SECONDS} s")


@contextmanager
def server() -> Iterator[str]:
    """A Phoenix server on free ports, and its address."""
    port, grpc_port = _free_port(), _free_port()
    with tempfile.TemporaryDirectory() as folder:
        own = {"PHOENIX_WORKING_DIR": folder, "PHOENIX_PORT": str(port), "PHOENIX_GRPC_PORT": str(grpc_port)}
        own |= {"PHOENIX_HOST": "127.0.0.1", "PHOENIX_TELEMETRY_ENABLED": "false"}
        with (Path(folder) / "server.log").open("wb") as log:
            command = [sys.executable, "-m", "phoenix.server.main", "serve"]
            process = subprocess.Popen(command, env=os.environ | own, stdout=log, stderr=log)
            try:
                _wait(f"http://127.0.0.1:{port}", process)
                yield f"http://127.0.0.1:{port}"
            finally:
                process.terminate()
                process.wait()


def _wait(address: str, process: subprocess.Popen) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/healthz").close()
            return
        except OSError:
            time.sleep(0.5)
    raise TimeoutError(f"Phoenix did not start within {_START_SECONDS} s")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])

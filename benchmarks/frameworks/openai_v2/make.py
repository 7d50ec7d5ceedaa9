"""Run the scenario with OpenAI's client under OpenTelemetry's instrumentation of it: `make.py OUT_DIR BASE_URL`."""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import scenario
from exporters import OtlpFile
from google.protobuf.json_format import MessageToDict
from openai import OpenAI
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
from opentelemetry.sdk._logs import LoggerProvider, ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

CAPTURE, OPT_IN = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "OTEL_SEMCONV_STABILITY_OPT_IN"
LATEST = {OPT_IN: "gen_ai_latest_experimental"}
RUNS = {
    "events": {CAPTURE: "true"},
    "latest_event_only": LATEST | {CAPTURE: "event_only"},
    "latest_span_only": LATEST | {CAPTURE: "span_only"},
}
"""The settings of each run."""


class OtlpLogFile(LogRecordExporter):
    """Appends OTLP JSON lines, as the file exporter of the OpenTelemetry Collector does: a batch a line."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        data = MessageToDict(encode_logs(batch), use_integers_for_enums=True)
        for resource in data["resourceLogs"]:
            for scope in resource["scopeLogs"]:
                for record in scope["logRecords"]:
                    record.update({key: base64.b64decode(record[key]).hex() for key in ("traceId", "spanId")})
        with self._path.open("a", encoding="utf-8") as sink:
            sink.write(json.dumps(data) + "\n")
        return LogRecordExportResult.SUCCESS

    def shutdown(self) -> None: ...

    def force_flush(self, timeout_millis: int = 0) -> bool:
        return True


def main(out: Path, base_url: str) -> None:
    # A client's spans have neither agents nor runs of tools, so that a tool's failure is a result like any other.
    unknown = {"agents": None, "has_errors": False}
    overrides = {f"{run}.otlp.jsonl": unknown for run in RUNS}
    (out / "overrides.json").write_text(json.dumps(overrides), "utf-8")
    for run, settings in RUNS.items():  # the settings are read once, so each run has a process
        subprocess.run([sys.executable, __file__, str(out), base_url, run], check=True, env=os.environ | settings)


def make(out: Path, base_url: str, run: str) -> None:
    path = out / f"{run}.otlp.jsonl"
    spans, logs = TracerProvider(), LoggerProvider()
    spans.add_span_processor(BatchSpanProcessor(OtlpFile(path)))
    logs.add_log_record_processor(SimpleLogRecordProcessor(OtlpLogFile(path)))
    OpenAIInstrumentor().instrument(tracer_provider=spans, logger_provider=logs)
    with spans.get_tracer("app").start_as_current_span("conversation"):
        _converse(OpenAI(base_url=f"{base_url}/{run}/v1", api_key="local"))
    spans.shutdown()
    logs.shutdown()


def _converse(client: OpenAI) -> None:
    schema = {"type": "object", "properties": {}}
    offered = [{"type": "function", "function": {"name": name, "parameters": schema}} for name in scenario.TOOLS]
    messages = [{"role": "system", "content": scenario.INSTRUCTIONS["desk"]}]
    for text in scenario.USER_MESSAGES:
        messages.append({"role": "user", "content": text})
        while True:
            said = client.chat.completions.create(model="gpt-5", messages=messages, tools=offered).choices[0].message
            messages.append(said.model_dump(exclude_none=True))
            if not said.tool_calls:
                break
            for call in said.tool_calls:
                content = _call(call.function.name, json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})


def _call(name: str, arguments: dict) -> str:
    try:
        return json.dumps(scenario.TOOLS[name](**arguments))
    except scenario.WarehouseError as problem:
        return str(problem)


if __name__ == "__main__":
    folder, url, *one = sys.argv[1:]
    make(Path(folder), url, one[0]) if one else main(Path(folder), url)

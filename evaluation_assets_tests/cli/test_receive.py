"""The real receiver in a process, with the exporters of the OpenTelemetry SDK and requests by hand."""

import gzip
import json
import os
import pty
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from evaluation_assets.core.system.commands import installing
from evaluation_assets_tests.receiving import ROOT, Receiver, document, receiving, span

TOKEN = "a-token-for-tests-0123456789"
JSON = {"Content-Type": "application/json"}
PROTOBUF = {"Content-Type": "application/x-protobuf"}


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiver]:
    with receiving(tmp_path_factory.mktemp("home")) as started:
        yield started


def stored(spool: Path, trace: int | None = None) -> list[dict[str, Any]]:
    """The spans and log records in a spool."""
    where = "" if trace is None else f"WHERE trace = '{trace:032x}'"
    with sqlite3.connect(spool) as connection:
        rows = connection.execute(f"SELECT content FROM parts {where} ORDER BY number").fetchall()
    return [
        item
        for (content,) in rows
        for resources in json.loads(content).values()
        for resource in resources
        for scope in resource.get("scopeSpans") or resource["scopeLogs"]
        for item in scope.get("spans") or scope["logRecords"]
    ]


def sent_by_sdk(exporter: SpanExporter, count: int, service: str = "agent") -> set[str]:
    """Send spans through the SDK's batch processor; return their IDs."""
    provider = TracerProvider()
    memory = InMemorySpanExporter()
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=max(512, count)))
    provider.add_span_processor(BatchSpanProcessor(memory, max_queue_size=max(512, count)))
    tracer = provider.get_tracer(service)
    for number in range(count // 4):
        with tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.agent.name": service}):
            for name in ("chat", "execute_tool", "chat"):
                with tracer.start_as_current_span(name, attributes={"gen_ai.operation.name": name, "number": number}):
                    pass
    assert provider.force_flush(120_000)
    provider.shutdown()
    return {f"{one.context.span_id:016x}" for one in memory.get_finished_spans() if one.context}


@pytest.mark.parametrize("compression", [Compression.Gzip, Compression.NoCompression, Compression.Deflate])
def test_the_sdk_exports_to_it(tmp_path: Path, compression: Compression) -> None:
    with receiving(tmp_path) as started:
        sent = sent_by_sdk(OTLPSpanExporter(f"{started.url}/v1/traces", compression=compression), 400)
        assert started.stop() == 0
    found = stored(started.spool)
    assert {item["spanId"] for item in found} == sent
    assert len(found) == len(sent) == 400
    named = [item for item in found if item["name"] == "execute_tool"]
    assert named[0]["attributes"][0] == {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}}
    assert named[0]["attributes"][1]["value"] == {"intValue": "0"}
    assert started.rest.splitlines()[-1] == "evaluation-assets: stopped. Received 400 spans of 100 new traces"


def test_it_is_configured_by_the_variables_that_it_prints(tmp_path: Path) -> None:
    """An agent that knows only the environment: the SDK appends the path of each signal."""
    with receiving(tmp_path, "--token-env", "RECEIVER_TOKEN", RECEIVER_TOKEN=TOKEN) as started:
        assert "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf" in started.first
        assert '"authorization=Bearer%20$RECEIVER_TOKEN"' in started.first
        assert TOKEN not in started.first
        command = started.first.partition("Start your agent with: ")[2].strip()
        code = (
            "from opentelemetry.sdk.trace import TracerProvider as P\n"
            "from opentelemetry.sdk.trace.export import BatchSpanProcessor as B\n"
            "from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as E\n"
            "p = P(); p.add_span_processor(B(E())); p.get_tracer('t').start_span('chat').end(); p.shutdown()"
        )
        shell = f'export {command}; {sys.executable} -c "$CODE"'
        done = subprocess.run(
            ["sh", "-c", shell],
            env=os.environ | {"RECEIVER_TOKEN": TOKEN, "CODE": code},
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert [item["name"] for item in stored(started.spool)] == ["chat"]


@pytest.mark.slow
def test_two_agents_send_20000_spans_at_once(tmp_path: Path) -> None:
    sent: list[set[str]] = []

    def agent(name: str, compression: Compression) -> None:
        exporter = OTLPSpanExporter(f"{started.url}/v1/traces", compression=compression, timeout=60)
        sent.append(sent_by_sdk(exporter, 10_000, name))

    with receiving(tmp_path) as started:
        agents = [
            threading.Thread(target=agent, args=("one", Compression.Gzip)),
            threading.Thread(target=agent, args=("two", Compression.NoCompression)),
        ]
        for each in agents:
            each.start()
        for each in agents:
            each.join()
        assert started.stop(signal.SIGTERM) == 0
    found = [item["spanId"] for item in stored(started.spool)]
    assert set(found) == sent[0] | sent[1]
    assert len(found) == 20_000


@pytest.mark.slow
def test_kill_9_loses_no_acknowledged_span(tmp_path: Path) -> None:
    spans = _finished_spans(4_000)
    acknowledged: set[str] = set()
    started = Receiver(tmp_path)
    exporter = OTLPSpanExporter(f"{started.url}/v1/traces", timeout=5)

    def export(batches: Sequence[Sequence[ReadableSpan]]) -> None:
        for batch in batches:
            if exporter.export(batch) is not SpanExportResult.SUCCESS:
                return
            acknowledged.update(f"{one.context.span_id:016x}" for one in batch if one.context)

    sender = threading.Thread(target=export, args=([spans[start : start + 5] for start in range(0, len(spans), 5)],))
    sender.start()
    while len(acknowledged) < 200 and sender.is_alive():
        time.sleep(0.01)
    started.stop(signal.SIGKILL)
    sender.join()
    assert 200 <= len(acknowledged) < 4_000
    assert acknowledged <= {item["spanId"] for item in stored(started.spool)}
    with receiving(tmp_path) as again:  # the spool is whole
        assert httpx.post(f"{again.url}/v1/traces", json=document([span(1, 1)])).status_code == 200


def _finished_spans(count: int) -> Sequence[ReadableSpan]:
    provider, memory = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(BatchSpanProcessor(memory, max_queue_size=max(512, count)))
    tracer = provider.get_tracer("test")
    for _ in range(count):
        tracer.start_span("chat").end()
    provider.shutdown()
    return memory.get_finished_spans()


def test_json_by_hand(receiver: Receiver) -> None:
    upper = span(0xABC, 0xDEF, **{"gen_ai.operation.name": "chat"})
    upper["traceId"], upper["spanId"] = upper["traceId"].upper(), upper["spanId"].upper()
    body = gzip.compress(json.dumps(document([upper])).encode())
    answer = httpx.post(f"{receiver.url}/v1/traces", content=body, headers={**JSON, "Content-Encoding": "gzip"})
    assert (answer.status_code, answer.headers["content-type"], answer.json()) == (200, "application/json", {})
    (found,) = stored(receiver.spool, 0xABC)
    assert found["spanId"] == f"{0xDEF:016x}"


def test_log_events_of_generative_ai_are_kept_and_others_are_not(receiver: Receiver) -> None:
    request = ExportLogsServiceRequest()
    records = request.resource_logs.add().scope_logs.add().log_records
    for name, trace in (("gen_ai.user.message", 0xE1), ("http.request", 0xE2), ("gen_ai.choice", 0)):
        record = records.add(event_name=name, trace_id=trace.to_bytes(16) if trace else b"", span_id=b"\1" * 8)
        pair = record.body.kvlist_value.values.add(key="content")
        pair.value.string_value = "Where is my order?"
    answer = httpx.post(f"{receiver.url}/v1/logs", content=request.SerializeToString(), headers=PROTOBUF)
    assert (answer.status_code, answer.content) == (200, b"")
    (found,) = stored(receiver.spool, 0xE1)
    assert (found["eventName"], found["spanId"]) == ("gen_ai.user.message", "01" * 8)
    assert found["body"]["kvlistValue"]["values"][0]["value"] == {"stringValue": "Where is my order?"}
    assert stored(receiver.spool, 0xE2) == []


def test_metrics_are_accepted_and_discarded(receiver: Receiver) -> None:
    answer = httpx.post(f"{receiver.url}/v1/metrics", content=b"anything", headers=PROTOBUF)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-protobuf")
    assert httpx.post(f"{receiver.url}/v1/metrics", json={}).json() == {}


def test_it_is_healthy(receiver: Receiver) -> None:
    assert httpx.get(f"{receiver.url}/healthz").json() == {"status": "ok"}


def test_spans_that_break_a_limit_are_refused_and_others_are_kept(receiver: Receiver) -> None:
    many = span(0xA1, 2, **{f"key{number}": "value" for number in range(2_049)})
    nameless = {**span(0xA1, 3), "traceId": "0" * 32}
    answer = httpx.post(f"{receiver.url}/v1/traces", json=document([span(0xA1, 1), many, nameless, "no span"]))
    assert answer.status_code == 200
    assert answer.json()["partialSuccess"]["rejectedSpans"] == "3"
    assert answer.json()["partialSuccess"]["errorMessage"].startswith("more than 2,048 attributes")
    assert [item["spanId"] for item in stored(receiver.spool, 0xA1)] == [f"{1:016x}"]


def test_partial_success_in_protobuf(receiver: Receiver) -> None:
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    spans.add(trace_id=b"\xa2" * 16, span_id=b"\1" * 8, name="chat", parent_span_id=b"\2" * 8)
    spans.add(trace_id=b"short", span_id=b"\1" * 8)
    answer = httpx.post(f"{receiver.url}/v1/traces", content=request.SerializeToString(), headers=PROTOBUF)
    told = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert (answer.status_code, told.rejected_spans) == (200, 1)
    assert told.error_message == "traceId is not an ID of 32 hexadecimal digits"
    (found,) = stored(receiver.spool, int("a2" * 16, 16))
    assert found["parentSpanId"] == "02" * 8


DEEP = b'{"resourceSpans":' + b"[" * 2_000 + b"]" * 2_000 + b"}"


@pytest.mark.parametrize(
    ("content", "headers", "status", "message"),
    [
        (b"{", JSON, 400, "the body is not JSON"),
        (b"[]", JSON, 400, "the body is not a JSON object"),
        (DEEP, JSON, 400, "the body is nested too deeply"),
        (b'{"resourceSpans": 1}', JSON, 400, "resourceSpans is not a list"),
        (b"{}", {**JSON, "Content-Encoding": "gzip"}, 400, "the body is not gzip"),
        (gzip.compress(b"{}", mtime=0)[:-9], {**JSON, "Content-Encoding": "gzip"}, 400, "the gzip body is cut off"),
        (b"{}", {**JSON, "Content-Encoding": "br"}, 415, "the content encoding must be one of identity, gzip, deflate"),
        (b"{}", {"Content-Type": "text/plain"}, 415, "the content type must be application/x-protobuf or"),
        (b"{}", {**JSON, "Origin": "https://example.com"}, 403, "requests from web pages are not accepted"),
    ],
)
def test_what_is_refused(
    receiver: Receiver, content: bytes, headers: dict[str, str], status: int, message: str
) -> None:
    answer = httpx.post(f"{receiver.url}/v1/traces", content=content, headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
    assert answer.json()["message"].startswith(message)


def test_a_malformed_message_is_a_status_in_protobuf(receiver: Receiver) -> None:
    answer = httpx.post(f"{receiver.url}/v1/traces", content=b"\xff\xff", headers=PROTOBUF)
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/x-protobuf")
    assert Status.FromString(answer.content).message == "the body is not a protobuf message of traces"


def test_values_nested_deeper_than_json_can_be_written_are_refused(receiver: Receiver) -> None:
    value: dict[str, Any] = {"stringValue": "x"}
    for _ in range(150):
        value = {"arrayValue": {"values": [value]}}
    deep = {**span(0xA3, 1), "attributes": [{"key": "deep", "value": value}]}
    answer = httpx.post(f"{receiver.url}/v1/traces", json=document([deep]))
    assert answer.json()["partialSuccess"] == {"rejectedSpans": "1", "errorMessage": "values are nested too deeply"}


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress])
def test_a_zip_bomb_is_refused(receiver: Receiver, compress: Any) -> None:
    encoding = "gzip" if compress is gzip.compress else "deflate"
    bomb = compress(b" " * (80 << 20))
    answer = httpx.post(f"{receiver.url}/v1/traces", content=bomb, headers={**JSON, "Content-Encoding": encoding})
    assert (len(bomb) < 100_000, answer.status_code) == (True, 413)
    assert "OTEL_BSP_MAX_EXPORT_BATCH_SIZE" in answer.json()["message"]


def test_a_body_that_is_announced_too_large_is_not_read(receiver: Receiver) -> None:
    host, port = receiver.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        head = ("POST /v1/traces HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 99999999999")
        connection.sendall("\r\n".join([*head, "", ""]).encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 413")


def test_a_wrong_path_says_which_variable_to_set(receiver: Receiver) -> None:
    answer = httpx.post(f"{receiver.url}/", json=document([]))
    assert answer.status_code == 404
    assert "set OTEL_EXPORTER_OTLP_ENDPOINT" in answer.json()["message"]


def test_a_full_spool_asks_to_come_back(tmp_path: Path) -> None:
    """A hundred kilobytes hold no span of a megabyte; what fits is still accepted."""
    with receiving(tmp_path, "--max-spool-gb", "0.0001") as started:
        large = httpx.post(f"{started.url}/v1/traces", json=document([span(1, 1, text="x" * 10**6)]))
        assert (large.status_code, large.headers["retry-after"]) == (503, "10")
        assert large.json() == {"code": 14, "message": "the spool cannot be written"}
        assert httpx.post(f"{started.url}/v1/traces", json=document([span(1, 2)])).status_code == 200
        started.stop()
    assert "raise --max-spool-gb" in started.rest
    assert "xxx" not in started.rest


def test_the_token_is_required_and_never_printed(tmp_path: Path) -> None:
    with receiving(tmp_path, "--token-env", "RECEIVER_TOKEN", RECEIVER_TOKEN=TOKEN) as started:
        url = f"{started.url}/v1/traces"
        for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}):
            refused = httpx.post(url, json=document([span(1, 1)]), headers=header)
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        accepted = httpx.post(url, json=document([span(1, 1)]), headers={"Authorization": f"Bearer {TOKEN}"})
        assert accepted.status_code == 200
        assert httpx.get(f"{started.url}/healthz").status_code == 200
        started.stop()
    assert len(stored(started.spool)) == 1
    assert TOKEN not in started.first + started.rest


def command(*options: str, code: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command that refuses to start."""
    call = ["-m", "evaluation_assets.cli"] if code is None else ["-c", code]
    return subprocess.run(
        [sys.executable, *call, "receive", *options],
        cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def test_it_listens_to_other_machines_only_with_a_token(tmp_path: Path) -> None:
    done = command("--home", str(tmp_path), "--host", "0.0.0.0", "--port", "0")
    assert (done.returncode, done.stderr) == (
        2,
        "evaluation-assets: --host 0.0.0.0 accepts connections from other machines: give --token-env, the variable "
        "with a token\n",
    )


def test_a_token_on_the_command_line_is_refused_and_not_repeated(tmp_path: Path) -> None:
    done = command("--home", str(tmp_path), "--token-env", "sk-1234567890abcdef", "--port", "0")
    assert done.returncode == 2
    assert "1234567890" not in done.stderr
    assert (
        command("--token-env", "NOT_SET", "--port", "0").stderr
        == "evaluation-assets: --token-env: NOT_SET is not set\n"
    )


def test_a_port_in_use_is_reported(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        done = command("--home", str(tmp_path), "--port", port)
    assert done.returncode == 2
    assert done.stderr.startswith(f"evaluation-assets: port {port} is in use")


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['opentelemetry.proto'] = None; from evaluation_assets.cli.main import main; main()"
    done = command("--home", str(tmp_path), "--port", "0", code=code)
    assert (done.returncode, done.stderr) == (
        2,
        f"evaluation-assets: `receive` needs extra packages: {installing('receive')}\n",
    )


def test_a_terminal_shows_a_live_count_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "evaluation_assets.cli", "receive", "--home", str(tmp_path), "--port", "0"],
        cwd=ROOT, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
    )  # fmt: skip
    os.close(terminal)
    shown = ""

    def show_until(text: str) -> None:
        nonlocal shown
        while text not in shown:
            shown += os.read(controller, 4096).decode()

    show_until("http/protobuf")
    url = shown.partition("ENDPOINT=")[2].split()[0]
    assert httpx.post(f"{url}/v1/traces", json=document([span(1, 1), span(1, 2, 1)])).status_code == 200
    show_until("\r\x1b[2KReceived 2 spans of 1 new trace")
    process.send_signal(signal.SIGINT)
    show_until("stopped. Received 2 spans of 1 new trace")
    assert process.wait(60) == 0
    os.close(controller)
    assert "Traceback" not in shown


def test_received_traces_become_a_drop(tmp_path: Path) -> None:
    """With a time of silence that is over at once; the drop is what the reader of OTLP reads."""
    (tmp_path / "sources.yaml").write_text("sources: {live: {type: received, quiet_minutes: 0, agent: shop}}")
    pull = [sys.executable, "-m", "evaluation_assets.cli", "sources", "pull", "--home", str(tmp_path)]
    with receiving(tmp_path) as started:
        for trace in (1, 2):
            spans = [span(trace, 1), span(trace, 2, 1, **{"gen_ai.operation.name": "chat"})]
            httpx.post(f"{started.url}/v1/traces", json=document(spans)).raise_for_status()
        told = [subprocess.run(pull, cwd=ROOT, capture_output=True, text=True).stdout for _ in range(2)]
    assert told[0].endswith("live: 2 traces fetched into 1 drop\n")
    assert told[1] == "live: 0 traces fetched into 0 drops\n"
    (records,) = (tmp_path / "drops" / "live").rglob("traces.jsonl")
    assert len(records.read_text().splitlines()) == 2

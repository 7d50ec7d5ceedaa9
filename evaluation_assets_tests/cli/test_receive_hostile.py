"""What hostile senders do to the receiver, while others send traces."""

import contextlib
import gzip
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2 as httpx
import psutil
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from evaluation_assets.cli.receive import server_of
from evaluation_assets.cli.serving.punctual_protocol import PunctualProtocol
from evaluation_assets.core.intake.sources import receiver as receiver_module
from evaluation_assets.core.intake.sources.otlp import counting, documents
from evaluation_assets.core.intake.sources.otlp.counting import check_messages, check_values
from evaluation_assets.core.intake.sources.otlp.parts import MalformedRequest, OversizedRequest
from evaluation_assets.core.intake.sources.received import Spool
from evaluation_assets.core.intake.sources.receiver import receiver
from evaluation_assets.core.intake.sources.tally import Tally
from evaluation_assets_tests.receiving import document, receiving, span

TRACES = ExportTraceServiceRequest.DESCRIPTOR
GIB = 1 << 30


def nested(*numbers: int, inner: bytes) -> bytes:
    """A protobuf message in others, each in the field of a number."""
    for number in reversed(numbers):
        length, size = len(inner), b""
        while length > 127:
            size, length = size + bytes([length & 127 | 128]), length >> 7
        inner = bytes([number << 3 | 2]) + size + bytes([length]) + inner
    return inner


RESOURCES = b"\x0a\x00" * 10_000_000
SPANS = nested(1, 2, inner=b"\x12\x00" * 10_000_000)
ATTRIBUTES = nested(1, 2, 2, inner=b"\x4a\x00" * 10_000_000)
LISTS = nested(1, 2, 2, 9, 2, 5, inner=b"\x0a\x00" * 10_000_000)
IN_JSON = b'{"resourceSpans":[' + b"{}," * 10_000_000 + b"{}]}"
NUMBERS = b'{"resourceSpans":[' + b"1.5," * 10_000_000 + b"2]}"
STRINGS = b'{"resourceSpans":[' + b'"",' * 10_000_000 + b'""]}'


@pytest.mark.parametrize("body", [RESOURCES, SPANS, ATTRIBUTES, LISTS, IN_JSON, NUMBERS, STRINGS])
def test_a_small_body_of_many_objects_is_refused_in_bounded_memory(tmp_path: Path, body: bytes) -> None:
    media = "json" if body.startswith(b"{") else "x-protobuf"
    headers = {"Content-Type": f"application/{media}", "Content-Encoding": "gzip"}
    with receiving(tmp_path) as started:
        answer = httpx.post(f"{started.url}/v1/traces", content=gzip.compress(body), headers=headers, timeout=120)
        used = psutil.Process(started.process.pid).memory_full_info()
        peak = getattr(used, "peak_wset", None) or resident_peak(started.process.pid)
        assert answer.status_code == 413
        assert httpx.post(f"{started.url}/v1/traces", json=document([span(1, 1)])).status_code == 200
    assert peak < GIB // 2


def resident_peak(process: int) -> int:
    """Bytes of memory that a process had at most."""
    status = Path(f"/proc/{process}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def test_as_many_objects_as_large_batches_have_are_accepted() -> None:
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for _ in range(5_000):
        attributes = spans.add(trace_id=b"\1" * 16, span_id=b"\1" * 8, name="chat").attributes
        for number in range(60):
            attributes.add(key=f"key {number}").value.string_value = "[{" * 10
    body = request.SerializeToString()
    assert len(body) > 2 * counting.MOST_OBJECTS
    check_messages(body, TRACES)
    check_values(json.dumps({"text": '[{,\\"' * 2_000_000}).encode())


def test_counting_finds_what_parsing_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    spans.add(trace_id=b"\1" * 16, flags=7, start_time_unix_nano=2**63, name="x" * 300).events.add(name="e")
    spans.add(dropped_events_count=1).attributes.add(key="a").value.array_value.values.add(double_value=1.5)
    body = request.SerializeToString()
    padded = body + b"\x7a\x80\x80\x80\x01" + bytes(1 << 21)  # a field that nobody knows
    for most, fits in ((9, True), (8, False)):  # resource, scope, spans, event, attribute, value, list, value
        monkeypatch.setattr(counting, "MOST_OBJECTS", most)
        for content in (body, padded):
            with contextlib.nullcontext() if fits else pytest.raises(OversizedRequest):
                check_messages(content, TRACES)


@pytest.mark.parametrize("body", [b"\x0a\xff", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\xff", b"\x0b"])
def test_counting_ends_for_what_is_no_message(monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    monkeypatch.setattr(counting, "MOST_OBJECTS", 0)
    with pytest.raises((MalformedRequest, OversizedRequest)):
        check_messages(body, TRACES)


def test_a_resource_that_each_of_many_traces_repeats_is_refused() -> None:
    sent = document([span(trace, 1) for trace in range(1, 300)], service="x" * (1 << 20))
    with pytest.raises(OversizedRequest):
        documents.parts_of(sent, "traces")


def test_a_large_body_holds_up_no_small_one(serving: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a large one is decoded, which a test makes endless, a small one is answered."""
    decoded = threading.Event()
    decode = receiver_module._parts_of

    def endless(body: bytes, *about: object) -> object:
        if len(body) > 1 << 20:
            decoded.wait(60)
        return decode(body, *about)  # type: ignore[arg-type]

    monkeypatch.setattr(receiver_module, "_parts_of", endless)
    large = json.dumps(document([span(2, 1, text="x" * (2 << 20))])).encode()
    answers: list[int] = []
    sender = threading.Thread(
        target=lambda: answers.append(
            httpx.post(
                f"{serving}/v1/traces", content=large, headers={"Content-Type": "application/json"}, timeout=60
            ).status_code
        )
    )
    sender.start()
    assert httpx.post(f"{serving}/v1/traces", json=document([span(1, 1)]), timeout=30).status_code == 200
    assert answers == []
    decoded.set()
    sender.join()
    assert answers == [200]


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[str]:
    """The receiver in this process."""
    spool = Spool(tmp_path / "received.sqlite", 10**8)
    server = server_of(receiver(spool, Tally(), None))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        spool.close()


HEAD = b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
METRICS = CHUNKED.replace(b"traces", b"metrics")
HEALTHY = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


ENDLESS = [
    (b"", b"", b""),
    (b"POST /v1", b"", b""),
    (HEAD, b"X", b""),
    (HEALTHY, b"X", b"200"),
    (HEAD + b"Content-Length: 1000000\r\n\r\n{", b" ", b"408"),
    (CHUNKED, b"", b"408"),
    (CHUNKED, b"1\r\n \r\n", b"408"),
    (METRICS, b"1\r\n \r\n", b"408"),
]
"""What a connection begins with, what it sends for ever after, and the status that it is answered with."""


def answer_to(port: int, begin: bytes, drip: bytes) -> bytes:
    """All that is answered until the server ends the connection."""
    ended = threading.Event()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:

        def send() -> None:
            with contextlib.suppress(OSError):
                connection.sendall(begin)
                while drip and not ended.wait(0.05):
                    connection.sendall(drip)

        sender = threading.Thread(target=send)
        sender.start()
        received = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := connection.recv(4096):
                received += piece
        ended.set()
        sender.join()
    return received


@pytest.mark.slow
def test_connections_and_bodies_without_an_end_are_ended(serving: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PunctualProtocol, "head_seconds", 3.0)
    monkeypatch.setattr(receiver_module, "BODY_SECONDS", 1.0)
    port = int(serving.rpartition(":")[2])
    with ThreadPoolExecutor(len(ENDLESS)) as senders:
        received = list(senders.map(lambda sent: answer_to(port, sent[0], sent[1]), ENDLESS))
    assert [answer[9:12] for answer in received] == [status for *_, status in ENDLESS]
    monkeypatch.undo()
    assert httpx.get(f"{serving}/healthz").status_code == 200


def test_metrics_without_an_end_are_refused(serving: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiver_module, "MAX_BODY_BYTES", 1 << 20)
    pieces = (bytes(1 << 16) for _ in range(1_000))
    answer = httpx.post(f"{serving}/v1/metrics", content=pieces, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413

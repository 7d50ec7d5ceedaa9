"""Throughput of the OTLP receiver: spans per second that are on disk when they are acknowledged, and traces read back.

    python benchmarks/receiver.py [--spans 50000] [--characters 500] [--senders 2]

Bodies are encoded before the measurement, so that the cost of the senders is small: each holds 512 spans, as a batch
processor sends them, in traces of eight spans, gzip-compressed protobuf. Half of the spans have a text of the given
length.
"""

import argparse
import gzip
import os
import random
import string
import tempfile
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2 as httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from evaluation_assets.core.intake.sources.received import ReceivedTraces
from evaluation_assets_tests.receiving import receiving

BATCH = 512
SPANS_OF_TRACE = 8


def bodies(spans: int, characters: int, seed: int) -> list[bytes]:
    """Compressed requests; texts are random words, so that they compress as texts do."""
    words = random.Random(seed)
    made = []
    trace = b""
    for start in range(0, spans, BATCH):
        request = ExportTraceServiceRequest()
        batch = request.resource_spans.add().scope_spans.add().spans
        for number in range(start, min(start + BATCH, spans)):
            first = number % SPANS_OF_TRACE == 0
            trace = os.urandom(16) if first or not trace else trace
            now = time.time_ns()
            span = batch.add(trace_id=trace, span_id=os.urandom(8), name="chat", start_time_unix_nano=now)
            span.end_time_unix_nano = now
            span.parent_span_id = b"" if first else b"\1" * 8
            span.attributes.add(key="gen_ai.operation.name").value.string_value = "chat"
            span.attributes.add(key="gen_ai.usage.input_tokens").value.int_value = number
            if number % 2:
                text = " ".join(
                    "".join(words.choices(string.ascii_lowercase, k=6)) for _ in range(max(1, characters // 7))
                )
                span.attributes.add(key="gen_ai.output.messages").value.string_value = text
        made.append(gzip.compress(request.SerializeToString(), 5))
    return made


def send(url: str, content: Sequence[bytes]) -> None:
    """Send requests one after the other, as an exporter does."""
    headers = {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}
    with httpx.Client(timeout=60) as client:
        for body in content:
            client.post(f"{url}/v1/traces", content=body, headers=headers).raise_for_status()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, default=50_000)
    parser.add_argument("--characters", type=int, default=500)
    parser.add_argument("--senders", type=int, default=2)
    options = parser.parse_args()
    each = options.spans // options.senders
    content = [bodies(each, options.characters, seed) for seed in range(options.senders)]
    with tempfile.TemporaryDirectory() as folder, receiving(Path(folder)) as receiver:
        senders = [threading.Thread(target=send, args=(receiver.url, own)) for own in content]
        began = time.perf_counter()
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        seconds = time.perf_counter() - began
        spans = each * options.senders
        size = sum(path.stat().st_size for path in Path(folder).glob("received.sqlite*"))
        print(f"received  {spans / seconds:>9,.0f} spans/s  ({spans:,} spans, {size / 1e6:,.0f} MB in the spool)")
        began = time.perf_counter()
        store = ReceivedTraces(receiver.spool, timedelta(0))
        now = datetime.now(UTC)
        traces = sum(1 for _ in store.ended(now - timedelta(hours=1), now, lambda _name: True))
        seconds = time.perf_counter() - began
        print(f"read back {traces / seconds:>9,.0f} traces/s ({traces:,} traces)")


if __name__ == "__main__":
    main()

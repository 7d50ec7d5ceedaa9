"""The real receiver in a process of its own, and spans for it."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent

SECOND = 1_000_000_000


class Receiver:
    """`evaluation-assets receive` on a free port. `stderr` is what it printed, complete after the end."""

    def __init__(self, home: Path, *options: str, **environment: str) -> None:
        self.spool = home / "received.sqlite"
        command = [
            sys.executable,
            "-m",
            "evaluation_assets.cli",
            "receive",
            "--home",
            str(home),
            "--port",
            "0",
            *options,
        ]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        self.first = self.process.stderr.readline()
        found = re.search(r"http://\S+", self.first)
        assert found is not None, self.first + self.process.communicate()[1]
        self.url = found[0]
        self.rest = ""

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Send a signal and wait for the end; return the exit status."""
        self.process.send_signal(number)
        self.process.wait(timeout=60)
        assert self.process.stderr is not None
        self.rest = self.process.stderr.read()  # `communicate` would lose what came with the first line
        return self.process.returncode


@contextmanager
def receiving(home: Path, *options: str, **environment: str) -> Iterator[Receiver]:
    """A receiver that ends with the block."""
    started = Receiver(home, *options, **environment)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.stop(signal.SIGKILL)


def span(trace: int, number: int, parent: int | None = None, /, **attributes: str) -> dict[str, Any]:
    """A span as OTLP JSON; `number` is its ID in the trace."""
    return {
        "traceId": f"{trace:032x}",
        "spanId": f"{number:016x}",
        **({} if parent is None else {"parentSpanId": f"{parent:016x}"}),
        "name": attributes.get("gen_ai.operation.name", "work"),
        "startTimeUnixNano": str(int(time.time()) * SECOND),
        "endTimeUnixNano": str(int(time.time() + 1) * SECOND),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }


def document(spans: Sequence[Any], service: str = "shop") -> dict[str, Any]:
    """An OTLP JSON document with spans of one service."""
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return {
        "resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "test"}, "spans": list(spans)}]}]
    }

"""A real S3-compatible server for tests, a process of its own that keeps its objects in memory."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import create_connection, socket

import pytest


@contextmanager
def s3_server() -> Iterator[int]:
    """Its port; skips where moto or s3fs is not installed."""
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    pytest.importorskip("moto.server", reason="moto[server] is not installed")
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            while server.poll() is None:
                with suppress(OSError), create_connection(("127.0.0.1", port), timeout=1):
                    break
                time.sleep(0.05)
            yield port
        finally:
            server.kill()

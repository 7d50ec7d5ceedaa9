"""How tests start the MCP server `mcp_server`, without what it imports."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = str(Path(__file__).parent.parent)
COMMAND = [sys.executable, "-m", "evaluation_assets_tests.mcp_server"]


@contextlib.contextmanager
def http_server(log: str = os.devnull, *, sse: bool = False) -> Iterator[str]:
    """The server over HTTP, for the length of a block; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [*COMMAND, "--http", str(port), "--log", log, *(["--sse"] if sse else [])],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            if process.poll() is not None:
                raise RuntimeError(f"the MCP server ended with {process.returncode}")
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/{'sse' if sse else 'mcp'}"
    finally:
        process.kill()
        process.wait()

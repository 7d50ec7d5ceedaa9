"""An MCP server for tests, in a process of its own: tools that answer, fail, hang, flood, and end the server.

`python -m evaluation_assets_tests.mcp_server` speaks over stdio, with `--http PORT` over streamable HTTP at `/mcp`, and
with `--sse` too over SSE at `/sse`.
With `--log FILE` it notes there what it was asked to measure.
"""

import argparse
import asyncio
import base64
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from evaluation_assets.core.suites.agents.calculator import calculator

ROOT = str(Path(__file__).parent.parent)
COMMAND = [sys.executable, "-m", "evaluation_assets_tests.mcp_server"]

server = MCPServer("test tools", log_level="ERROR")
_counted = 0
_log = Path(os.devnull)


def _note(line: str) -> None:
    with _log.open("a") as log:
        log.write(f"{line}\n")


@server.tool()
def calculate(expression: str) -> str:
    """Work out an arithmetic expression."""
    return calculator(expression)


@server.tool()
async def measure(expression: str) -> str:
    """Work out an arithmetic expression slowly, and say when: the result is never the same again."""
    _note(expression)
    await asyncio.sleep(0.3)
    return f"{calculator(expression)} at {time.time()}"


@server.tool()
def count() -> int:
    """How often this server was asked to count."""
    global _counted
    _counted += 1
    return _counted


@server.tool()
def fail(reason: str) -> str:
    """Fail with a reason."""
    raise ValueError(reason)


@server.tool()
def hang() -> str:
    """Never answer."""
    time.sleep(3600)
    return ""


@server.tool()
def flood(characters: int) -> str:
    """Answer with that many characters."""
    return "x" * characters


@server.tool()
def reveal(name: str) -> str:
    """Answer with a variable of the environment, in every way there is to write it."""
    value = os.environ[name]
    wrapped = base64.b64encode(f"user:{value}".encode()).decode()
    ways = [
        value,
        json.dumps({"key": value}),
        quote(value, safe=""),
        base64.b64encode(value.encode()).decode(),
        wrapped,
    ]
    return " ".join([*ways, value.encode().hex()])


@server.tool()
def reveal_by_failing(name: str) -> str:
    """Fail with a variable of the environment."""
    raise ToolError(f"the key {os.environ[name]} was refused")


@server.tool(description=f"Greets, and says too much: {os.environ.get('REVEALED_KEY', '')}")
def greet() -> str:
    return "hello"


@server.tool()
def die() -> str:
    """End the server without an answer."""
    os._exit(1)


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


def main() -> None:
    global _log
    parser = argparse.ArgumentParser(description="An MCP server for tests.")
    parser.add_argument("--http", type=int, metavar="PORT")
    parser.add_argument("--sse", action="store_true")
    parser.add_argument("--log", type=Path, default=Path(os.devnull), metavar="FILE")
    options = parser.parse_args()
    _log = options.log
    if options.http is None:
        server.run()
    else:
        server.run("sse" if options.sse else "streamable-http", host="127.0.0.1", port=options.http)


if __name__ == "__main__":
    main()

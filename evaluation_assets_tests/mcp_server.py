"""An MCP server for tests, in a process of its own: tools that answer, fail, hang, flood, and end the server.

`python -m evaluation_assets_tests.mcp_server` speaks over stdio, with `--http PORT` over streamable HTTP at `/mcp`, and
with `--sse` too over SSE at `/sse`.
With `--log FILE` it notes there what it was asked to measure.
"""

import argparse
import asyncio
import base64
import json
import os
import time
from pathlib import Path
from urllib.parse import quote

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from evaluation_assets.core.suites.agents.calculator import calculator

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

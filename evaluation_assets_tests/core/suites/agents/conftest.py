"""An installation's folders, and an MCP server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets_tests.core.suites.agents.running import Running
from evaluation_assets_tests.started_mcp_server import COMMAND, ROOT, http_server


@pytest.fixture
def running(tmp_path: Path) -> Running:
    return Running(tmp_path)


@pytest.fixture
def calls_file(tmp_path: Path) -> Path:
    """Where the MCP server notes what it was asked to measure."""
    return tmp_path / "measured.txt"


@pytest.fixture
def mcp(transport: str, calls_file: Path) -> Iterator[dict[str, Any]]:
    if transport == "stdio":
        yield {"name": "tests", "command": COMMAND[0], "args": [*COMMAND[1:], "--log", str(calls_file)], "cwd": ROOT}
        return
    with http_server(str(calls_file), sse=transport == "sse") as url:
        yield {"name": "tests", "url": url, **({"transport": "sse"} if transport == "sse" else {})}

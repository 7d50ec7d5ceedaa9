"""Tools of MCP servers, over stdio, streamable HTTP or SSE, through the official SDK.

Every attempt starts its own servers, so that attempts cannot affect each other. A server that dies ends only the
attempt that called it; a server that hangs gives its agent an error.
"""

import asyncio
import contextlib
import importlib.util
import os
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, Self, TextIO

from pydantic import Field, model_validator

from evaluation_assets.core.suites.agents.tools import InvalidTool, ToolError, ToolUnreachable, as_text
from evaluation_assets.core.system.commands import installing
from evaluation_assets.core.system.configuration import Section, VariableName
from evaluation_assets.core.text.masking import Mask
from evaluation_assets.core.traces.trajectories.model import JsonObject, Tool, json_object

if TYPE_CHECKING:
    from mcp import Client

START_S = 60.0
"""Time in seconds for a server to start and list its tools."""

_END_S = 10.0
_LARGEST_EVENT = 64 * 1024 * 1024
_CONNECT_S, _READ_S = 30.0, 300.0
_MOST_PAGES = 100


class McpServer(Section):
    """An MCP server: a command to start, or a URL.

    Attributes:
        name: Name of the server in trajectories, tool types and messages: letters, digits, `_` and `-`.
        command: Program to start, which speaks MCP over its standard input and output.
        args: Arguments of the command.
        env: Environment variables of the process, beside basic ones such as PATH and HOME.
        env_from: Names of environment variables to pass on to the process; they override `env`.
        cwd: Working directory of the process. `null`: that of the evaluation.
        url: Address of a server that speaks HTTP.
        transport: How a server with a `url` speaks: `streamable_http`, or `sse` with older servers.
        headers_from: Environment variables with the values of HTTP headers, by header.
    """

    name: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default={})
    env_from: tuple[str, ...] = ()
    cwd: str | None = None
    url: str | None = None
    transport: Literal["streamable_http", "sse"] = "streamable_http"
    headers_from: dict[str, VariableName] = Field(default={})

    @model_validator(mode="after")
    def _is_reachable(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("an MCP server needs either a command or a url")
        if self.command is not None and self.transport == "sse":
            raise ValueError("transport: sse is for a server with a url")
        return self

    @property
    def passed(self) -> list[str]:
        """The environment variables passed to the server."""
        variables = (*self.env_from, *self.headers_from.values())
        return [*self.env.values(), *(os.environ[name] for name in variables if name in os.environ)]


class McpTool:
    """A tool of a connected server."""

    def __init__(self, definition: Tool, connection: "_Connection") -> None:
        self.definition = definition
        self.server: str | None = connection.name
        self._connection = connection

    async def call(self, arguments: JsonObject) -> str:
        """Call the tool on the server."""
        return await self._connection.call(self.definition.name, arguments)


def check_installed(servers: Sequence[McpServer]) -> None:
    """Check that the SDK, an optional dependency, is installed if there are servers.

    Raises:
        InvalidTool: there are servers, but the SDK is not installed.
    """
    if servers and importlib.util.find_spec("mcp") is None:
        raise InvalidTool(f"MCP servers need the MCP SDK: {installing('mcp')}")


@asynccontextmanager
async def connected(
    servers: Sequence[McpServer], start_s: float = START_S, mask: Mask | None = None
) -> AsyncIterator[list[McpTool]]:
    """Context manager that connects to all servers and yields their tools. Server output is masked.

    Raises:
        InvalidTool: a server does not start or does not list its tools.
    """
    async with AsyncExitStack() as stack:
        mask = mask or Mask(value for server in servers for value in server.passed)
        connections = [await stack.enter_async_context(_connection(server, mask)) for server in servers]
        listed = await asyncio.gather(*(connection.tools(start_s) for connection in connections))
        yield [tool for tools in listed for tool in tools]


@asynccontextmanager
async def _connection(server: McpServer, mask: Mask) -> AsyncIterator["_Connection"]:
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        connection = _Connection(server, log, mask)
        try:
            yield connection
        finally:
            await connection.close()


class _Connection:
    """A connection in its own task: if the transport breaks, only this task is cancelled, not the agent's."""

    def __init__(self, server: McpServer, log: TextIO, mask: Mask) -> None:
        self.name = server.name
        self._mask = mask
        self._server = server
        self._log = log
        self._closing = asyncio.Event()
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._holder = asyncio.create_task(self._hold())

    async def tools(self, start_s: float) -> list[McpTool]:
        """The tools that the server lists."""
        try:
            async with asyncio.timeout(start_s):
                listed = await self._while_held(self._list())
        except TimeoutError:
            raise InvalidTool(f"MCP server {self.name!r} did not list its tools in {start_s:g} s") from None
        except ToolError as problem:
            words = "" if isinstance(problem, ToolUnreachable) else self._last_words()
            raise InvalidTool(self._mask(f"{problem}{words}")) from None
        return [McpTool(definition, self) for definition in listed]

    async def call(self, name: str, arguments: JsonObject) -> str:
        """Call a tool and return its result as text."""

        async def asked() -> Any:
            return await (await self._client).call_tool(name, arguments)

        result = await self._while_held(asked())
        text = "\n".join(_content(block) for block in result.content)
        if not text and result.structured_content is not None:
            text = as_text(result.structured_content)
        if result.is_error:
            raise ToolError(text or f"{name} failed")
        return text

    async def close(self) -> None:
        """Stop the server; the SDK kills it if it does not exit."""
        self._closing.set()
        if not self._client.done():  # it is still starting and may never finish
            self._holder.cancel()
        await asyncio.wait({self._holder}, timeout=_END_S)
        self._holder.cancel()
        await asyncio.wait({self._holder}, timeout=_END_S)

    async def _list(self) -> list[Tool]:
        client = await self._client
        tools: list[Tool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            tools += [
                Tool(
                    name=self._mask(tool.name),
                    description=self._mask(tool.description or ""),
                    parameters=json_object(self._mask(as_text(tool.input_schema))),
                )
                for tool in page.tools
            ]
            cursor = page.next_cursor
            if cursor is None:
                break
        return tools

    async def _while_held(self, asking: Any) -> Any:
        """Await a request to the server; fail as soon as the connection has ended."""
        question = asyncio.ensure_future(asking)
        try:
            await asyncio.wait({question, self._holder}, return_when=asyncio.FIRST_COMPLETED)
            if question.done():
                return question.result()
            raise ToolUnreachable(f"MCP server {self.name!r} has ended{self._last_words()}")
        except (ToolError, asyncio.CancelledError):
            raise
        except Exception as problem:  # noqa: BLE001  (what a broken connection raises is up to SDK and server)
            kind = ToolError if _is_an_answer(problem) else ToolUnreachable
            raise kind(f"MCP server {self.name!r}: {_first(problem)}") from None
        finally:
            question.cancel()

    async def _hold(self) -> None:
        # The SDK takes almost a second to import; agents without servers should not wait for it.
        from mcp import Client, StdioServerParameters, stdio_client  # noqa: PLC0415

        async with AsyncExitStack() as stack:
            if self._server.command is not None:
                passed = {name: os.environ[name] for name in self._server.env_from if name in os.environ}
                parameters = StdioServerParameters(
                    command=self._server.command,
                    args=list(self._server.args),
                    env=self._server.env | passed,
                    cwd=self._server.cwd,
                )
                transport = stdio_client(parameters, errlog=self._log)
            else:
                transport = await self._http(stack)
            client = await stack.enter_async_context(Client(transport, cache=None))
            self._client.set_result(client)
            await self._closing.wait()

    async def _http(self, stack: AsyncExitStack) -> Any:
        import httpx2  # noqa: PLC0415
        from mcp.client.sse import sse_client  # noqa: PLC0415
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

        headers = {name: os.environ.get(variable, "") for name, variable in self._server.headers_from.items()}
        if self._server.transport == "sse":
            return sse_client(self._server.url or "", headers, _CONNECT_S, _READ_S)
        timeout = httpx2.Timeout(_CONNECT_S, read=_READ_S)
        http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=timeout))
        url = self._server.url or ""
        return streamable_http_client(url, http_client=http, max_sse_event_size=_LARGEST_EVENT)

    def _last_words(self) -> str:
        """Why the server ended: the exception, and the end of its stderr."""
        words = ""
        if self._holder.done() and not self._holder.cancelled() and (problem := self._holder.exception()):
            words = f": {_first(problem)}"
        with contextlib.suppress(OSError, ValueError):
            self._log.seek(0)
            written = self._mask(self._log.read().strip())[-300:]
            words += f": {' '.join(written.split())}" if written else ""
        return words


def _is_an_answer(problem: Exception) -> bool:
    """Whether the server answered with an error, as opposed to not answering."""
    from mcp import MCPError  # noqa: PLC0415  (imported by now: there is a connection)
    from mcp.types import CONNECTION_CLOSED  # noqa: PLC0415

    return isinstance(problem, MCPError) and problem.error.code != CONNECTION_CLOSED


def _content(block: Any) -> str:
    """A block of a result as text; other content is replaced by its type."""
    if block.type == "text":
        return block.text
    if block.type == "resource" and isinstance(text := getattr(block.resource, "text", None), str):
        return text
    if block.type == "resource_link":
        return f"[resource {block.uri}]"
    return f"[{block.type}]"


def _first(problem: BaseException) -> str:
    """The message of an exception, or of the first one in a group."""
    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    return f"{type(problem).__name__}: {problem}".removesuffix(": ")

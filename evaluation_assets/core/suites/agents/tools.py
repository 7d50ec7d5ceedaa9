"""Tools for agents: definitions and calls.

A call never raises: a tool that fails or hangs gives the agent an error, and a result that is too long is cut with a
visible mark.
"""

import asyncio
import importlib
import inspect
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import docstring_parser
import orjson
import pydantic
import pydantic_core

from evaluation_assets.core.models.json_text import loads
from evaluation_assets.core.system.daemon_threads import in_thread
from evaluation_assets.core.text.faults import faults_of
from evaluation_assets.core.text.masking import Mask
from evaluation_assets.core.traces.trajectories.model import JsonObject, Tool

TIMEOUT_S = 60.0
MAX_RESULT_CHARACTERS = 100_000
_LONGEST_MESSAGE = 500
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


class InvalidTool(ValueError):
    """A tool cannot be used; the message says what to change."""


class ToolError(Exception):
    """A call failed for a reason that the agent should see."""


class ToolUnreachable(ToolError):
    """A call did not reach the tool because its server has ended; not the agent's fault."""


class AgentTool(Protocol):
    """A tool that an agent may call. `server` names its MCP server; `None` for tools in this process."""

    @property
    def definition(self) -> Tool:
        """Name, description and the JSON Schema of its parameters."""
        ...

    @property
    def server(self) -> str | None: ...

    async def call(self, arguments: JsonObject) -> str:
        """Call the tool and return its result as text.

        Raises:
            ToolError: the call failed; the agent sees the message. Other exceptions count as failures, too.
        """
        ...


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """The outcome of a call. If it failed, `error` is the reason in one line, and `content` is the same text.

    `unreachable`: the tool's server has ended, so that further calls cannot succeed.
    """

    content: str
    error: str | None
    duration_ms: float
    unreachable: bool = False


class FunctionTool:
    """A Python function as a tool. Its schema comes from type hints and the docstring's `Args:`."""

    server: str | None = None

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._parameters = _parameters_of(function)
        documented = docstring_parser.parse(inspect.getdoc(function) or "")
        about = (documented.short_description, documented.long_description)
        schema = self._parameters.model_json_schema()
        schema.pop("title", None)
        for parameter in schema.get("properties", {}).values():
            parameter.pop("title", None)
        self.definition = Tool(
            name=function.__name__,
            description="\n\n".join(part for part in about if part),
            parameters=schema,
        )

    async def call(self, arguments: JsonObject) -> str:
        """Call the function with validated arguments, in its own thread so that it cannot block other calls."""
        try:
            checked = self._parameters.model_validate(arguments)
        except pydantic.ValidationError as problem:
            raise ToolError(f"the arguments do not fit: {'; '.join(map(str, faults_of(problem)))}") from None
        values = {name: getattr(checked, name) for name in self._parameters.model_fields}

        def called() -> Any:
            result = self._function(**values)
            return asyncio.run(result) if inspect.iscoroutine(result) else result

        return as_text(await in_thread(called))


class Toolbox:
    """The tools of one attempt at a case, by the names that models use."""

    def __init__(
        self,
        tools: Iterable[AgentTool],
        *,
        timeout_s: float = TIMEOUT_S,
        max_result_characters: int = MAX_RESULT_CHARACTERS,
        mask: Mask | None = None,
    ) -> None:
        self._timeout_s = timeout_s
        self._mask = mask or Mask()
        self._max_result_characters = max_result_characters
        self._tools: dict[str, AgentTool] = {}
        for tool in tools:
            name = wire_name(tool.definition.name)
            if name in self._tools:
                raise InvalidTool(f"two tools are named {name!r}; rename one, or remove one server")
            self._tools[name] = tool

    @property
    def offered(self) -> tuple[Tool, ...]:
        """The tool definitions as models see them."""
        return tuple(replace(tool.definition, name=name) for name, tool in self._tools.items())

    @property
    def definitions(self) -> tuple[Tool, ...]:
        """The tool definitions with their original names."""
        return tuple(tool.definition for tool in self._tools.values())

    def named(self, name: str) -> AgentTool | None:
        """The tool with this name for models."""
        return self._tools.get(name)

    async def call(self, name: str, arguments: str) -> CallOutcome:
        """Call a tool. Never raises because of the tool, its name or its arguments."""
        started = time.monotonic()
        error: str | None = None
        unreachable = False
        try:
            content = await asyncio.wait_for(self._call(name, arguments), self._timeout_s)
        except TimeoutError:
            content = error = f"{name} gave no result in {self._timeout_s:g} s"
        except ToolError as problem:
            content = error = str(problem)
            unreachable = isinstance(problem, ToolUnreachable)
        except Exception as problem:  # noqa: BLE001  (a tool may raise anything; the agent gets the error)
            content = error = f"{name} failed: {type(problem).__name__}: {problem}"
        content = self._mask(content)
        if error is not None:
            error = self._mask(error)
            error = " ".join(cut(error, _LONGEST_MESSAGE).split())
        duration_ms = (time.monotonic() - started) * 1000
        return CallOutcome(cut(content, self._max_result_characters), error, duration_ms, unreachable)

    async def _call(self, name: str, arguments: str) -> str:
        tool = self._tools.get(name)
        if tool is None:
            raise ToolError(f"there is no tool {name!r}; the tools are {', '.join(self._tools) or 'none'}")
        try:
            values = loads(arguments) if arguments.strip() else {}
        except orjson.JSONDecodeError as problem:
            raise ToolError(f"the arguments are not JSON: {problem}") from None
        if not isinstance(values, dict):
            raise ToolError("the arguments have to be a JSON object")
        return await tool.call(values)


def wire_name(name: str) -> str:
    """The tool name in the form that providers allow: at most 64 letters, digits, `_` and `-`."""
    return _NOT_IN_NAMES.sub("_", name)[:64]


def python_tools(names: Iterable[str], known: Mapping[str, Callable[..., Any]]) -> list[FunctionTool]:
    """Load Python tools by name: built-in functions, or `module:function`.

    Raises:
        InvalidTool: there is no such function, or its parameters have no JSON Schema.
    """
    return [FunctionTool(known[name] if name in known else _imported(name, known)) for name in names]


def as_text(value: Any) -> str:
    """A result as text: strings unchanged, everything else as JSON."""
    return value if isinstance(value, str) else pydantic_core.to_json(value, fallback=str).decode()


def cut(text: str, most: int) -> str:
    """Limit a text to about `most` characters by replacing its middle with a mark."""
    text = text if text.isascii() else text.encode("utf-8", "replace").decode()  # lone surrogates cannot be encoded
    if len(text) <= most:
        return text
    head, tail = most - most // 3, most // 3
    return f"{text[:head]}\n[... {len(text) - head - tail} characters left out ...]\n{text[len(text) - tail :]}"


def _imported(name: str, known: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    module, colon, function = name.partition(":")
    if not colon:
        raise InvalidTool(f"unknown tool {name!r}; choose one of: {', '.join(known)}, or write module:function")
    try:
        attribute = getattr(importlib.import_module(module), function, None)
    except ImportError as problem:
        raise InvalidTool(f"tool {name!r}: {problem}") from problem
    if not callable(attribute):
        raise InvalidTool(f"tool {name!r}: module {module} has no function {function}")
    return attribute


def _parameters_of(function: Callable[..., Any]) -> type[pydantic.BaseModel]:
    """Pydantic model of a function's parameters; a parameter without a type hint accepts any value."""
    about = {item.arg_name: item.description for item in docstring_parser.parse(inspect.getdoc(function) or "").params}
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise InvalidTool(f"{function.__name__}: parameter {name} cannot be given by name")
        kind = Any if parameter.annotation is parameter.empty else parameter.annotation
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (kind, pydantic.Field(default, description=about.get(name)))
    try:
        return pydantic.create_model(function.__name__, __config__=pydantic.ConfigDict(extra="forbid"), **fields)
    except (pydantic.PydanticUserError, NameError) as problem:
        raise InvalidTool(f"{function.__name__}: {problem}") from problem

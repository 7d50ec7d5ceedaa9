"""`agent.yaml`: a model with its instructions, its tools and its limits."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import Field
from upath import UPath

from evaluation_assets.core.models.endpoints import EndpointSettings
from evaluation_assets.core.suites.agents.mcp_tools import McpServer
from evaluation_assets.core.suites.agents.tools import MAX_RESULT_CHARACTERS, TIMEOUT_S
from evaluation_assets.core.system.configuration import InvalidConfiguration, Section, read_settings
from evaluation_assets.core.system.own_code import InvalidFunction, OwnFunction, own_function
from evaluation_assets.core.traces.trajectories.identity import digest

PYTHON = "python"
"""The provider of agents that are a Python function."""

COMMAND = "command"
"""The provider of agents that are a command."""

SYSTEM_PROMPT = """\
You solve tasks with the help of tools.

Work on the task you are given with the tools you have. When you are done, write three parts in this order, each in \
its own tags:

<summary>What you did: each step, which tools you called in which order and why, what you gave them and what came \
back, and how this led to your response.</summary>

<feedback>What you think of the tools. Were their names clear? Were their parameters documented, and was it plain \
which ones are required? Did the descriptions say what the tools do? Which calls failed or returned too much? Name \
what should be changed, tool by tool, and why that would help.</feedback>

<response>The answer and nothing else: for a number only the number, for an id only the id, for a name or a text \
exactly that text. If the task cannot be solved, NOT_FOUND.</response>
"""


class InvalidAgent(InvalidConfiguration):
    """An agent that cannot be run; the message names file, field and what to write instead."""


class ToolSettings(Section):
    """The tools of an agent.

    Attributes:
        python: Built-in functions (`calculator`), and functions as `module:function`.
        mcp: MCP servers, whose tools are all given to the agent.
        mock: `true` adds the tools of the suite, which return the results recorded in the case.
    """

    python: tuple[str, ...] = ()
    mcp: tuple[McpServer, ...] = ()
    mock: bool = False


class Limits(Section):
    """Limits of an attempt at a case. Only `max_seconds` applies to the providers `python` and `command`.

    Attributes:
        max_steps: Maximum model replies.
        max_calls: Maximum tool calls; a reply that exceeds it ends the attempt before its calls are made.
        max_seconds: Seconds of model and tools after which no further request is made, or in which a function or a
            command has to answer.
        max_cost_usd: Cost in US dollars from which no further request is made; it needs a known price.
        tool_timeout_s: Seconds after which a tool call is an error that the agent gets.
        max_result_characters: Maximum characters of a tool result; a longer one is cut.
    """

    max_steps: int = Field(default=30, ge=1)
    max_calls: int = Field(default=100, ge=0)
    max_seconds: float = Field(default=900, gt=0)
    max_cost_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    tool_timeout_s: float = Field(default=TIMEOUT_S, gt=0)
    max_result_characters: int = Field(default=MAX_RESULT_CHARACTERS, ge=100)


class AgentSettings(EndpointSettings):
    """Settings of an agent: a model with tools, or, in any framework, a Python function or a command.

    Attributes:
        provider: `python` for a function, `command` for a command, else the provider of the model, as in panel.yaml.
        max_concurrency: Maximum attempts, and of requests to the model, at the same time.
        max_input_tokens: Tokens per request that the upper bound of the cost assumes. `null`: from the provider's
            context window.
        function: The function that provider `python` calls, as `module:function`.
        command: The program that provider `command` runs, with its arguments.
        folder: Folder of the function's module, or working directory of the command, relative to the agent's file.
        env: Environment variables of the command, beside basic ones such as PATH and HOME; they override `env_from`.
        env_from: Names of environment variables to pass on to the command.
        version: Version of the agent. `null`: a digest of the settings.
        system: System prompt, before that of the case. The default asks for summary, feedback and response.
        tools: The tools that the model may call; not for the providers `python` and `command`.
        limits: The limits of each attempt at a case.
    """

    function: str | None = None
    command: tuple[str, ...] = ()
    folder: str | None = None
    env: dict[str, str] = Field(default={})
    env_from: tuple[str, ...] = ()

    version: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]+$")
    system: str = SYSTEM_PROMPT
    tools: ToolSettings = ToolSettings()
    limits: Limits = Limits()
    max_concurrency: int = Field(default=8, ge=1)
    max_output_tokens: int = Field(default=4096, ge=1)

    def check(self) -> None:
        """Check the endpoint and that the names of servers are unique."""
        self.check_provider(PYTHON, COMMAND)
        if (self.function is not None) != (self.provider == PYTHON) or bool(self.command) != (self.provider == COMMAND):
            raise ValueError("provider python needs a function, provider command a command, and others take neither")
        if not self.is_own:
            super().check()
        elif self.tools != ToolSettings():
            raise ValueError(f"provider {self.provider} brings its own tools; remove tools")
        names = [server.name for server in self.tools.mcp]
        if len(set(names)) < len(names):
            raise ValueError("the names of MCP servers must be unique")

    @property
    def is_own(self) -> bool:
        """Whether it is a function or a command, and not a model with tools."""
        return self.provider in (PYTHON, COMMAND)

    @property
    def model_name(self) -> str:
        """The model, or else the function or the command."""
        return (self.function or " ".join(self.command)) if self.is_own else super().model_name

    @property
    def passed(self) -> list[str]:
        """The values that a command is given beyond basic variables."""
        return [*self.env.values(), *(os.environ[name] for name in self.env_from if name in os.environ)]

    def own_function(self) -> OwnFunction:
        """The function of an agent with provider `python`.

        Raises:
            InvalidFunction: it cannot be imported.
        """
        return own_function(self.function or "", None if self.folder is None else Path(self.folder))

    def _own_code(self) -> str:
        """Digest of the function's file, or of the files that the command names."""
        if self.provider == PYTHON:
            return digest(self.function or "", self.own_function().digest)
        files = (Path(self.folder or ".") / part for part in self.command)
        return digest(*self.command, *filter(None, map(_digest_of, files)))

    @property
    def identity(self) -> str:
        """Digest of everything that determines the agent's behaviour, except the code of its tools."""
        if self.is_own:
            return digest(self.model_dump_json(include={"provider", "system", "limits", "env"}), self._own_code())
        own = self.model_dump_json(include={"provider", "base_url", "max_output_tokens", "system", "tools", "limits"})
        return digest(own, self.model_name, repr(sorted(self.parameters.items())))

    @property
    def version_name(self) -> str:
        """The version, or else a digest of the settings."""
        return self.version or self.identity[:8]


def load_agent(path: UPath) -> AgentSettings:
    """The agent in a file.

    Raises:
        InvalidAgent: the file is not valid YAML, or a field is invalid.
    """
    try:
        agent = read_settings(path, AgentSettings, InvalidAgent)
        if not agent.is_own:
            return agent
        folder = Path(path.path).parent / (agent.folder or ".")
        located = agent.model_copy(update={"folder": str(folder.resolve())})
        if located.provider == PYTHON:
            located.own_function()
        return located
    except InvalidFunction as problem:
        raise InvalidAgent(f"{path}: {problem}") from problem
    except OSError as problem:
        raise InvalidAgent(f"{path}: cannot be read ({type(problem).__name__})") from None


def load_agents(paths: Iterable[UPath]) -> list[AgentSettings]:
    """The agents in several files.

    Raises:
        InvalidAgent: a file cannot be used, or two agents have the same name.
    """
    agents: dict[str, AgentSettings] = {}
    for path in paths:
        agent = load_agent(path)
        if agent.name in agents:
            raise InvalidAgent(f"{path}: another agent is named {agent.name!r}; the names of agents must be unique")
        agents[agent.name] = agent
    return list(agents.values())


def agent_files(folder: UPath) -> list[UPath]:
    """The agent files of an installation."""
    return sorted(folder.glob("*.yaml"), key=lambda path: path.path) if folder.exists() else []


def _digest_of(file: Path) -> str | None:
    """The digest of a file; `None` where an argument is no file that can be read, but perhaps a program."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None
    except OSError:
        return None

"""Tool types: the category of a call, which groups clips and selects their rubric."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache

from pydantic import BaseModel, ConfigDict
from upath import UPath

from evaluation_assets.core.system.configuration import InvalidConfiguration, read_settings
from evaluation_assets.core.text.shipped_yaml import shipped_yaml
from evaluation_assets.core.traces.trajectories.model import ToolCall

FINAL = "final"
"""The tool type of the piece after the last call."""


class InvalidToolTypes(InvalidConfiguration):
    """A table of tool types that cannot be used; the message names the file."""


class ToolTypesFile(BaseModel):
    """The tool types of an installation, which precede the shipped ones.

    Attributes:
        categories: Patterns of tool names by type, with `*` and `?`, ignoring case. The first match counts.
        servers: Tool type by name of the MCP server. Default: the name of the server.
    """

    model_config = ConfigDict(extra="forbid")

    categories: dict[str, list[str]] = {}
    servers: dict[str, str] = {}


class ToolTypes:
    """Tool types by patterns of tool names (shell globs, compared without case), and by server."""

    def __init__(self, categories: Mapping[str, Sequence[str]], servers: Mapping[str, str]) -> None:
        self._categories = categories
        self._servers = servers
        self._known: dict[str, str] = {}

    def of(self, call: ToolCall) -> str:
        """The type its server stands for, else the server, else the tool's category, else the tool's own name."""
        if call.server is not None:
            return self._servers.get(call.server, call.server)
        return self.of_name(call.name)

    def of_name(self, name: str) -> str:
        """The category of a tool's name, whatever its server, else the name."""
        if name not in self._known:
            self._known[name] = self._category(name)
        return self._known[name]

    def _category(self, name: str) -> str:
        lowered = name.lower()
        for category, patterns in self._categories.items():
            if any(fnmatchcase(lowered, pattern.lower()) for pattern in patterns):
                return category
        return f"{name} (tool)" if name == FINAL else name


def load_tool_types(path: UPath | None = None) -> ToolTypes:
    """The tool types that ship with the package, after those of an installation's own file.

    Raises:
        InvalidToolTypes: the installation's file is no such table.
    """
    if path is None or not path.exists():
        return shipped_tool_types()
    own = read_settings(path, ToolTypesFile, InvalidToolTypes)
    shipped = _shipped()
    categories = {name: [*own.categories.get(name, ()), *shipped.categories.get(name, ())] for name in own.categories}
    return ToolTypes({**categories, **_without(shipped.categories, own.categories)}, {**shipped.servers, **own.servers})


def _without(table: Mapping[str, list[str]], taken: Mapping[str, object]) -> dict[str, list[str]]:
    return {name: patterns for name, patterns in table.items() if name not in taken}


@cache
def shipped_tool_types() -> ToolTypes:
    """The tool types that ship with the package."""
    shipped = _shipped()
    return ToolTypes(shipped.categories, shipped.servers)


@cache
def _shipped() -> ToolTypesFile:
    return ToolTypesFile.model_validate(shipped_yaml("evaluation_assets.core.intake.clips", "tool_types.yaml"))

"""Which type of tool a call went to: what groups clips and chooses their rubric."""

from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

import yaml

from evaluation_assets.core.trajectories.model import ToolCall

FINAL = "final"
"""The tool type of the piece after the last call."""


def tool_type(call: ToolCall) -> str:
    """The server of the call, else its category in `tool_types.yaml`, else the tool's own name."""
    return call.server or _category(call.name)


@cache
def _category(name: str) -> str:
    lowered = name.lower()
    for category, patterns in _categories().items():
        if any(fnmatchcase(lowered, pattern) for pattern in patterns):
            return category
    return f"{name} (tool)" if name == FINAL else name


@cache
def _categories() -> dict[str, list[str]]:
    return yaml.safe_load((files("evaluation_assets.core.clips") / "tool_types.yaml").read_text("utf-8"))["categories"]

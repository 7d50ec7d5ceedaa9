"""What a tool call was given, and when two calls ask for the same thing."""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

import orjson

from evaluation_assets.core.text.exact_json import loads
from evaluation_assets.core.traces.trajectories.model import Step, ToolCall, Trajectory

CallKey = tuple[str, str, str]
"""Server, tool and arguments; equal for calls that ask for the same thing."""


_VERBS = frozenset(
    "create write save edit replace insert patch read view open goto execute exec run command submit finish".split()
)
_OF_PROGRAMS = re.compile(
    r"(?:default_api|(?:\w*_)?(?:functions?|tools?|fs|files?|folder|filesystem|editor|shell|terminal|bash|developer"
    r"|computer|container|sandbox|workspace|repo|repo_browser|process|code|coding|python|os|system|docker|ssh|notebook"
    r"|git))"
)
"""Namespaces of functions as such, and of files and commands."""


def plain_name(tool: str) -> str:
    """The name of a tool without its server or namespace: `bash` of `mcp__shell__bash` and `functions.bash`."""
    return tool.rpartition("__")[2].rpartition(".")[2].lower()


def telling_name(tool: str) -> str:
    """The plain name of a tool, or all of it where that is a verb alone, as `refunds.create` writes no file."""
    own = tool.rpartition("__")[2].lower()
    namespace, _, plain = own.rpartition(".")
    says_what = namespace and plain in _VERBS and not _OF_PROGRAMS.fullmatch(namespace.rpartition(".")[2])
    return own if says_what else plain


def inner(value: Any) -> Collection[Any]:
    """The values right inside an object or list; none in anything else."""
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def leaves(arguments: Any) -> Iterator[Any]:
    """The values in arguments that are no objects or lists, in order."""
    if isinstance(arguments, dict | list):
        for item in inner(arguments):
            yield from leaves(item)
    else:
        yield arguments


def key_of(tool: str, arguments: object, server: str | None = None) -> CallKey:
    """The key of a call with these arguments. White space and the order of JSON keys do not matter."""
    # Not orjson: predictions of other tools hold integers beyond 64 bits, and values that are no JSON.
    return server or "", tool, json.dumps(arguments, sort_keys=True, default=str)


def call_key(trajectory: Trajectory, step: Step) -> CallKey:
    """The key of the call that a step made. Arguments that are no JSON are compared as words."""
    call = step.call
    if call is None:
        return "", "", ""
    return key_of(call.name, _arguments(trajectory, call), call.server)


def _arguments(trajectory: Trajectory, call: ToolCall) -> object:
    data: object = trajectory.arguments(call)
    if data is not None:
        return data
    raw = trajectory.piece(call.raw)
    try:
        return loads(raw)
    except orjson.JSONDecodeError:
        return " ".join(raw.split())

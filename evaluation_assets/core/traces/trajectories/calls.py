"""What a tool call was given, and when two calls ask for the same thing."""

import json
from collections.abc import Iterator
from typing import Any

import orjson

from evaluation_assets.core.text.exact_json import loads
from evaluation_assets.core.traces.trajectories.model import Step, ToolCall, Trajectory

CallKey = tuple[str, str, str]
"""Server, tool and arguments; equal for calls that ask for the same thing."""


def plain_name(tool: str) -> str:
    """The name of a tool without its server or namespace: `bash` of `mcp__shell__bash` and `functions.bash`."""
    return tool.rpartition("__")[2].rpartition(".")[2].lower()


def leaves(arguments: Any) -> Iterator[Any]:
    """The values in arguments that are no objects or lists, in order."""
    if isinstance(arguments, dict):
        arguments = list(arguments.values())
    if isinstance(arguments, list):
        for item in arguments:
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

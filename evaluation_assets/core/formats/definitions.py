"""Tools as APIs describe them to a model: OpenAI functions, Anthropic and MCP tools, JSON Schema by name."""

from collections.abc import Iterable
from typing import Any

from evaluation_assets.core.trajectories.model import Tool, json_object

_SCHEMA = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "json_schema")


def tools_of(definitions: Iterable[Any]) -> tuple[Tool, ...]:
    """The tools in a list of definitions, each once; what is none is left out."""
    found = {tool.name: tool for tool in map(_tool, definitions) if tool is not None}
    return tuple(found.values())


def _tool(definition: Any) -> Tool | None:
    if isinstance(definition, str):
        definition = json_object(definition)
    if not isinstance(definition, dict):
        return None
    if isinstance(function := definition.get("function"), dict):
        definition = function
    name, description = definition.get("name"), definition.get("description")
    if not isinstance(name, str) or not name.strip():
        return None
    schema = next((definition[key] for key in _SCHEMA if definition.get(key)), None)
    if isinstance(schema, str):
        schema = json_object(schema)
    return Tool(
        name=name,
        description=description if isinstance(description, str) else "",
        parameters=schema if isinstance(schema, dict) else None,
    )

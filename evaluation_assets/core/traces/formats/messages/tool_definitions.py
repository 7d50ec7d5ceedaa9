"""Parse tool definitions: OpenAI functions, Anthropic tools and MCP tools."""

from typing import Any

from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import at, decoded, list_in
from evaluation_assets.core.traces.trajectories.model import Tool


def tools_of(fields: Fields, *keys: str) -> tuple[Tool, ...] | None:
    """The tools in the first of these fields that is a list, or JSON text of one; `None` if none is."""
    if not any(key in fields for key in keys):
        return None
    if (text := fields.text(*filter(fields.is_text, keys))) is not None:
        return tools_in(text) or None
    tools: list[Tool] = []
    for tool in fields.objects(*keys):
        function = tool.object("function", "custom")
        kind = tool.text("type")
        name = function.text("name") or tool.text("name") or tool.text("server_label") or kind
        if name is None:
            continue
        inside, beside = function.value("parameters"), tool.value("parameters", "input_schema", "inputSchema")
        parameters = beside if inside is None else inside
        tool.set_aside("cache_control", "strict", "format")
        function.set_aside("strict", "format")
        tools.append(described_tool(name, function.text("description") or tool.text("description"), parameters))
    return tuple(tools)


def described_tool(name: str, description: str | None, parameters: Any) -> Tool:
    """A tool with its parameters, if these are an object."""
    return Tool(
        name=name, description=description or "", parameters=parameters if isinstance(parameters, dict) else None
    )


def has_hosted_tools(*holders: Fields) -> bool:
    """Whether tools of the provider or of a server are offered, whose calls have other names than the offer."""
    offered = [tool for holder in holders for key in ("tools", "mcp_servers") for tool in holder.items(key)]
    return any(at(tool, "type") not in (None, "function", "custom") for tool in offered)


def tools_in(definitions: Any) -> tuple[Tool, ...]:
    """Parse a list of definitions; a definition or its parameters may be JSON text. Unmapped fields are not counted."""
    tools = [decoded(definition) for definition in list_in(decoded(definitions))]
    schemas = [
        {**tool, "parameters": decoded(tool["parameters"])} if isinstance(at(tool, "parameters"), str) else tool
        for tool in tools
    ]
    return tools_of(Fields({"tools": schemas}), "tools") or ()

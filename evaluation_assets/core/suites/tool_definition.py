"""Tools as suites define them, in this project's form or a provider's, and what all parts of a suite have in common."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evaluation_assets.core.text.field_meanings import describe
from evaluation_assets.core.traces.trajectories.model import Tool


class SuiteModel(BaseModel):
    """A part of a suite: it has no other fields than its own."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, json_schema_extra=describe)


_SCHEMAS = ("input_schema", "inputSchema")
"""Names of `parameters` in definitions for Anthropic and MCP."""


class ToolDefinition(SuiteModel):
    """A tool that agents are given, also as OpenAI, Anthropic and MCP define it.

    Attributes:
        name: Name of the tool.
        description: What the model reads about the tool.
        parameters: JSON Schema, or a flat map of name to type. `null`: only the tool's name is checked.
        returns: What a mock of the tool answers where no expected call does. Default: such a call fails, or is repeated
            as the answer if no expected call of the tool has a result.
    """

    name: str = Field(min_length=1)
    description: str = ""
    parameters: dict[str, Any] | None = None
    returns: Any = None

    @model_validator(mode="before")
    @classmethod
    def _of_a_provider(cls, data: Any) -> Any:
        """The definition, also where it is written for OpenAI, Anthropic or MCP."""
        if not isinstance(data, dict):
            return data
        if data.get("type") == "function":
            inner = data.get("function")
            data = {key: value for key, value in data.items() if key not in ("type", "strict", "function")}
            data |= {key: value for key, value in inner.items() if key != "strict"} if isinstance(inner, dict) else {}
        return {("parameters" if key in _SCHEMAS else key): value for key, value in data.items()}

    @property
    def tool(self) -> Tool:
        """The tool as trajectories have it."""
        return Tool(name=self.name, description=self.description, parameters=self.parameters)

"""Mock tools: they return the result of the matching expected call, else the default of the tool's definition.

A tool for which the suite has no result at all repeats the call, marked as mocked.
"""

from collections.abc import Sequence

from evaluation_assets.core.suites.agents.tools import ToolError, as_text
from evaluation_assets.core.suites.call_schemas import parameter_schema
from evaluation_assets.core.suites.calls import Call, same_tool
from evaluation_assets.core.suites.comparison import compare_call
from evaluation_assets.core.suites.suite import Case, ExpectedCall, Suite
from evaluation_assets.core.suites.tool_definition import ToolDefinition
from evaluation_assets.core.traces.trajectories.model import JsonObject, Tool


class MockTool:
    """A tool of a suite that returns recorded results."""

    server: str | None = None

    def __init__(self, definition: ToolDefinition, expected: Sequence[ExpectedCall]) -> None:
        parameters = None if definition.parameters is None else parameter_schema(definition.parameters)
        self.definition = Tool(name=definition.name, description=definition.description, parameters=parameters)
        self._default = definition
        self._expected = [call for call in expected if same_tool(call.tool, definition.name)]

    async def call(self, arguments: JsonObject) -> str:
        """The recorded result of the first expected call that matches these arguments."""
        call = Call(self.definition.name, arguments)
        for expected in (*self._expected, self._default):
            fits = isinstance(expected, ToolDefinition) or compare_call(expected, call).is_right
            if fits and "returns" in expected.model_fields_set:
                return as_text(expected.returns)
        if any("returns" in expected.model_fields_set for expected in self._expected):
            raise ToolError("no result is recorded for these arguments")
        return as_text({"mocked": True, "tool": self.definition.name, "arguments": arguments})


def mock_tools(suite: Suite, case: Case) -> list[MockTool]:
    """Mocks of the tools of a case."""
    return [MockTool(definition, case.expected_calls) for definition in suite.tools_of(case) or ()]

"""Did agents call their own tools, with the parameters these take? Answered from the definitions, without a model."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from evaluation_assets.core.sessions.contributions import Contribution, contributions, definitions
from evaluation_assets.core.trajectories.model import JsonObject, Step, Tool, ToolCall, Trajectory

Severity = Literal["HIGH", "MEDIUM", "LOW"]
ToolFault = Literal["unauthorized_tool", "hallucinated_parameter", "missing_parameter"]

SEVERITIES: dict[ToolFault, Severity] = {
    "unauthorized_tool": "HIGH",
    "hallucinated_parameter": "MEDIUM",
    "missing_parameter": "MEDIUM",
}
_CREDIT: dict[ToolFault, float] = {"unauthorized_tool": 0.0, "hallucinated_parameter": 0.5, "missing_parameter": 0.5}
_NONE: frozenset[str] = frozenset()
_OPENING = ("additionalProperties", "patternProperties", "allOf", "anyOf", "oneOf", "$ref")
"""Keywords of a JSON Schema with which its `properties` are not all that may be given."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a tool takes. `known` is `None` where any further parameter is allowed."""

    known: frozenset[str] | None
    required: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolIssue:
    """One thing wrong with one call; `step` counts in its contribution."""

    fault: ToolFault
    contribution: Contribution
    step: int
    tool: str
    parameters: tuple[str, ...] = ()
    available: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        """HIGH for a tool the agent does not have, MEDIUM for parameters."""
        return SEVERITIES[self.fault]


def parameters_of(schema: JsonObject) -> Parameters:
    """The parameters in a JSON Schema, or in a flat map of name to type, where all without a default are required."""
    if _is_json_schema(schema):
        properties, required = schema.get("properties"), schema.get("required")
        names = frozenset(name for name in required if isinstance(name, str)) if isinstance(required, list) else _NONE
        is_open = any(schema.get(keyword) for keyword in _OPENING) or not isinstance(properties, dict)
        return Parameters(None if is_open else names.union(properties or ()), names)
    return Parameters(
        frozenset(schema), frozenset(name for name, described in schema.items() if not _is_optional(described))
    )


def _is_json_schema(schema: JsonObject) -> bool:
    """A flat map may have parameters that are called `type` or `properties`, but not with these values."""
    properties = schema.get("properties")
    described = isinstance(properties, dict) and all(isinstance(value, dict | bool) for value in properties.values())
    return schema.get("type") == "object" or described or "$schema" in schema


def _is_optional(described: Any) -> bool:
    if isinstance(described, dict):
        return "default" in described or described.get("required") is False or described.get("optional") is True
    return isinstance(described, str) and (described.endswith("?") or "optional" in described.lower())


def tool_issues(trajectory: Trajectory) -> list[ToolIssue]:
    """Everything wrong with the calls of a session, in order."""
    return [issue for contribution in contributions(trajectory) for issue in contribution_issues(contribution)]


def contribution_issues(contribution: Contribution) -> list[ToolIssue]:
    """Everything wrong with the calls of one contribution; nothing where the agent's tools are unknown."""
    tools = _tools(contribution)
    if tools is None:
        return []
    return [
        issue
        for number, step in enumerate(contribution.steps)
        if step.call is not None
        for issue in _call_issues(contribution, number, step.call, tools)
    ]


def validity(contribution: Contribution) -> float | None:
    """Share of right calls: a tool the agent lacks counts 0, wrong parameters count half.

    `None` where the agent made no call, or its tools are unknown.
    """
    if _tools(contribution) is None or not contribution.calls:
        return None
    credit = {id(step): 1.0 for step in contribution.calls}
    for issue in contribution_issues(contribution):
        step: Step = contribution.steps[issue.step]
        credit[id(step)] = min(credit[id(step)], _CREDIT[issue.fault])
    return sum(credit.values()) / len(credit)


def _tools(contribution: Contribution) -> dict[str, Tool] | None:
    agent = definitions(contribution.trajectory).get(contribution.agent_id)
    return None if agent is None or agent.tools is None else {tool.name: tool for tool in agent.tools}


def _call_issues(
    contribution: Contribution, number: int, call: ToolCall, tools: dict[str, Tool]
) -> Iterator[ToolIssue]:
    tool = tools.get(call.name)
    if tool is None:
        yield ToolIssue(
            fault="unauthorized_tool",
            contribution=contribution,
            step=number,
            tool=call.name,
            available=tuple(sorted(tools)),
        )
        return
    given = contribution.trajectory.arguments(call)
    if given is None and not contribution.trajectory.piece(call.raw).strip():
        given = {}
    if tool.parameters is None or given is None:
        return
    expected = parameters_of(tool.parameters)
    extra = () if expected.known is None else tuple(sorted(given.keys() - expected.known))
    missing = tuple(sorted(expected.required - given.keys()))
    faults: tuple[tuple[ToolFault, tuple[str, ...]], ...] = (
        ("hallucinated_parameter", extra),
        ("missing_parameter", missing),
    )
    for fault, names in faults:
        if names:
            yield ToolIssue(fault=fault, contribution=contribution, step=number, tool=call.name, parameters=names)

"""Validate tool calls against the agents' tool definitions, without a model."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from evaluation_assets.core.sections.sessions.interactions import SessionInteraction, definitions, interactions_of
from evaluation_assets.core.suites.call_schemas import DefectKind, defects
from evaluation_assets.core.suites.calls import Call
from evaluation_assets.core.traces.trajectories.model import Agent, ToolCall, Trajectory

Severity = Literal["HIGH", "MEDIUM", "LOW"]
ToolFault = Literal["unauthorized_tool", "hallucinated_parameter", "missing_parameter", "invalid_parameter"]

_FAULTS: dict[DefectKind, ToolFault] = {
    "unknown_tool": "unauthorized_tool",
    "undeclared_parameter": "hallucinated_parameter",
    "missing_required": "missing_parameter",
    "unreadable_arguments": "invalid_parameter",
    "wrong_type": "invalid_parameter",
    "not_in_enum": "invalid_parameter",
    "invalid_value": "invalid_parameter",
}
"""Faults in sessions, by kind of defect."""

_WRONG_PARAMETERS = 0.5
"""Credit of a call to the right tool with wrong parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolIssue:
    """A fault of a call; `step` is its position in the interaction. `available` are the agent's tools."""

    fault: ToolFault
    interaction: SessionInteraction
    step: int
    tool: str
    parameters: tuple[str, ...]
    available: tuple[str, ...]

    @property
    def severity(self) -> Severity:
        """HIGH for a tool that the agent does not have, MEDIUM for parameters."""
        return "HIGH" if self.fault == "unauthorized_tool" else "MEDIUM"


def tool_issues(trajectory: Trajectory) -> list[ToolIssue]:
    """All faults of the calls in a session, in order."""
    return [issue for interaction in interactions_of(trajectory) for issue in interaction_issues(interaction)]


def interaction_issues(interaction: SessionInteraction) -> list[ToolIssue]:
    """All faults of the calls in one interaction; empty if the agent's tools are unknown."""
    agent = _agent(interaction)
    if agent is None or agent.tools is None:
        return []
    return [
        issue
        for number, step in enumerate(interaction.steps)
        if step.call is not None
        for issue in _call_issues(interaction, number, step.call, agent)
    ]


def validity(interaction: SessionInteraction) -> float | None:
    """Share of valid calls: a tool that the agent does not have counts 0, wrong parameters count half.

    `None` if the agent made no call or its tools are unknown.
    """
    agent = _agent(interaction)
    if agent is None or agent.tools is None or not interaction.calls:
        return None
    credit: dict[int, float] = {}
    for issue in interaction_issues(interaction):
        worth = 0.0 if issue.fault == "unauthorized_tool" else _WRONG_PARAMETERS
        credit[issue.step] = min(worth, credit.get(issue.step, 1.0))
    return (len(interaction.calls) - len(credit) + sum(credit.values())) / len(interaction.calls)


def _agent(interaction: SessionInteraction) -> Agent | None:
    return definitions(interaction.trajectory).get(interaction.agent_id)


def _call_issues(interaction: SessionInteraction, number: int, call: ToolCall, agent: Agent) -> Iterator[ToolIssue]:
    """One issue per fault, with the affected parameters."""
    trajectory = interaction.trajectory
    by_fault: dict[ToolFault, list[str]] = {}
    made, tools = Call(call.name, trajectory.arguments(call)), agent.tools or ()
    for defect in defects(made, tools, are_all=not agent.has_other_tools):
        if defect.kind != "not_checked":
            by_fault.setdefault(_FAULTS[defect.kind], []).append(defect.parameter or "")
    for fault, parameters in by_fault.items():
        yield ToolIssue(
            fault=fault,
            interaction=interaction,
            step=number,
            tool=call.name,
            parameters=tuple(sorted(filter(None, parameters))),
            available=tuple(sorted(tool.name for tool in tools)),
        )

"""Trajectories of tool calls, and the outcome of one constraint on them."""

import json
from typing import Any

from evaluation_assets.core.sections.constraints.evaluation import Evaluator, Outcome
from evaluation_assets.core.sections.constraints.scope import DropScope
from evaluation_assets.core.sections.constraints.settings import Checks, Constraint
from evaluation_assets.core.traces.trajectories.model import (
    Agent,
    Interaction,
    Step,
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
)


def call(tool: str, arguments: dict[str, Any] | str | None = None, result: Any = None, error: str | None = None) -> Any:
    """One call with the text of its arguments and result."""
    given = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    came = result if isinstance(result, str | None) else json.dumps(result)
    return tool, given, came, error


def run(*calls: Any, answer: str | None = "Done.", agent: str = "main", **fields: Any) -> Trajectory:
    """A trajectory of these calls by one agent."""
    text = ""
    steps: list[Step] = []
    for tool, given, came, error in calls:
        start = len(text)
        text += given
        made = ToolCall(name=tool, raw=(start, len(text)))
        result = None
        if came is not None:
            result = ToolResult(content=(len(text), len(text) + len(came)), error=error)
            text += came
        steps.append(Step(start=start, end=len(text), call=made, result=result))
    turn = Turn(interactions=(Interaction(agent_id=agent, steps=tuple(steps)),))
    own: dict[str, Any] = {"id": "r1", "task_id": "t1", "format": "test", "task": "Do it", **fields}
    return Trajectory(text=text, turns=(turn,), final_answer=answer, agents=(Agent(id=agent),), **own)


def outcome(rule: dict[str, Any], trajectory: Trajectory, scope: DropScope | None = None) -> Outcome:
    """The outcome of a constraint, written as in checks.yaml."""
    (found,) = Evaluator({"rule": constraint(rule)}, scope or DropScope()).outcomes(trajectory)
    return found


def constraint(rule: dict[str, Any]) -> Constraint:
    """A constraint from what stands in checks.yaml."""
    return Checks.model_validate({"constraints": {"rule": rule}}).constraints["rule"]


def places(rule: dict[str, Any], *calls: Any, **fields: Any) -> list[int | None]:
    """The clips of the violations of a constraint in a trajectory of these calls."""
    return [violation.clip_index for violation in outcome(rule, run(*calls, **fields)).violations]

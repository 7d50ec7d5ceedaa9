"""The tool calls of a trajectory in the form that constraints are evaluated on."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

from evaluation_assets.core.suites.calls import said_in
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory


@dataclass(frozen=True)
class SeenCall:
    """One tool call. `index` is the number of its clip. `result` is `None` without one."""

    index: int
    tool: str
    agent: str
    arguments: JsonObject | None
    arguments_text: str
    result: str | None
    failed: bool

    @cached_property
    def result_value(self) -> Any:
        """The result as a JSON object or array, else `None`."""
        text = (self.result or "").strip()
        if not text.startswith(("{", "[")):
            return None
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            return None


def seen_calls(trajectory: Trajectory) -> list[SeenCall]:
    """The calls of a trajectory in order."""
    calls: list[SeenCall] = []
    for turn in trajectory.turns:
        for interaction in turn.interactions:
            for step in interaction.steps:
                if step.call is None:
                    continue
                result = step.result
                calls.append(
                    SeenCall(
                        index=len(calls),
                        tool=step.call.name,
                        agent=interaction.agent_id,
                        arguments=trajectory.arguments(step.call),
                        arguments_text=trajectory.piece(step.call.raw),
                        result=None if result is None else trajectory.piece(result.content),
                        failed=result is not None and result.error is not None,
                    )
                )
    return calls


def answer_of(trajectory: Trajectory) -> str | None:
    """The final answer; in a dialogue all that agents said, as the user may be told before the last message."""
    return said_in(trajectory) or trajectory.final_answer


def texts_in(value: Any) -> list[str]:
    """The texts and numbers in a JSON value, as texts, in order. Keys are left out."""
    texts: list[str] = []
    pending = [value]
    while pending:
        match pending.pop():
            case dict() as members:
                pending.extend(reversed(members.values()))
            case list() as items:
                pending.extend(reversed(items))
            case str() as text:
                texts.append(text)
            case bool() | None:
                pass
            case number:
                texts.append(str(number))
    return texts

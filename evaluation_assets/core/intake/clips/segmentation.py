"""Cut a trajectory into clips: one per tool call, and the final clip. Concatenated, clips are the text."""

from dataclasses import dataclass
from typing import Literal

from evaluation_assets.core.intake.clips.tool_types import FINAL, ToolTypes, shipped_tool_types
from evaluation_assets.core.traces.trajectories.model import Step, Trajectory

CallStatus = Literal["ok", "error", "none"]


@dataclass(frozen=True, slots=True)
class Clip:
    """A contiguous section of a trajectory that ends with one call's result, or the final section.

    `content` is `text[start:end]`. `call_status` is `none` without a result, and for the final section.
    """

    index: int
    tool_type: str
    tool_name: str | None
    is_final: bool
    start: int
    end: int
    call_status: CallStatus
    content: str


def clips_of(trajectory: Trajectory, tool_types: ToolTypes | None = None) -> list[Clip]:
    """The clips of a trajectory in order. They tile its text: no gap, no overlap.

    Steps without a call belong to the clip of the next call, the last of them are the final clip. `tool_types` are the
    shipped ones unless others are given.
    """
    types = tool_types or shipped_tool_types()
    clips: list[Clip] = []
    position = 0
    for step in trajectory.steps:
        if step.call is not None:
            clips.append(_clip(trajectory.text, len(clips), position, step.end, step, types))
            position = step.end
    if position < len(trajectory.text):
        clips.append(_clip(trajectory.text, len(clips), position, len(trajectory.text), None, types))
    return clips


def call_status(step: Step) -> CallStatus:
    """How a step's call ended."""
    if step.result is None:
        return "none"
    return "error" if step.result.error is not None else "ok"


def _clip(text: str, index: int, start: int, end: int, step: Step | None, types: ToolTypes) -> Clip:
    content = text[start:end]
    if step is None or step.call is None:
        return Clip(index, FINAL, None, True, start, end, "none", content)
    return Clip(index, types.of(step.call), step.call.name, False, start, end, call_status(step), content)

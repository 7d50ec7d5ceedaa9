"""Trajectories as rows of `raw_trajectories` and `preprocessed_trajectories`, and back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from evaluation_assets.core.traces.trajectories.model import Agent, Trajectory, Usage, from_json, to_json
from evaluation_assets.core.traces.trajectories.recorded_spans import trace_of

Row = dict[str, Any]

TREE_AND_TEXT = ("trajectory", "text")
"""The columns that `trajectory_of` reads."""


@dataclass(frozen=True, slots=True)
class _Goals:
    """What sources record of the goal of a simulated user, among the labels of a run."""

    instruction: Any = None
    user_scenario: Any = None


@dataclass(frozen=True, slots=True)
class Header:
    """What a trajectory says about the run as a whole."""

    agents: tuple[Agent, ...] = ()
    usage: Usage | None = None
    labels: _Goals = _Goals()

    @property
    def goal(self) -> Any:
        """The goal of the simulated user, which words it otherwise in each run; `None` if unknown."""
        return self.labels.instruction or self.labels.user_scenario or None


_HEADER = msgspec.json.Decoder(Header)


def trajectory_row(drop: str, trajectory: Trajectory) -> Row:
    """A row of `raw_trajectories` or `preprocessed_trajectories`."""
    return {
        "drop": drop,
        "trajectory_id": trajectory.id,
        "task_id": trajectory.task_id,
        "trial": trajectory.trial,
        "format": trajectory.format,
        "task": trajectory.task,
        "final_answer": trajectory.final_answer,
        "success": trajectory.success,
        "started_at": trajectory.started_at,
        "duration_s": trajectory.duration_s,
        "trace_id": trace_of(trajectory),
        "n_turns": len(trajectory.turns),
        "n_tool_calls": len(trajectory.calls),
        "tools_used": list(dict.fromkeys(step.call.name for step in trajectory.steps if step.call is not None)),
        "text": trajectory.text,
        "trajectory": to_json(trajectory),
        "repairs": [
            {"tag": repair.tag, "offset": repair.offset, "action": repair.action} for repair in trajectory.repairs
        ],
        "flags": list(trajectory.flags),
    }


def trajectory_of(row: Mapping[str, Any]) -> Trajectory:
    """The trajectory in a row, of its columns `TREE_AND_TEXT`."""
    return from_json(row["trajectory"], row["text"])


def header_of(row: Mapping[str, Any]) -> Header:
    """Agents, usage and goal of the trajectory in a row, of its column `trajectory`. The steps are not decoded."""
    return _HEADER.decode(row["trajectory"])

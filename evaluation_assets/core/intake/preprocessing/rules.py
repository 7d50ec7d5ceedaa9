"""Preprocessing rules: the number of calls, and repeated calls."""

from dataclasses import dataclass
from typing import Literal

from evaluation_assets.core.traces.trajectories.calls import call_key
from evaluation_assets.core.traces.trajectories.model import Step, Trajectory

Rule = Literal["frequency", "duplicates"]
OnViolation = Literal["remove", "flag"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How records are preprocessed.

    More than `beta_threshold` tool calls, or a duplicate call, is a violation: the record is kept and flagged, or
    removed. More than 15 calls is normal work for many agents, so removal is a choice.
    """

    beta_threshold: int = 15
    on_violation: OnViolation = "flag"


@dataclass(frozen=True, slots=True)
class Repetition:
    """Calls that repeat the one before: `retries` after a failed result, `duplicates` after any other."""

    duplicates: int
    retries: int


def repetition(trajectory: Trajectory) -> Repetition:
    """Count calls equal to the call right before them.

    Equal means the same server, the same action and the same arguments; white space and the order of JSON keys do
    not matter.
    """
    duplicates = retries = 0
    previous: Step | None = None
    for step in trajectory.calls:
        if (
            previous is not None
            and _same_tool(step, previous)
            and call_key(trajectory, step) == call_key(trajectory, previous)
        ):
            if previous.has_failed:
                retries += 1
            else:
                duplicates += 1
        previous = step
    return Repetition(duplicates, retries)


def _same_tool(step: Step, other: Step) -> bool:
    a, b = step.call, other.call
    return a is not None and b is not None and (a.name, a.server) == (b.name, b.server)


def violation(trajectory: Trajectory, repeated: Repetition, settings: Settings) -> tuple[Rule, str] | None:
    """The first rule the trajectory breaks, with the figures that show it."""
    calls = len(trajectory.calls)
    if calls > settings.beta_threshold:
        return "frequency", f"{calls} tool calls, more than {settings.beta_threshold}"
    if repeated.duplicates:
        return "duplicates", f"{repeated.duplicates} calls repeat the call before them although it had not failed"
    return None

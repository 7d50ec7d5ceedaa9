"""Turns in which the user objects to what the agent did."""

from collections.abc import Iterator

from evaluation_assets.core.sections.sessions.reactions import objection
from evaluation_assets.core.traces.trajectories.model import Trajectory

_QUOTED = 160


def objections(trajectory: Trajectory) -> Iterator[str]:
    """The beginnings of the user messages that correct the agent's work or complain about it.

    The first message objects to nothing; an agent must have acted before.
    """
    has_acted = False
    for turn in trajectory.turns:
        said = turn.user_message
        if has_acted and said is not None and objection(said) is not None:
            yield " ".join(said[: _QUOTED * 2].split())[:_QUOTED]
        has_acted = has_acted or bool(turn.interactions)

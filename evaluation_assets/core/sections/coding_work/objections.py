"""Turns in which the user objects to what the agent did."""

import re
from collections.abc import Iterator

from evaluation_assets.core.sections.sessions.reactions import objection
from evaluation_assets.core.traces.trajectories.model import Trajectory

_QUOTED = 160
_OF_CLIENT = re.compile(
    r"\s*(?:\w+ hook (?:feedback|blocking error|error)\b|<[\w-]*hook>|<(?:local-command|command)-[\w-]+>"
    r"|<task-notification>|\[Request interrupted by user)"
)
"""How messages begin that the client of a coding agent writes in the name of its user."""


def objections(trajectory: Trajectory) -> Iterator[str]:
    """The beginnings of the user messages that correct the agent's work or complain about it.

    The first message objects to nothing; an agent must have acted before.
    """
    has_acted = False
    for turn in trajectory.turns:
        said = turn.user_message
        if has_acted and said is not None and objects(said):
            yield " ".join(said[: _QUOTED * 2].split())[:_QUOTED]
        has_acted = has_acted or bool(turn.interactions)


def objects(message: str) -> bool:
    """Whether a user objects to the work of a coding agent."""
    return not is_of_client(message) and objection(message) is not None


def is_of_client(message: str) -> bool:
    """Whether a message is none of the user: feedback of a hook, the output of a local command, an interruption."""
    return _OF_CLIENT.match(message) is not None

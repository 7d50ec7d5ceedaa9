"""The interactions of a session in order, each with its place and its texts."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evaluation_assets.core.traces.trajectories.model import Agent, Interaction, Step, Trajectory


@dataclass(frozen=True)
class SessionInteraction:
    """One interaction with its place: `turn`, `position` in the turn, and `order` in the session, all from 0."""

    trajectory: Trajectory
    turn: int
    position: int
    order: int
    interaction: Interaction

    @property
    def agent_id(self) -> str:
        """ID of the acting agent."""
        return self.interaction.agent_id

    @property
    def name(self) -> str:
        """Name of the subject in verdicts: `turn/0/interaction/1`."""
        return f"turn/{self.turn}/interaction/{self.position}"

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps in order."""
        return self.interaction.steps

    @cached_property
    def calls(self) -> tuple[Step, ...]:
        """The steps that made a tool call."""
        return tuple(step for step in self.steps if step.call is not None)

    @cached_property
    def thoughts(self) -> str:
        """The reasoning of all steps."""
        return "\n".join(self.trajectory.piece(step.thought) for step in self.steps if step.thought)

    @cached_property
    def messages(self) -> str:
        """The agent's messages to others: those of its steps, or else its response."""
        said = [self.trajectory.piece(step.message) for step in self.steps if step.message]
        return "\n".join(said) or self.interaction.response or ""

    @cached_property
    def arguments(self) -> str:
        """The arguments of all calls, as written."""
        return "\n".join(self.trajectory.piece(step.call.raw) for step in self.steps if step.call)

    @cached_property
    def results(self) -> str:
        """The results of all calls."""
        return "\n".join(self.trajectory.piece(step.result.content) for step in self.steps if step.result)

    @property
    def written(self) -> str:
        """All text that the agent wrote: reasoning, arguments, messages."""
        return "\n".join(filter(None, (self.thoughts, self.arguments, self.messages)))

    def place(self, step: int | None) -> dict[str, Any]:
        """Where a step is, as the analysis of a session names it."""
        return {"agent_id": self.agent_id, "turn_index": self.turn, "interaction": self.position, "step": step}

    @property
    def text(self) -> str:
        """The interaction's section of the trajectory's text."""
        return self.trajectory.text[self.steps[0].start : self.steps[-1].end] if self.steps else self.messages


def interactions_of(trajectory: Trajectory) -> list[SessionInteraction]:
    """All interactions of a session, in order."""
    return list(_interactions(trajectory))


def _interactions(trajectory: Trajectory) -> Iterator[SessionInteraction]:
    order = 0
    for number, turn in enumerate(trajectory.turns):
        for position, interaction in enumerate(turn.interactions):
            yield SessionInteraction(trajectory, number, position, order, interaction)
            order += 1


def speakers(trajectory: Trajectory) -> list[str]:
    """The agents that acted, in order of their first interaction."""
    acted = (interaction.agent_id for turn in trajectory.turns for interaction in turn.interactions)
    return list(dict.fromkeys(acted))


def definitions(trajectory: Trajectory) -> dict[str, Agent]:
    """The agents that the source defines, by ID."""
    return {agent.id: agent for agent in trajectory.agents}


def is_session(trajectory: Trajectory) -> bool:
    """Whether the trajectory is a session: it has several agents or several user turns."""
    agents = {*speakers(trajectory), *definitions(trajectory)}
    asked = sum(turn.user_message is not None for turn in trajectory.turns)
    return len(agents) > 1 or asked > 1

"""The interactions of a session: the steps of each agent, in order."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from evaluation_assets.core.trajectories.model import Agent, Interaction, Step, Trajectory


@dataclass(frozen=True)
class SessionInteraction:
    """One interaction and where it stands: `turn` and `position` in the turn count from 0, `order` over the session."""

    trajectory: Trajectory
    turn: int
    position: int
    order: int
    interaction: Interaction

    @property
    def agent_id(self) -> str:
        """Who made it."""
        return self.interaction.agent_id

    @property
    def name(self) -> str:
        """What it is called in verdicts: `turn/0/interaction/1`."""
        return f"turn/{self.turn}/interaction/{self.position}"

    @property
    def steps(self) -> tuple[Step, ...]:
        """Its steps in order."""
        return self.interaction.steps

    @cached_property
    def calls(self) -> tuple[Step, ...]:
        """The steps that made a tool call."""
        return tuple(step for step in self.steps if step.call is not None)

    @cached_property
    def thoughts(self) -> str:
        """The reasoning, step after step."""
        return "\n".join(self.trajectory.piece(step.thought) for step in self.steps if step.thought)

    @cached_property
    def messages(self) -> str:
        """What the agent said to others: the messages of its steps, else its response."""
        said = [self.trajectory.piece(step.message) for step in self.steps if step.message]
        return "\n".join(said) or self.interaction.response or ""

    @cached_property
    def arguments(self) -> str:
        """What the agent wrote into its calls."""
        return "\n".join(self.trajectory.piece(step.call.raw) for step in self.steps if step.call)

    @cached_property
    def results(self) -> str:
        """What tools returned."""
        return "\n".join(self.trajectory.piece(step.result.content) for step in self.steps if step.result)

    @property
    def written(self) -> str:
        """All the agent wrote: reasoning, arguments, messages."""
        return "\n".join(filter(None, (self.thoughts, self.arguments, self.messages)))

    @property
    def text(self) -> str:
        """Its piece of the trajectory's text."""
        return self.trajectory.text[self.steps[0].start : self.steps[-1].end] if self.steps else self.messages


def interactions_of(trajectory: Trajectory) -> list[SessionInteraction]:
    """Every interaction of a session in order."""
    return list(_interactions(trajectory))


def _interactions(trajectory: Trajectory) -> Iterator[SessionInteraction]:
    order = 0
    for number, turn in enumerate(trajectory.turns):
        for position, interaction in enumerate(turn.interactions):
            yield SessionInteraction(trajectory, number, position, order, interaction)
            order += 1


def speakers(trajectory: Trajectory) -> list[str]:
    """The agents that contributed, in order of their first interaction."""
    acted = (interaction.agent_id for turn in trajectory.turns for interaction in turn.interactions)
    return list(dict.fromkeys(acted))


def definitions(trajectory: Trajectory) -> dict[str, Agent]:
    """The agents the source defined, by id."""
    return {agent.id: agent for agent in trajectory.agents}


def is_session(trajectory: Trajectory) -> bool:
    """Whether there is something to analyse between people and agents: several agents, or several user turns."""
    agents = {*speakers(trajectory), *definitions(trajectory)}
    asked = sum(turn.user_message is not None for turn in trajectory.turns)
    return len(agents) > 1 or asked > 1

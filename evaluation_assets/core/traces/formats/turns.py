"""Gather the steps of a text, one after the other, as the interactions of agents and the turns of a conversation."""

from dataclasses import replace

from evaluation_assets.core.traces.trajectories.model import Interaction, Step, Turn


class Turns:
    """The turns so far. Who speaks is the `agent` of the next steps, and `response` what it said last."""

    def __init__(self) -> None:
        self.agent: str | None = None
        self.response: str | None = None
        self.position = 0
        self.steps_written = 0
        self._turns: list[Turn] = []
        self._user_message: str | None = None
        self._knowledge: str | None = None
        self._interactions: list[Interaction] = []
        self._steps: list[Step] = []

    def ask(self, message: str, knowledge: str | None = None) -> None:
        """Start a turn with a user message."""
        self._end_turn()
        self._user_message, self._knowledge = message, knowledge

    def speak(self, agent: str) -> None:
        """Note who speaks: another agent than the last one starts an interaction."""
        if agent != self.agent:
            self.end_interaction()
            self.agent = agent

    def add(self, step: Step) -> None:
        """Add a step of the agent that speaks, which starts at `position`."""
        self._steps.append(step)
        self.position = step.end
        self.steps_written += 1

    def end_interaction(self, latency_ms: float | None = None) -> None:
        """End the current interaction; `latency_ms` is its total latency, if measured by the source."""
        if self._steps:
            agent, steps = self.agent or "agent", tuple(self._steps)
            done = Interaction(agent_id=agent, steps=steps, response=self.response, latency_ms=latency_ms)
            self._interactions.append(done)
        self._steps, self.response = [], None

    def finished(self, end: int | None = None) -> tuple[Turn, ...]:
        """All turns. The last step goes on to the `end` of the text, if it is given."""
        if self._steps and end is not None:
            self._steps[-1] = replace(self._steps[-1], end=end)
        self._end_turn()
        return tuple(self._turns)

    def _end_turn(self) -> None:
        self.end_interaction()
        if self._interactions or self._user_message is not None:
            interactions = tuple(self._interactions)
            turn = Turn(user_message=self._user_message, knowledge=self._knowledge, interactions=interactions)
            self._turns.append(turn)
        self._interactions, self._user_message, self._knowledge = [], None, None

"""Gather what the spans of a trace say about each agent."""

from dataclasses import replace

from evaluation_assets.core.traces.trajectories.model import Agent, Tool


class Participants:
    """The agents of a trace, in order of appearance."""

    def __init__(self) -> None:
        self._agents: dict[str, Agent] = {}
        self._prompted: set[str] = set()
        self._offered: set[str] = set()

    def introduce(
        self,
        name: str,
        *,
        description: str | None = None,
        prompt: str | None = None,
        model: str | None = None,
        tools: tuple[Tool, ...] = (),
        ran: Tool | None = None,
    ) -> None:
        """Metadata of an agent; a prompt is preferred to a description, a definition to a name.

        `tools` were offered to it; one that it `ran` it had too, but nobody knows what else without an offer.
        """
        agent = self._agents.get(name) or Agent(id=name)
        known = {tool.name: tool for tool in agent.tools or ()}
        if tools:
            self._offered.add(name)
        for tool in tools if ran is None else (*tools, ran):
            if tool.name not in known or known[tool.name].parameters is None:
                known[tool.name] = tool
        if prompt and name not in self._prompted:
            self._prompted.add(name)
            agent = replace(agent, description=prompt)
        self._agents[name] = replace(
            agent,
            description=agent.description or description,
            model=agent.model or model,
            tools=tuple(known.values()) or None,
            has_other_tools=bool(known) and name not in self._offered,
        )

    def among(self, speaking: set[str]) -> tuple[Agent, ...]:
        """The agents with one of these names."""
        return tuple(agent for name, agent in self._agents.items() if name in speaking)

"""Flow of a session: agents, hand-offs, latency and cost. Values that the source did not record stay missing."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum

from evaluation_assets.core.sections.sessions.interactions import (
    SessionInteraction,
    definitions,
    interactions_of,
    speakers,
)
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.traces.trajectories.model import Trajectory


@dataclass(frozen=True, slots=True)
class Total:
    """A sum over the `n_known` of `n_total` parts that have a value; `None` when none has."""

    value: float | None
    n_known: int
    n_total: int


@dataclass(frozen=True, slots=True)
class Handoff:
    """One agent's interaction followed by another's, within a turn."""

    source: SessionInteraction
    target: SessionInteraction

    @property
    def agents(self) -> tuple[str, str]:
        """From whom to whom."""
        return self.source.agent_id, self.target.agent_id


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFlow:
    """One agent's part: interactions, calls and failed calls, milliseconds, US dollars."""

    agent_id: str
    interactions: int
    calls: int
    failed_calls: int
    latency_ms: Total
    cost_usd: Total


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """The whole session. `edges` counts hand-offs by (from, to); `unreached` are defined agents that never acted."""

    agents: tuple[AgentFlow, ...]
    handoffs: tuple[Handoff, ...]
    edges: dict[tuple[str, str], int]
    unreached: tuple[str, ...]
    latency_ms: Total
    tool_latency_ms: Total
    cost_usd: Total


def flow_of(trajectory: Trajectory) -> Flow:
    """The hand-off graph and the roll-ups of a session."""
    parts = interactions_of(trajectory)
    handed_over = handoffs(parts)
    acted = speakers(trajectory)
    recorded = None if trajectory.usage is None else trajectory.usage.cost_usd
    return Flow(
        agents=tuple(_agent(*own) for own in by_key((part.agent_id, part) for part in parts).items()),
        handoffs=tuple(handed_over),
        edges=dict(Counter(handoff.agents for handoff in handed_over)),
        unreached=tuple(agent for agent in definitions(trajectory) if agent not in {*acted}),
        latency_ms=total(map(latency_ms, parts)),
        tool_latency_ms=total(step.latency_ms for part in parts for step in part.calls),
        cost_usd=total(map(cost_usd, parts)) if recorded is None else Total(recorded, len(parts), len(parts)),
    )


def handoffs(parts: Sequence[SessionInteraction]) -> list[Handoff]:
    """Neighbouring interactions of different agents in one turn; the user's message between turns is no hand-off."""
    return [
        Handoff(source, target)
        for source, target in pairwise(parts)
        if source.turn == target.turn and source.agent_id != target.agent_id
    ]


def latency_ms(part: SessionInteraction) -> float | None:
    """What an interaction took: as recorded, else the sum of its steps where all of them are known."""
    if part.interaction.latency_ms is not None:
        return part.interaction.latency_ms
    steps = total(step.latency_ms for step in part.steps)
    return steps.value if steps.n_known == steps.n_total else None


def cost_usd(part: SessionInteraction) -> float | None:
    """What an interaction cost: as recorded, else the sum of its steps where all of them are known."""
    usage = part.interaction.usage
    if usage is not None and usage.cost_usd is not None:
        return usage.cost_usd
    steps = total(None if step.usage is None else step.usage.cost_usd for step in part.steps)
    return steps.value if steps.n_known == steps.n_total else None


def total(values: Iterable[float | None]) -> Total:
    """The sum of what is known, and how much that is."""
    listed = list(values)
    known = [value for value in listed if value is not None]
    return Total(fsum(known) if known else None, len(known), len(listed))


def _agent(agent_id: str, parts: Sequence[SessionInteraction]) -> AgentFlow:
    calls = [step for part in parts for step in part.calls]
    return AgentFlow(
        agent_id=agent_id,
        interactions=len(parts),
        calls=len(calls),
        failed_calls=sum(step.has_failed for step in calls),
        latency_ms=total(map(latency_ms, parts)),
        cost_usd=total(map(cost_usd, parts)),
    )

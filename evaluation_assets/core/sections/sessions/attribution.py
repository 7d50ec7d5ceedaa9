"""Failure attribution: a probability distribution over agents and steps, with the evidence."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum

from evaluation_assets.core.sections.sessions.grounding import UngroundedValue
from evaluation_assets.core.sections.sessions.handoffs import HandoffFinding
from evaluation_assets.core.sections.sessions.interactions import SessionInteraction, interactions_of, speakers
from evaluation_assets.core.sections.sessions.progress import Progress
from evaluation_assets.core.sections.sessions.reactions import is_refusal
from evaluation_assets.core.sections.sessions.repetition import Repetition
from evaluation_assets.core.sections.sessions.tool_validation import ToolIssue
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.traces.trajectories.model import Trajectory

Distribution = Mapping[str, float]

PRIOR = 1.0
"""Prior evidence of every step: without other evidence all steps are equally likely."""

WEIGHTS: Mapping[str, float] = {
    "unauthorized_tool": 3.0,
    "hallucinated_parameter": 1.5,
    "missing_parameter": 1.5,
    "invalid_parameter": 1.5,
    "ungrounded_value": 1.0,
    "open_error": 2.0,
    "ignored_result": 1.5,
    "loop": 1.5,
    "missing_context": 1.0,
    "refusal": 1.5,
    "unsound": 8.0,
}
"""Weight of each kind of evidence. Low judged soundness counts most; the steps of an interaction share it."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A step that may have caused the failure; `step` is its position in the interaction."""

    interaction: SessionInteraction
    step: int
    probability: float
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Attribution:
    """Probabilities over agents and over steps; each sums to 1."""

    agents: Distribution
    suspects: tuple[Suspect, ...]

    @property
    def agent(self) -> str | None:
        """The most probable agent; ties go to the first."""
        return max(self.agents, key=lambda agent: self.agents[agent], default=None)


@dataclass(slots=True)
class _Case:
    weight: float = 0.0
    evidence: list[str] = field(default_factory=list)

    def add(self, kind: str, share: float = 1.0) -> None:
        self.weight += WEIGHTS[kind] * share
        self.evidence.append(kind)


def attribute(
    trajectory: Trajectory,
    *,
    issues: Sequence[ToolIssue],
    progress: Progress,
    ungrounded: Sequence[UngroundedValue],
    repeated: Sequence[Repetition],
    handed_over: Sequence[HandoffFinding],
    soundness: Mapping[str, float],
) -> Attribution:
    """Attribute the failure to agents and steps by weighing all evidence.

    `soundness` is the panel's score of each interaction by name, 0..1: whether it is free of errors that later work
    depends on. A step's probability is its evidence plus the prior, normalised over all steps.
    """
    parts = interactions_of(trajectory)
    cases: dict[tuple[int, int], _Case] = {
        (part.order, number): _Case(PRIOR) for part in parts for number in range(max(1, len(part.steps)))
    }
    for issue in issues:
        cases[issue.interaction.order, issue.step].add(issue.fault)
    for value in ungrounded:
        cases[value.interaction.order, value.step].add("ungrounded_value")
    for error in progress.errors:
        if error.recovered_at is None:
            cases[error.interaction.order, error.step].add("open_error")
    for ignored in progress.ignored:
        cases[ignored.interaction.order, ignored.step].add("ignored_result")
    for repetition in repeated:
        if repetition.is_loop:
            cases[repetition.places[1], 0].add("loop")
    for finding in handed_over:
        if finding.missing and finding.asked:
            source = finding.handoff.source
            cases[source.order, max(0, len(source.steps) - 1)].add("missing_context")
    for part in parts:
        steps = max(1, len(part.steps))
        if is_refusal(part.messages):
            cases[part.order, steps - 1].add("refusal")
        doubt = 1 - soundness.get(part.name, 1.0)
        if doubt > 0:
            for number in range(steps):
                cases[part.order, number].add("unsound", doubt / steps)
    return _normalised(parts, cases)


def _normalised(parts: Sequence[SessionInteraction], cases: Mapping[tuple[int, int], _Case]) -> Attribution:
    total = fsum(case.weight for case in cases.values())
    suspects = tuple(
        Suspect(parts[order], number, case.weight / total, tuple(dict.fromkeys(case.evidence)))
        for (order, number), case in cases.items()
    )
    agents = by_key((suspect.interaction.agent_id, suspect.probability) for suspect in suspects)
    return Attribution({agent: fsum(shares) for agent, shares in agents.items()}, suspects)


def most_frequent_speaker(trajectory: Trajectory) -> Distribution:
    """Baseline: probability 1 for the agent with the most steps; ties go to the first."""
    counts = Counter(part.agent_id for part in interactions_of(trajectory) for _ in part.steps or (None,))
    return {counts.most_common(1)[0][0]: 1.0} if counts else {}


def last_agent(trajectory: Trajectory) -> Distribution:
    """Baseline: probability 1 for the agent that acted last."""
    parts = interactions_of(trajectory)
    return {parts[-1].agent_id: 1.0} if parts else {}


def random_agent(trajectory: Trajectory) -> Distribution:
    """Baseline: equal probability for every agent that acted."""
    acted = speakers(trajectory)
    return {agent: 1 / len(acted) for agent in acted}

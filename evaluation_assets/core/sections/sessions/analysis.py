"""Data model of a session analysis: the fields of ReAsk's session analysis response, and additional ones.

Turns count from 0 in fields and from 1 in messages. Scores are 0..1; `None` is missing, never 0.
"""

from evaluation_assets.core.sections.sessions.decisive import DecisiveStep
from evaluation_assets.core.sections.sessions.flow import Total
from evaluation_assets.core.sections.sessions.intent_drift import DriftType
from evaluation_assets.core.sections.sessions.progress import Signal
from evaluation_assets.core.sections.sessions.session_scores import Components, Conversation, DetectionType
from evaluation_assets.core.sections.sessions.tool_chain import Waste
from evaluation_assets.core.sections.sessions.tool_validation import Severity
from evaluation_assets.core.system.frozen import Frozen

PANEL = "panel"
"""Source of scores and issues that are based on verdicts."""


class Issue(Frozen):
    """An issue with its place and evidence. `found_by` is `rules` or `panel`."""

    kind: str
    severity: Severity
    agent_id: str | None
    turn_index: int | None
    interaction: int | None
    step: int | None
    message: str
    evidence: str
    found_by: str


class Recommendation(Frozen):
    """A recommended change for one agent or all agents, and the score or issues that it is based on."""

    agent_id: str | None
    message: str
    because: str
    turns: list[int]


class AgentScores(Components):
    """Scores of one agent. `parts` names the components of the overall score.

    `tool_chain` is the share of its calls that were not wasted.
    """

    overall: float | None
    interactions_count: int
    issues: list[str]
    recommendations: list[str]
    parts: list[str]
    tool_calls: int
    failed_calls: int
    tool_chain: float | None
    latency_ms: Total
    cost_usd: Total


class InteractionResult(Components):
    """One interaction. `handed_to` is the next agent in the same turn; `completeness` is that of the hand-off."""

    agent_id: str
    score: float | None
    parts: list[str]
    drift: float | None
    tools: list[str]
    failed_calls: int
    latency_ms: float | None
    cost_usd: float | None
    handed_to: str | None
    completeness: float | None
    said: str


class TurnResult(Frozen):
    """One turn. A detection belongs to the turn with the bad response; `evidence` quotes the user's next message."""

    turn_index: int
    is_bad: bool | None
    detection_type: DetectionType
    interactions: list[InteractionResult]
    confidence: float | None
    score: float | None
    user_message: str | None
    reaction: str | None
    evidence: str | None
    similarity: float | None
    drift: float | None
    latency_ms: Total


class HandoffEdge(Frozen):
    """Number of hand-offs from one agent to another, and their mean completeness if it can be determined."""

    source: str
    target: str
    count: int
    completeness: float | None
    asked_back: int


class StepPlace(Frozen):
    """A step of a session. Turns, interactions of a turn, and steps of an interaction count from 0."""

    agent_id: str
    turn_index: int
    interaction: int
    step: int


class SuspectStep(StepPlace):
    """A step that may have caused the failure."""

    probability: float
    evidence: list[str]


class FailureAttribution(Frozen):
    """Failure attribution: probabilities over agents, which sum to 1, and the most probable steps.

    `decisive` is a learned answer to the same question; `None` for sessions in which constants are as good.
    """

    agents: dict[str, float]
    steps: list[SuspectStep]
    steps_total: int
    baselines: dict[str, dict[str, float]]
    decisive: DecisiveStep | None = None


class RepeatedWork(Frozen):
    """Repeated work; `places` are the positions of the interactions in the session, from 0."""

    kind: str
    agents: list[str]
    what: str
    places: list[int]
    is_loop: bool


class ErrorRecord(StepPlace):
    """A failed call, and whether it was noticed and corrected."""

    tool: str
    error: str
    noticed: bool
    recovered: bool


class Course(Frozen):
    """Progress of the work. `signal` is the most severe finding; shares are 0..1.

    `graceful_stop` says whether the run, with a failure that was never overcome, ended by saying that the task was not
    done; `None` without such a failure, and in analyses by earlier versions.
    """

    signal: Signal | None
    efficiency: float | None
    awareness: float | None
    correction: float | None
    graceful_stop: bool | None = None
    errors: list[ErrorRecord]
    ignored_results: int
    stalls: list[list[int]]
    regressions: list[int]
    repetitions: list[RepeatedWork]


class WastedCall(StepPlace):
    """A call without benefit: its result was ignored, identical to an earlier one, or the same error again."""

    tool: str
    why: Waste


class ToolChain(Frozen):
    """Wasted calls. `contributed` is the share of calls that were not wasted."""

    contributed: float | None
    calls: int
    wasted: list[WastedCall]


class IntentDrift(Frozen):
    """Drift per turn, its change point and type. `measured_by` is `panel` or the similarity measure; `not_measured`
    says why neither did, where a limit is the reason.

    If it is measured by character n-grams, the turns are only a hint: change point, type and score are missing.
    """

    turns: list[float | None]
    change_turn: int | None
    change_agent: str | None
    type: DriftType
    measured_by: str | None
    not_measured: str | None = None


class SessionAnalysis(Frozen):
    """Analysis of a session by a panel or by one of its judges. The first six fields are those of ReAsk's response."""

    overall_score: float | None
    coordination_score: float | None
    intent_drift_score: float | None
    per_agent_scores: dict[str, AgentScores]
    turn_results: list[TurnResult]
    conversation: Conversation
    session_id: str
    task: str
    judges: list[str]
    measure: str
    task_completion: bool | None
    recorded_success: bool | None
    conversation_score: float | None
    tool_use_score: float | None
    reasoning_score: float | None
    overall_parts: list[str]
    coordination: dict[str, float]
    intent_drift: IntentDrift
    course: Course
    tool_chain: ToolChain
    handoffs: list[HandoffEdge]
    unreached_agents: list[str]
    total_latency_ms: Total
    tool_latency_ms: Total
    total_cost: Total
    attribution: FailureAttribution | None
    issues: list[Issue]
    recommendations: list[Recommendation]

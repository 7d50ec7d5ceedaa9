"""The analysis of a session as data, in the shape of ReAsk's session analysis response, with more beside it.

Turns count from 0 in fields and from 1 in messages that people read. Scores are 0..1; `None` is missing, never 0.
"""

from pydantic import BaseModel, ConfigDict

from evaluation_assets.core.sessions.intent_drift import DriftType
from evaluation_assets.core.sessions.progress import Signal
from evaluation_assets.core.sessions.session_scores import DetectionType
from evaluation_assets.core.sessions.tool_chain import Waste
from evaluation_assets.core.sessions.tool_validation import Severity

PANEL = "panel"
"""What a score or an issue rests on that judges gave."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class Issue(_Model):
    """Something wrong, with the place and the evidence it rests on. `found_by` is `rules` or `panel`."""

    kind: str
    severity: Severity
    agent_id: str | None
    turn_index: int | None
    interaction: int | None
    step: int | None
    message: str
    evidence: str
    found_by: str


class Recommendation(_Model):
    """What to change, for one agent or all of them, and the score or issues it rests on."""

    agent_id: str | None
    message: str
    because: str
    turns: list[int]


class Sum(_Model):
    """A sum over the `n_known` of `n_total` parts that have a value."""

    value: float | None
    n_known: int
    n_total: int


class AgentScores(_Model):
    """One agent. `parts` are those its overall score is made of; `issues` and `recommendations` are for people.

    `tool_chain` is the share of its calls in which no waste is seen.
    """

    overall: float | None
    tool_use: float | None
    reasoning: float | None
    handoff: float | None
    response_quality: float | None
    interactions_count: int
    issues: list[str]
    recommendations: list[str]
    parts: list[str]
    tool_calls: int
    failed_calls: int
    tool_chain: float | None
    latency_ms: Sum
    cost_usd: Sum


class InteractionResult(_Model):
    """One interaction. `handed_to` is the agent that went on in the same turn; `completeness` what it was given."""

    agent_id: str
    score: float | None
    tool_use: float | None
    reasoning: float | None
    handoff: float | None
    response_quality: float | None
    parts: list[str]
    drift: float | None
    tools: list[str]
    failed_calls: int
    latency_ms: float | None
    cost_usd: float | None
    handed_to: str | None
    completeness: float | None
    said: str


class TurnResult(_Model):
    """One turn. A detection belongs to the turn whose response was bad; `evidence` quotes the user's next message."""

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
    latency_ms: Sum


class Conversation(_Model):
    """Responses by what was detected: total = good + bad + not judged; bad is the sum of the detections.

    A turn in which no agent acted, such as the user's goodbye, has no response.
    """

    total_responses: int
    good_responses: int
    bad_responses: int
    ccm_detections: int
    rdm_detections: int
    hallucination_detections: int
    llm_judge_detections: int
    not_judged: int


class HandoffEdge(_Model):
    """How often one agent handed over to another, and how completely where that can be seen."""

    source: str
    target: str
    count: int
    completeness: float | None
    asked_back: int


class SuspectStep(_Model):
    """A step that may have decided the failure."""

    agent_id: str
    turn_index: int
    interaction: int
    step: int
    probability: float
    evidence: list[str]


class FailureAttribution(_Model):
    """Who decided the failure: probabilities that sum to 1 over agents, and the most probable of all steps."""

    agents: dict[str, float]
    steps: list[SuspectStep]
    steps_total: int
    baselines: dict[str, dict[str, float]]


class RepeatedWork(_Model):
    """Something that was done again; `places` are numbers of interactions, over the whole session, from 0."""

    kind: str
    agents: list[str]
    what: str
    places: list[int]
    is_loop: bool


class ErrorRecord(_Model):
    """A failed call, and whether it was noticed and put right."""

    agent_id: str
    turn_index: int
    interaction: int
    step: int
    tool: str
    error: str
    noticed: bool
    recovered: bool


class Course(_Model):
    """How the work went. `signal` is the worst that was seen; shares are 0..1."""

    signal: Signal | None
    efficiency: float | None
    awareness: float | None
    correction: float | None
    errors: list[ErrorRecord]
    ignored_results: int
    stalls: list[list[int]]
    regressions: list[int]
    repetitions: list[RepeatedWork]


class WastedCall(_Model):
    """A call that brought nothing: its result was ignored, the same as before, or again the same error."""

    agent_id: str
    turn_index: int
    interaction: int
    step: int
    tool: str
    why: Waste


class ToolChain(_Model):
    """`contributed` is the share of the calls that are not among the wasted ones."""

    contributed: float | None
    calls: int
    wasted: list[WastedCall]


class IntentDrift(_Model):
    """Drift per turn, where it set in, and of what kind. `measured_by` is `panel` or the measure of likeness.

    Measured by character n-grams, the turns are a hint only: there is no change, no kind and no score.
    """

    turns: list[float | None]
    change_turn: int | None
    change_agent: str | None
    type: DriftType
    measured_by: str | None


class SessionAnalysis(_Model):
    """A session by one panel, or by one of its judges. The first six fields are those of the plan it follows."""

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
    total_latency_ms: Sum
    tool_latency_ms: Sum
    total_cost: Sum
    attribution: FailureAttribution | None
    issues: list[Issue]
    recommendations: list[Recommendation]

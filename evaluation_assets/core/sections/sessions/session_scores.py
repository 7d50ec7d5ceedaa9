"""Scores of sessions, agents and interactions: weighted means over their components.

Weights and detection order are those of ReAsk's multi-agent evaluation plan. A missing component (no tools, no
hand-off, nothing judged) is omitted and the other weights are rescaled to sum to 1. Scores name their components.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal

from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.text.nullable import mean_of

DetectionType = Literal["rdm", "ccm", "hallucination", "llm_judge", "none"]

SESSION_WEIGHTS: Mapping[str, float] = {
    "conversation": 0.30,
    "tool_use": 0.25,
    "coordination": 0.20,
    "reasoning": 0.15,
    "on_task": 0.10,
}
AGENT_WEIGHTS: Mapping[str, float] = {
    "tool_use": 0.35,
    "reasoning": 0.25,
    "handoff": 0.20,
    "response_quality": 0.20,
}

LOW = 0.7
"""Scores below it get a recommendation."""

HIGH_RATE = 0.2
"""Re-asking or corrections are frequent from this share on, relative to the turns that could show them."""

BAD = 0.5
"""Judged scores below it are bad."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """A weighted mean and the names of its components; `None` if there were none."""

    value: float | None
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Detection:
    """The detected problem of a turn's response. `is_bad` and `confidence` are `None` if nothing was judged."""

    is_bad: bool | None
    type: DetectionType
    confidence: float | None


class Components(Frozen):
    """What an agent, or one of its interactions, is scored by; `None` where there was nothing to score."""

    tool_use: float | None
    reasoning: float | None
    handoff: float | None
    response_quality: float | None


class Conversation(Frozen):
    """Responses by detection: total = good + bad + not judged, and bad is the sum of the detections.

    A turn without an acting agent, such as the user's goodbye, has no response.
    """

    total_responses: int
    good_responses: int
    bad_responses: int
    ccm_detections: int
    rdm_detections: int
    hallucination_detections: int
    llm_judge_detections: int
    not_judged: int


def weighted(parts: Mapping[str, float | None], weights: Mapping[str, float]) -> Weighted:
    """The weighted mean of the parts that are not missing: sum of weight x score over the sum of these weights."""
    known = {name: parts[name] for name in weights if parts.get(name) is not None}
    total = fsum(weights[name] for name in known)
    value = fsum(weights[name] * score for name, score in known.items() if score is not None) / total if known else None
    return Weighted(value, tuple(known))


def session_score(
    *,
    conversation: float | None,
    tool_use: float | None,
    coordination: float | None,
    reasoning: float | None,
    intent_drift: float | None,
) -> Weighted:
    """0.30 conversation + 0.25 tool use + 0.20 coordination + 0.15 reasoning + 0.10 (1 - intent drift)."""
    return weighted(
        {
            "conversation": conversation,
            "tool_use": tool_use,
            "coordination": coordination,
            "reasoning": reasoning,
            "on_task": None if intent_drift is None else 1 - intent_drift,
        },
        SESSION_WEIGHTS,
    )


def agent_score(scored: Components) -> Weighted:
    """0.35 tool use + 0.25 reasoning + 0.20 hand-off + 0.20 response quality; for an agent and for an interaction."""
    return weighted(dict(scored), AGENT_WEIGHTS)


def means_of(scored: Sequence[Components]) -> Components:
    """The mean of each component over those that have it."""
    return Components(**{name: mean_of([dict(each)[name] for each in scored]) for name in Components.model_fields})


def detection(
    *, satisfaction: float | None, settled: float | None, faithfulness: float | None, progress: float | None
) -> Detection:
    """The first bad one of dissatisfaction (RDM), re-asking (CCM), hallucination and lack of progress.

    All are the panel's scores, 1 good; below 0.5 is bad. Confidence is 1 - score for what was detected, and the lowest
    score where nothing was.
    """
    asked: tuple[tuple[DetectionType, float | None], ...] = (
        ("rdm", satisfaction),
        ("ccm", settled),
        ("hallucination", faithfulness),
        ("llm_judge", progress),
    )
    for kind, score in asked:
        if score is not None and score < BAD:
            return Detection(True, kind, 1 - score)
    known = [score for _, score in asked if score is not None]
    return Detection(False, "none", min(known)) if known else Detection(None, "none", None)


def turn_score(detection: Detection) -> float | None:
    """1 for a good response, 0 for a bad one."""
    return None if detection.is_bad is None else float(not detection.is_bad)


def counts(detections: Sequence[Detection]) -> Conversation:
    """Count the responses by detection."""
    types = [detected.type for detected in detections if detected.is_bad]
    return Conversation(
        total_responses=len(detections),
        good_responses=sum(detected.is_bad is False for detected in detections),
        bad_responses=len(types),
        ccm_detections=types.count("ccm"),
        rdm_detections=types.count("rdm"),
        hallucination_detections=types.count("hallucination"),
        llm_judge_detections=types.count("llm_judge"),
        not_judged=sum(detected.is_bad is None for detected in detections),
    )


def is_frequent(detected: int, possible: int) -> bool:
    """Whether a kind of detection is frequent among the turns that could show it."""
    return possible > 0 and detected / possible >= HIGH_RATE


def capped(judged: float | None, fact: float | None) -> float | None:
    """A judged score, capped by a measured one; either alone if the other is missing."""
    return min(judged, fact) if judged is not None and fact is not None else fact if judged is None else judged

"""Verdicts: the outcome of one judge on one subject."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from evaluation_assets.core.judging.answer_claims import AnswerClaim
from evaluation_assets.core.models.errors import ErrorKind, UnusableKind
from evaluation_assets.core.traces.trajectories.model import Usage

Outcome = Literal["scored", "abstained", "failed", "not_run"]
FailureKind = Literal[ErrorKind, UnusableKind, "redaction", "internal"]
"""Why there is no verdict: the model gave no reply, or none that is one, or a text could not be redacted."""


class ScoreProbability(NamedTuple):
    """How likely a score, 0..1, is the right one."""

    score: float
    probability: float


Distribution = Sequence[ScoreProbability]
"""The probabilities of the scores of one criterion, from the lowest score up; they sum to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One judge's outcome on one subject.

    `scores` holds every criterion that was asked, 0..1 or `None` where the judge left it open; only a `scored`
    verdict enters a mean. `share_seen` is the part of the subject's text the judge was shown, `prompt_length` the
    characters of the question; `served_model` is the
    model that answered, in the provider's words; `redacted` counts the values of each kind that were replaced in
    it. `probabilities` holds, for judges that report them, how likely the subject passes each criterion, and
    `distributions`, for decision models, how likely each score is. What a deterministic judge does not have (tokens,
    cost, ledger key) stays `None`. `notes` are for the reader of the verdict and never shown to a judge. A quick
    verdict also holds the scores of the final answer, and what went wrong by the index of the clip. `claims` are those
    of the final answer, where they were asked for.
    """

    outcome: Outcome
    scores: Mapping[str, float | None] = field(default_factory=dict)
    probabilities: Mapping[str, float | None] | None = None
    summary: str | None = None
    reasoning: str | None = None
    error_kind: FailureKind | None = None
    error: str | None = None
    usage: Usage = field(default_factory=Usage)
    latency_ms: float | None = None
    attempts: int = 0
    from_ledger: bool = False
    share_seen: float | None = None
    prompt_length: int | None = None
    ledger_key: str | None = None
    served_model: str | None = None
    notes: tuple[str, ...] = ()
    redacted: Mapping[str, int] = field(default_factory=dict)
    answer_scores: Mapping[str, float | None] | None = None
    answer_probabilities: Mapping[str, float | None] | None = None
    wrong_clips: Mapping[int, str] | None = None
    claims: Sequence[AnswerClaim] | None = None
    distributions: Mapping[str, Distribution] | None = None
    answer_distributions: Mapping[str, Distribution] | None = None


def outcome_of(scores: Mapping[str, float | None]) -> Outcome:
    """The outcome where the judge answered: `abstained` if it left every criterion open."""
    return "scored" if any(score is not None for score in scores.values()) else "abstained"

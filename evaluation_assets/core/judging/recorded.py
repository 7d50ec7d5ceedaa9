"""A judge with verdicts that were recorded in the trajectories by another system or a person."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation_assets.core.judging.judge import AlwaysOpen, Judgement
from evaluation_assets.core.judging.selection import EVERYTHING, Selection
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdicts import Verdict, outcome_of
from evaluation_assets.core.traces.trajectories.recorded import RecordedVerdict, recorded_verdicts


@dataclass(frozen=True, slots=True)
class RecordedJudge(AlwaysOpen):
    """Gives recorded verdicts of the judge `model`. Scores count for the criteria that the rubric has.

    A subject it said nothing about, or on which it gave none of the rubric's scores, is `abstained`.
    """

    name: str
    model: str
    provider: str = "recorded"
    version: str = "1"
    chains_in_flight: int = 1
    samples: int = 1
    key_variable: None = None
    selection: Selection = EVERYTHING

    async def judge(self, subject: Subject, earlier: Sequence[Judgement], sample: int = 0) -> Verdict:
        """The recorded verdict on a subject."""
        criteria = [criterion.key for criterion in subject.criteria]
        on_subject = [verdict for verdict in recorded_verdicts(subject.trajectory) if self._is_on(verdict, subject)]
        if not on_subject:
            return Verdict(outcome="abstained", reasoning=f"no verdict of {self.model} is recorded")
        # Another system may have seen two pieces where we see one: the verdict by the same rubric is meant.
        closest = max(on_subject, key=lambda verdict: sum(criterion in verdict.scores for criterion in criteria))
        scores = {criterion: _share(closest.scores.get(criterion)) for criterion in criteria}
        return Verdict(
            outcome=outcome_of(scores),
            scores=scores,
            probabilities=closest.probabilities
            and {criterion: _share(closest.probabilities.get(criterion)) for criterion in criteria},
            summary=closest.summary or closest.verdict,
            reasoning=closest.reasoning,
        )

    def _is_on(self, verdict: RecordedVerdict, subject: Subject) -> bool:
        return (verdict.judge, verdict.level, verdict.subject) == (self.model, subject.level, subject.name)


def _share(score: float | None) -> float | None:
    """A score outside of 0..1 is on a scale we do not know."""
    return score if score is not None and 0 <= score <= 1 else None

"""A judge with verdicts that were recorded in the trajectories by another system or a person."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from evaluation_assets.core.judging.judge import AlwaysOpen, Judgement
from evaluation_assets.core.judging.selection import EVERYTHING, Selection
from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdicts import Verdict, outcome_of
from evaluation_assets.core.text.counted import first_of
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets.core.traces.trajectories.recorded import (
    RecordedVerdict,
    recorded_verdicts,
    unreadable_verdicts,
)


@dataclass(frozen=True, slots=True)
class RecordedJudge(AlwaysOpen):
    """Gives recorded verdicts of the judge `model`. Scores count for the criteria that the rubric has.

    A subject it said nothing about, or on which it gave none of the rubric's scores, is `abstained`. A verdict that
    cannot be read is `failed`, and one on a run that has another for the same criterion. A score does not count if one
    of this judge and criterion in the run is not 0 to 1, as a 1 may be the lowest of 1 to 5, nor if those of the drop
    are on another scale; without others, too, the verdict is `failed`. `other_scales` are such criteria.
    """

    name: str
    model: str
    provider: str = "recorded"
    version: str = "3"
    chains_in_flight: int = 1
    samples: int = 1
    key_variable: None = None
    selection: Selection = EVERYTHING
    other_scales: frozenset[str] = frozenset()

    def in_drop(self, trajectories: Iterable[Trajectory]) -> Self:
        """The judge that knows on which scales it scored these.

        Scores of a criterion are on another scale than 0 to 1 if some are not 0 to 1 and none lies between, or most.
        """
        given: dict[str, list[float]] = {}
        for trajectory in trajectories:
            for verdict in recorded_verdicts(trajectory):
                if verdict.judge == self.model:
                    for criterion, score in verdict.scores.items():
                        if score is not None:
                            given.setdefault(criterion, []).append(score)
        return replace(self, other_scales=frozenset(each for each, scores in given.items() if _is_other_scale(scores)))

    async def judge(self, subject: Subject, earlier: Sequence[Judgement], sample: int = 0) -> Verdict:
        """The recorded verdict on a subject."""
        if (unreadable := self._unreadable(subject)) is not None:
            return Verdict(outcome="failed", error_kind="invalid_json", error=unreadable)
        criteria = [criterion.key for criterion in subject.criteria]
        own = [verdict for verdict in recorded_verdicts(subject.trajectory) if verdict.judge == self.model]
        on_subject = [verdict for verdict in own if (verdict.level, verdict.subject) == (subject.level, subject.name)]
        if not on_subject:
            return Verdict(outcome="abstained", reasoning=f"no verdict of {self.model} is recorded")
        # Another system may have seen two pieces where we see one: the verdict by the same rubric is meant.
        closest = max(on_subject, key=lambda verdict: sum(criterion in verdict.scores for criterion in criteria))
        if subject.level in ("trajectory", "answer") and (several := _contradiction(on_subject, criteria)) is not None:
            return Verdict(outcome="failed", error_kind="invalid_json", error=several)
        off_scale = {
            criterion: said
            for criterion in criteria
            if closest.scores.get(criterion) is not None and (said := self._off_scale(own, criterion)) is not None
        }
        scores = {
            criterion: None if criterion in off_scale else closest.scores.get(criterion) for criterion in criteria
        }
        outcome = outcome_of(scores)
        if off_scale and outcome != "scored":
            return Verdict(outcome="failed", error_kind="out_of_range", error=next(iter(off_scale.values())))
        others = first_of(sorted(closest.scores.keys() - set(criteria)), 5)
        return Verdict(
            outcome=outcome,
            scores=scores,
            probabilities=closest.probabilities
            and {criterion: _probability(closest.probabilities.get(criterion)) for criterion in criteria},
            summary=closest.summary or closest.verdict,
            reasoning=closest.reasoning,
            notes=tuple(off_scale.values())
            if outcome == "scored" or not others
            else (f"recorded are scores of {others}, for which the rubric does not ask",),
        )

    def _off_scale(self, own: Sequence[RecordedVerdict], criterion: str) -> str | None:
        """What says that the scores of a criterion are not on 0 to 1: one in the run, or those of the drop."""
        given = (score for verdict in own if (score := verdict.scores.get(criterion)) is not None)
        if (off := next((score for score in given if not _is_share(score)), None)) is not None:
            return f"the recorded score {off:g} of {criterion} is not 0 to 1; divide scores of another scale"
        if criterion in self.other_scales:
            return f"other recorded scores of {criterion} in the drop are not 0 to 1; divide scores of another scale"
        return None

    def _unreadable(self, subject: Subject) -> str | None:
        """Why the verdict that is recorded on a subject cannot be read."""
        for verdict in unreadable_verdicts(subject.trajectory):
            entry = verdict.entry
            named = entry.get("judge", RecordedVerdict.__dataclass_fields__["judge"].default), entry.get("level")
            if named == (self.model, subject.level) and str(entry.get("subject", subject.name)) == subject.name:
                return f"the recorded verdict cannot be read: {verdict.reason}"
        return None


def _is_share(value: float) -> bool:
    return 0 <= value <= 1


def _is_other_scale(scores: Sequence[float]) -> bool:
    off = sum(not _is_share(score) for score in scores)
    return off > 0 and (off > len(scores) / 2 or not any(0 < score < 1 for score in scores))


def _contradiction(verdicts: Sequence[RecordedVerdict], criteria: Sequence[str]) -> str | None:
    """What says that one judge gave a subject two scores."""
    for criterion in criteria:
        given = sorted({score for verdict in verdicts if (score := verdict.scores.get(criterion)) is not None})
        if len(given) > 1:
            return f"recorded are several scores of {criterion}: {given[0]:g} and {given[-1]:g}; keep one"
    return None


def _probability(value: float | None) -> float | None:
    return value if value is not None and _is_share(value) else None

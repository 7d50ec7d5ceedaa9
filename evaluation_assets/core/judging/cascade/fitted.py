"""A fitted cascade: which verdicts which stage accepts, and what was shown about their errors. Stored as JSON."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import ValidationError
from upath import UPath

from evaluation_assets.core.judging.cascade.combining import Combination
from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.system.configuration import InvalidConfiguration, Section
from evaluation_assets.core.text.faults import faults_of
from evaluation_assets.core.traces.trajectories.identity import digest

LABELS = "labels"
"""The reference of a cascade that was fitted on labels of people."""

PASSED = "passed"
"""The criterion of a whole trajectory: the mean of its criteria."""

_ROUNDING = 1e-9


class InvalidCascade(InvalidConfiguration):
    """A file that holds no fitted cascade; the message names it and says what to do."""


@dataclass(frozen=True, slots=True)
class Subjects:
    """Subjects of one criterion at one level.

    `signals` are by judge, 0..1 and NaN where it said nothing: its probability, else its score, the mean of several
    samples; `scores` are always scores. `kinds` names the rubric of each; `places` count from 0 the subjects of its
    trajectory, with and without labels.
    """

    signals: Mapping[str, np.ndarray]
    scores: Mapping[str, np.ndarray]
    kinds: Sequence[str]
    places: np.ndarray


@dataclass(frozen=True, slots=True)
class StageVerdicts:
    """By subject: whether the mean score of a stage's judges passes, and the chance that this is wrong.

    The chance is NaN where none of them gave a score.
    """

    passes: np.ndarray
    errors: np.ndarray


@dataclass(frozen=True, slots=True)
class Decisions:
    """By subject: the position of the stage that accepted it, -1 for none; and whether it passes."""

    stage: np.ndarray
    passes: np.ndarray


class FittedCriterion(Section):
    """One criterion at one level.

    A stage accepts the verdict of its judges, whether their mean score passes, where the chance of an error, estimated
    from what they and those before them said, is at most its one of `thresholds`; there are none where none were shown
    to hold the bound. The figures are of the subjects
    that the bound was tested on: `errors` of `accepted` verdicts were wrong, `by_stage` accepted by each stage, among
    `subjects` in `clusters`. Of a trajectory, only the first `most` subjects of the level can be accepted: no bound
    holds for trajectories of any length.
    """

    level: str
    criterion: str
    stages: tuple[Combination, ...]
    thresholds: tuple[float, ...]
    p_value: float | None
    clusters: int
    clusters_fitted: int
    most: int
    subjects: int
    accepted: int
    errors: int
    by_stage: tuple[int, ...]

    def decisions(self, subjects: Subjects, pass_score: float) -> Decisions:
        """What the stages accept. A mean score of `pass_score` or more passes."""
        return accept(stage_verdicts(self.stages, subjects, pass_score), subjects.places < self.most, self.thresholds)


class FittedCascade(Section):
    """All criteria, with the promise: at most `alpha` of accepted verdicts are wrong, with confidence `1 - delta`.

    The promise is for each criterion, over all stages together, and for clusters (`unit`: trajectories or tasks) drawn
    as those with labels were. Wrong is what differs from the `reference`: labels of people, or a judge. Of the judges
    `with_probability`, probabilities are used; of the others, scores. `version` is of the rule by which stages accept:
    a bound holds for the rule that it was tested with.
    """

    version: Literal[2]
    alpha: float
    delta: float
    reference: str
    unit: str
    pass_score: float
    stages: tuple[tuple[str, ...], ...]
    with_probability: tuple[str, ...] = ()
    criteria: tuple[FittedCriterion, ...]

    @property
    def fingerprint(self) -> str:
        """A digest of all of it."""
        return digest(self.model_dump_json())

    def of_level(self, level: str) -> dict[str, FittedCriterion]:
        """The fitted criteria of a level, by name."""
        return {each.criterion: each for each in self.criteria if each.level == level}

    def beyond(self, level: str, kind: str, criteria: Container[str]) -> tuple[str, ...]:
        """Fitted criteria of subjects of a kind that its rubric, with these `criteria`, does not have: judges' own."""
        return tuple(
            name
            for name, each in self.of_level(level).items()
            if name not in criteria and any(kind in stage.kinds for stage in each.stages)
        )

    def fits(self, stages: Sequence[Sequence[str]]) -> bool:
        """Whether it was fitted for the stages of a panel: for all their judges but the reference."""
        own = [tuple(judge for judge in stage if judge != self.reference) for stage in stages]
        return self.stages == tuple(stage for stage in own if stage)


def later_judges(stages: Sequence[Sequence[str]]) -> set[str]:
    """The judges that are not asked about everything: those behind the first stage."""
    return {judge for stage in stages[1:] for judge in stage}


def stage_verdicts(stages: Sequence[Combination], subjects: Subjects, pass_score: float) -> list[StageVerdicts]:
    """What each stage says of the subjects. A mean score of `pass_score` or more passes."""
    verdicts = []
    before: set[str] = set()
    for stage in stages:
        scores = np.array([subjects.scores[judge] for judge in stage.curves if judge not in before])
        before.update(stage.curves)
        spoke = ~np.isnan(scores)
        mean = np.nansum(scores, axis=0) / np.maximum(spoke.sum(axis=0), 1)
        # Scores such as 0.6 are not exact, nor are their means.
        passes = mean >= pass_score - _ROUNDING
        chance = stage.probabilities(subjects.signals, subjects.kinds)
        verdicts.append(
            StageVerdicts(passes, np.where(spoke.any(axis=0), np.where(passes, 1 - chance, chance), np.nan))
        )
    return verdicts


def accept(verdicts: Sequence[StageVerdicts], is_eligible: np.ndarray, thresholds: Sequence[float]) -> Decisions:
    """The first stage at which the estimated chance of an error is at most its threshold; without thresholds, none."""
    decisions = Decisions(np.full(len(is_eligible), -1), np.zeros(len(is_eligible), bool))
    for position, (verdict, threshold) in enumerate(zip(verdicts, thresholds, strict=False)):
        accepted = is_eligible & (decisions.stage < 0) & (verdict.errors <= threshold)
        decisions.stage[accepted] = position
        decisions.passes[accepted] = verdict.passes[accepted]
    return decisions


def read_cascade(file: UPath) -> FittedCascade | None:
    """The fitted cascade in a file; `None` without one.

    Raises:
        InvalidCascade: the file holds something else.
    """
    if not file.exists():
        return None
    try:
        return FittedCascade.model_validate_json(file.read_bytes())
    except ValidationError as problem:
        raise InvalidCascade(
            f"{file} holds no fitted cascade ({faults_of(problem)[0]}); run `evaluation-assets cascade fit`"
        ) from None


def write_cascade(file: UPath, cascade: FittedCascade) -> None:
    """Write the file that later runs read."""
    publish_bytes(file, cascade.model_dump_json(indent=1).encode() + b"\n")

"""Fit a cascade of judges to labels, so that accepted verdicts are wrong at most as often as promised."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from evaluation_assets.core.judging.cascade.combining import Combination, combined
from evaluation_assets.core.judging.cascade.fitted import (
    FittedCriterion,
    StageVerdicts,
    Subjects,
    accept,
    stage_verdicts,
)
from evaluation_assets.core.judging.cascade.risk import fixed_sequence, order_of_testing, p_value
from evaluation_assets.core.traces.trajectories.identity import fraction_of

_THRESHOLDS = np.arange(1, 51) / 100
"""Estimated chances of an error up to which the best stage may accept verdicts."""

_SHARE_FITTED = 1 / 4
"""Share of the clusters that the stages are learned from; the others test the bound."""

_FEWEST_FITTED = 5

_SHARES_WHOLE = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
"""Shares of the clusters that teach in whose trajectories every subject could be accepted. The more subjects of one
trajectory can be, the less is bet on each, since a bet must not lose more than all: more labels are needed."""


@dataclass(frozen=True, slots=True)
class LabelledSubjects:
    """Subjects with labels. `clusters` names the trajectory or task of each."""

    subjects: Subjects
    clusters: Sequence[str]
    passes: np.ndarray

    def part(self, chosen: np.ndarray) -> "LabelledSubjects":
        """Those that are chosen."""
        own = self.subjects
        return LabelledSubjects(
            Subjects(
                {judge: said[chosen] for judge, said in own.signals.items()},
                {judge: said[chosen] for judge, said in own.scores.items()},
                list(compress(own.kinds, chosen)),
                own.places[chosen],
            ),
            list(compress(self.clusters, chosen)),
            self.passes[chosen],
        )


def is_teaching(clusters: Sequence[str]) -> np.ndarray:
    """Whether the subjects of these clusters teach the stages, so that they test no threshold."""
    return np.array([fraction_of(name) < _SHARE_FITTED for name in clusters])


def fit_criterion(
    level: str,
    criterion: str,
    labelled: LabelledSubjects,
    stages: Sequence[Sequence[str]],
    *,
    alpha: float,
    delta: float,
    pass_score: float,
) -> FittedCriterion:
    """The stages of one criterion and their thresholds.

    A quarter of the clusters, drawn by a hash of their names, teaches each stage the chance that a subject passes, and
    which thresholds are tested, in which order. The others test them: with a chance of at least `1 - delta` over the
    clusters drawn, at most `alpha` of the verdicts that all stages together accept are wrong. The bound is on all
    accepted verdicts, not on those of each stage. It takes the labelled subjects of one cluster to be no more than in
    the largest of these clusters; with trajectories as clusters that is sure where all subjects are labelled.

    Args:
        level: Level of the subjects.
        criterion: Name of the criterion, or `passed`.
        labelled: The subjects.
        stages: Judges of each stage, cheapest first; a stage also sees what judges before it said.
        alpha: Tolerated share of accepted verdicts that are wrong.
        delta: Chance that the bound does not hold.
        pass_score: Mean score of judges from which their verdict is that the subject passes.
    """
    teaches = is_teaching(labelled.clusters)
    own, others = labelled.part(teaches), labelled.part(~teaches)
    n_own, n_others = len(set(own.clusters)), len(set(others.clusters))
    learned = _learned(own, stages) if n_own >= _FEWEST_FITTED and n_others else ()
    most, thresholds, p = 0, (), None
    tested = stage_verdicts(learned, others.subjects, pass_score)
    if learned:
        by_stage = stage_verdicts(learned, own.subjects, pass_score)
        plan = _plan(own, by_stage, alpha, delta ** (n_own / n_others))
        most = plan.most
        largest = max(_largest(own, most), _largest(others, most))
        p_values = _p_values(others, tested, plan.candidates, alpha, most, largest)
        refused = fixed_sequence(p_values, delta)
        p = p_values[max(refused - 1, 0)]
        thresholds = plan.candidates[refused - 1] if refused else ()
    decisions = accept(tested, others.subjects.places < most, thresholds)
    is_accepted = decisions.stage >= 0
    return FittedCriterion(
        level=level,
        criterion=criterion,
        stages=learned,
        thresholds=thresholds,
        p_value=p,
        clusters=n_others,
        clusters_fitted=n_own,
        most=most,
        subjects=len(others.passes),
        accepted=int(is_accepted.sum()),
        errors=int((decisions.passes != others.passes)[is_accepted].sum()),
        by_stage=tuple(int((decisions.stage == position).sum()) for position in range(len(stages))),
    )


def _learned(own: LabelledSubjects, stages: Sequence[Sequence[str]]) -> tuple[Combination, ...]:
    judges: list[str] = []
    learned = []
    for stage in stages:
        judges.extend(stage)
        learned.append(
            combined({judge: own.subjects.signals[judge] for judge in judges}, own.subjects.kinds, own.passes)
        )
    return tuple(learned)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What the clusters that teach choose: thresholds by stage in the order in which they are tested.

    At most `most` subjects of a trajectory can be accepted. `last` is the share of subjects that no stage before the
    last is expected to accept.
    """

    candidates: Sequence[tuple[float, ...]]
    most: int
    last: float


def _plan(own: LabelledSubjects, by_stage: Sequence[StageVerdicts], alpha: float, small_enough: float) -> _Plan:
    """One threshold for all stages, or stricter ones where a stage errs more than the best one, in proportion.

    With one for all, a weak stage accepts at some point next to everything, also errors that later stages would see.
    Where `alpha` tolerates them, that saves most. What leaves least to the last stage is chosen.
    """
    errors = list(map(_mean_error, by_stage))
    equal = [(float(threshold),) * len(by_stage) for threshold in _THRESHOLDS]
    in_proportion = [tuple(float(threshold) * min(errors) / error for error in errors) for threshold in _THRESHOLDS]
    plans = [_to_test(own, by_stage, candidates, alpha, small_enough) for candidates in (equal, in_proportion)]
    return min(plans, key=lambda plan: plan.last)


def _mean_error(verdicts: StageVerdicts) -> float:
    known = verdicts.errors[~np.isnan(verdicts.errors)]
    return float(known.mean()) if len(known) else 0.5


def _to_test(
    own: LabelledSubjects,
    by_stage: Sequence[StageVerdicts],
    candidates: Sequence[tuple[float, ...]],
    alpha: float,
    small_enough: float,
) -> _Plan:
    """How many subjects of a trajectory can be accepted, and which candidates are tested, from the clusters that teach.

    The most are chosen with which a candidate is promising: its p-value is `small_enough`.
    """
    lengths: dict[str, int] = {}
    for cluster, place in zip(own.clusters, own.subjects.places, strict=True):
        lengths[cluster] = max(lengths.get(cluster, 0), int(place) + 1)
    by_most = {
        most: _p_values(own, by_stage, candidates, alpha, most, _largest(own, most))
        for most in sorted({int(np.quantile(list(lengths.values()), share)) for share in _SHARES_WHOLE})
    }
    promising = [most for most, p_values in by_most.items() if min(p_values) <= small_enough]
    most = max(promising) if promising else min(by_most, key=lambda most: min(by_most[most]))
    in_order = order_of_testing(by_most[most])
    expected = fixed_sequence((by_most[most][position] for position in in_order), small_enough)
    thresholds = candidates[in_order[expected - 1]] if expected else ()
    stage = accept(by_stage, own.subjects.places < most, thresholds).stage
    is_last = (stage < 0) | (stage == len(by_stage) - 1)
    return _Plan([candidates[position] for position in in_order], most, float(is_last.mean()))


def _largest(labelled: LabelledSubjects, most: int) -> int:
    """The most subjects of a cluster that could be accepted."""
    return max(Counter(compress(labelled.clusters, labelled.subjects.places < most)).values(), default=1)


def _p_values(
    labelled: LabelledSubjects,
    by_stage: Sequence[StageVerdicts],
    candidates: Sequence[tuple[float, ...]],
    alpha: float,
    most: int,
    largest: int,
) -> list[float]:
    """By candidate; 1 where more than `alpha` of what it accepts here is wrong, which no order of bets may hide."""
    cluster = np.unique([fraction_of(name) for name in labelled.clusters], return_inverse=True)[1]
    p_values = []
    for thresholds in candidates:
        decided = accept(by_stage, labelled.subjects.places < most, thresholds)
        is_accepted, is_wrong = decided.stage >= 0, decided.passes != labelled.passes
        p = p_value(is_accepted, is_wrong, cluster, alpha=alpha, largest=largest)
        p_values.append(p if is_wrong[is_accepted].sum() <= alpha * is_accepted.sum() else 1.0)
    return p_values

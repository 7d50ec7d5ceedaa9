"""Averages of verdicts. Every mean states how many judges it is based on; missing values stay missing."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from statistics import fmean, median, pstdev
from typing import Any

import numpy as np

from evaluation_assets.core.judging.rubrics.model import Ties
from evaluation_assets.core.lake.row import Row


@dataclass(frozen=True, slots=True)
class Average:
    """Scores of one subject on one criterion, averaged over a panel, 0..1.

    `n_scored` of `n_judges` gave a score that counts. Below the quorum all statistics are `None`. `std` is the
    population standard deviation over judges.
    """

    mean: float | None
    adjusted_mean: float | None
    median: float | None
    min: float | None
    max: float | None
    std: float | None
    n_scored: int
    n_judges: int

    @property
    def columns(self) -> Row:
        """Its statistics by their names."""
        return {name: getattr(self, name) for name in _STATISTICS}


_STATISTICS = tuple(each.name for each in fields(Average))


Stages = Mapping[str, int]
"""The number of the stage of each judge that is in a cascade."""

NO_STAGES: Stages = {}


def described(stages: Stages) -> str:
    """The stages as a part of the code version of what is averaged; empty where there are none."""
    return "".join(f"|{judge} in stage {number}" for judge, number in stages.items())


def counting(scores: Mapping[str, float], stages: Stages) -> Mapping[str, float]:
    """The scores of one subject that count: of a cascade, those of the last stage that gave any; of other judges, all.

    Later stages are better judges, and are asked where the earlier ones are unsure.
    """
    if not stages:
        return scores
    last = max((stages[judge] for judge in scores if judge in stages), default=0)
    return {judge: score for judge, score in scores.items() if stages.get(judge, last) == last}


def average(
    scores: Mapping[str, float], n_judges: int, quorum: int, leniency: Mapping[str, float], stages: Stages = NO_STAGES
) -> Average:
    """Average the judges' scores of one criterion. `leniency` is each judge's mean deviation from the panel.

    All scores count for the quorum, those that `counting` leaves for the rest.
    """
    if len(scores) < max(quorum, 1):
        return Average(None, None, None, None, None, None, len(scores), n_judges)
    own = counting(scores, stages)
    values = list(own.values())
    adjusted = fmean(score - leniency.get(judge, 0.0) for judge, score in own.items())
    return Average(
        mean=fmean(values),
        adjusted_mean=min(1.0, max(0.0, adjusted)),
        median=median(values),
        min=min(values),
        max=max(values),
        std=pstdev(values) if len(values) > 1 else 0.0,  # it calculates with fractions
        n_scored=len(values),
        n_judges=n_judges,
    )


def majority(votes: Mapping[str, float], n_judges: int, quorum: int, ties: Ties, stages: Stages = NO_STAGES) -> Average:
    """Aggregate the judges' votes on one criterion: `mean` and `adjusted_mean` are the most frequent vote.

    Both are `None` if there is a tie that abstains. The other statistics describe the votes as `average` does.
    """
    share = average(votes, n_judges, quorum, {}, stages)
    if share.mean is None:
        return share
    winner = most_frequent(list(counting(votes, stages).values()), ties)
    return replace(share, mean=winner, adjusted_mean=winner)


def most_frequent(votes: Sequence[float], ties: Ties) -> float | None:
    """The most frequent vote; on a tie the lowest of the tied ones, or `None` if ties abstain."""
    counts = Counter(votes)
    most = max(counts.values(), default=0)
    winners = [vote for vote, count in counts.items() if count == most]
    if len(winners) == 1 or (winners and ties == "lowest"):
        return min(winners)
    return None


class Leniency:
    """Each judge's leniency per criterion by the two-way additive model `score = subject + judge`.

    Least squares with the judges' effects summing to 0. The subjects' effects are eliminated, so that one pass that
    sums a judges x judges matrix is enough: for a subject scored by a set S of n judges, A += I_S - 11'/n and
    b += scores - mean. Source: Searle, Casella and McCulloch, Variance Components (1992), section 4.4 (within-group
    elimination in the two-way crossed model without interaction).
    """

    def __init__(self, judges: Sequence[str]) -> None:
        self._position = {judge: index for index, judge in enumerate(judges)}
        self._systems: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def add(self, criterion: str, scores: Mapping[str, float]) -> None:
        """Add one subject's scores. Subjects with a single score carry no information about leniency."""
        if len(scores) < 2:
            return
        size = len(self._position)
        matrix, vector = self._systems.setdefault(criterion, (np.zeros((size, size)), np.zeros(size)))
        who = [self._position[judge] for judge in scores]
        values = np.fromiter(scores.values(), float)
        matrix[np.ix_(who, who)] += np.eye(len(who)) - 1 / len(who)
        vector[who] += values - values.mean()

    def effects(self, criterion: str) -> dict[str, float]:
        """Leniency by judge name; 0 for judges that share no subject with another judge."""
        if criterion not in self._systems:
            return {}
        matrix, vector = self._systems[criterion]
        solution = np.linalg.pinv(matrix, hermitian=True) @ vector
        return {judge: float(solution[index]) for judge, index in self._position.items()}


def samples_of(verdicts: Iterable[Row]) -> dict[str, list[float]]:
    """One judge's scores of one subject by criterion, from its verdict rows. Only `scored` verdicts count.

    A judge without repeats has at most one score. Criteria without a score are included with an empty list.
    """
    by_criterion: dict[str, list[float]] = {}
    for row in verdicts:
        for criterion, score in (row["scores"] or {}).items():
            samples = by_criterion.setdefault(criterion, [])
            if row["outcome"] == "scored" and score is not None:
                samples.append(score)
    return by_criterion


def panel_scores(verdicts: Mapping[str, Iterable[Row]]) -> dict[str, dict[str, float]]:
    """Scores of one subject by criterion and judge: each judge's mean over its samples."""
    return _of_judges(verdicts, lambda samples: fmean(samples) if samples else None)


def panel_votes(verdicts: Mapping[str, Iterable[Row]], ties: Ties) -> dict[str, dict[str, float]]:
    """Votes on one subject by criterion and judge: the most frequent of each judge's samples; none on a tie."""
    return _of_judges(verdicts, lambda samples: most_frequent(samples, ties))


def _of_judges(
    verdicts: Mapping[str, Iterable[Row]], combined: Callable[[list[float]], float | None]
) -> dict[str, dict[str, float]]:
    by_criterion: dict[str, dict[str, float]] = {}
    for judge, rows in verdicts.items():
        for criterion, samples in samples_of(rows).items():
            by_judge = by_criterion.setdefault(criterion, {})
            if (value := combined(samples)) is not None:
                by_judge[judge] = value
    return by_criterion


class StaleVerdicts(ValueError):
    """Verdicts on subjects that the drop no longer has: the judge has to be re-run."""


def by_subject(
    tables: Mapping[str, Iterable[Row]], order: Iterable[tuple[Any, ...]], key: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], dict[str, list[Row]]]]:
    """Merge the judges' tables: yield every subject of `order` with its verdicts by judge.

    All tables must be in this order. A judge without a verdict on a subject is omitted for it.

    Raises:
        StaleVerdicts: a table has a subject that is not in `order`.
    """
    iterators = {judge: iter(rows) for judge, rows in tables.items()}
    waiting = {judge: next(rows, None) for judge, rows in iterators.items()}
    for subject in order:
        rows_of: dict[str, list[Row]] = {}
        for judge, rows in iterators.items():
            while (row := waiting[judge]) is not None and tuple(row[name] for name in key) == subject:
                rows_of.setdefault(judge, []).append(row)
                waiting[judge] = next(rows, None)
        yield subject, rows_of
    for judge, row in waiting.items():
        if row is not None:
            raise StaleVerdicts(
                f"judge {judge} has verdicts on another version of this drop; materialise its verdicts again"
            )

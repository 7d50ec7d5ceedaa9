"""The map of a judge: what its scores of whole trajectories count as."""

from dataclasses import replace
from itertools import pairwise
from statistics import fmean
from typing import Annotated

from pydantic import AfterValidator

from evaluation_assets.core.judging.subjects import Subject
from evaluation_assets.core.judging.verdicts import Verdict
from evaluation_assets.core.system.configuration import Share


def _rising(points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    if not all(low[0] < high[0] and low[1] <= high[1] for low, high in pairwise(points)):
        raise ValueError("the scores of a map rise from pair to pair, and what they count as never falls")
    return points


ScoreMap = Annotated[tuple[tuple[Share, Share], ...], AfterValidator(_rising)]
"""Pairs of a score and what it counts as, by score; empty: scores count as they are."""


def counts_as(score: float, points: ScoreMap) -> float:
    """What a mean score counts as: on a straight line between two pairs, beyond the last as the last."""
    if not points:
        return score
    below = max((point for point in points if point[0] <= score), default=points[0])
    above = min((point for point in points if point[0] >= score), default=points[-1])
    if below[0] == above[0]:
        return below[1]
    return below[1] + (above[1] - below[1]) * (score - below[0]) / (above[0] - below[0])


def with_map(verdict: Verdict, subject: Subject, points: ScoreMap) -> Verdict:
    """The verdict whose mean score is what the map makes of it; what is not a whole trajectory stays as it is.

    All criteria move by the same share towards 0 or towards 1, so that their order stays. Scores that are votes are not
    moved.
    """
    known = [score for score in verdict.scores.values() if score is not None]
    if not points or not known or subject.level != "trajectory" or subject.rubric.scale.aggregate == "majority":
        return verdict
    mean = fmean(known)
    target = counts_as(mean, points)

    def moved(score: float) -> float:
        if target < mean:
            return score * target / mean
        return 1 - (1 - score) * (1 - target) / (1 - mean) if target > mean else score

    scores = {key: None if score is None else moved(score) for key, score in verdict.scores.items()}
    note = f"The judge's mean score, {mean:.3f}, counts as {target:.3f} by its map."
    return replace(verdict, scores=scores, notes=(*verdict.notes, note))

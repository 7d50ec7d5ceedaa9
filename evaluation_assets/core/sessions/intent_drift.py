"""Intent drift: the similarity of each interaction to the goal, and where it changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Literal

import numpy as np

from evaluation_assets.core.sessions.interactions import SessionInteraction, interactions_of
from evaluation_assets.core.sessions.similarity import Similarity
from evaluation_assets.core.trajectories.model import Trajectory

DriftType = Literal["none", "scope_creep", "tangent", "wrong_problem", "recovery"]

WARNING, CRITICAL = 0.35, 0.60
"""Drift from which a session deserves a look, and from which it is about something else."""

_SHIFT = 0.2
"""The least difference of drift before and after a change."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Drift 0..1 for every interaction; `None` where it wrote nothing. 0 is on the task.

    `change_point` is the order of the interaction from which on the work was about something else.
    """

    values: tuple[float | None, ...]
    score: float | None
    change_point: int | None
    type: DriftType


def lexical_drift(trajectory: Trajectory, similarity: Similarity) -> Drift:
    """Drift measured by how well an interaction is linked to the goal, against the session's own best.

    A link is as good as its weakest joint: an interaction is linked to the goal itself, or to earlier work that is. The
    goal is the task and all the user said so far, so that following a user elsewhere is no drift.
    """
    parts = interactions_of(trajectory)
    links = _links_to_goal(trajectory, parts, similarity)
    best = max((value for value in links if value is not None), default=0.0)
    if best == 0.0:
        return Drift((None,) * len(parts), None, None, "none")
    return drift_of([None if value is None else 1 - value / best for value in links])


def drift_of(values: Sequence[float | None]) -> Drift:
    """Where a series of drift changes, and what kind of drift it is.

    The score is the mean after the change, or of all where nothing changed.
    """
    places = [index for index, value in enumerate(values) if value is not None]
    known = [value for value in values if value is not None]
    if not known:
        return Drift(tuple(values), None, None, "none")
    cut = change_point(known)
    score = fmean(known if cut is None else known[cut:])
    return Drift(tuple(values), score, None if cut is None else places[cut], _type(known, cut, score))


def change_point(series: Sequence[float]) -> int | None:
    """The index from which on a series is higher than before; `None` where it does not rise.

    The cut with the largest difference of means over the spread within its two parts, at least 0.2 and as large as the
    spread.
    """
    best, found = 0.0, None
    for cut in range(1, len(series)):
        before, after = series[:cut], series[cut:]
        rise = fmean(after) - fmean(before)
        spread = max(pstdev(before), pstdev(after))
        weight = rise * (min(cut, len(series) - cut) ** 0.5)
        if rise >= max(_SHIFT, spread) and weight > best:
            best, found = weight, cut
    return found


def _type(series: Sequence[float], cut: int | None, score: float) -> DriftType:
    """Wrong from the start, back at the end, growing, or off to something else."""
    if max(series) < WARNING:
        return "none"
    if series[-1] < WARNING:
        return "recovery"
    if cut is None:
        return "wrong_problem" if series[0] >= WARNING else "none" if score < WARNING else "scope_creep"
    return "tangent" if score >= CRITICAL else "scope_creep"


def _links_to_goal(
    trajectory: Trajectory, parts: Sequence[SessionInteraction], similarity: Similarity
) -> list[float | None]:
    if not any(part.written.strip() for part in parts):
        return [None] * len(parts)
    goals = [trajectory.task]
    for turn in trajectory.turns:
        said = turn.user_message
        goals.append(goals[-1] if not said or said in goals[-1] else f"{goals[-1]}\n{said}")
    used = sorted({part.turn for part in parts})
    row = {turn: index for index, turn in enumerate(used)}
    matrix = similarity.matrix([*(goals[turn + 1] for turn in used), *(part.written for part in parts)])
    likeness = matrix[len(used) :, len(used) :]
    links = np.zeros(len(parts))
    for index, part in enumerate(parts):
        through = np.minimum(links[:index], likeness[index, :index])
        links[index] = max(matrix[row[part.turn], len(used) + index], through.max(initial=0.0))
    return [float(link) if part.written.strip() else None for link, part in zip(links, parts, strict=True)]

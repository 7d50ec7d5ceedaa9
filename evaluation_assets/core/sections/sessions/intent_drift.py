"""Intent drift: the similarity of each interaction to the goal, and where it changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import numpy as np

from evaluation_assets.core.sections.sessions.interactions import SessionInteraction, interactions_of
from evaluation_assets.core.sections.sessions.running_sums import RunningSums
from evaluation_assets.core.sections.sessions.similarity import Similarity
from evaluation_assets.core.traces.trajectories.model import Trajectory

DriftType = Literal["none", "scope_creep", "tangent", "wrong_problem", "recovery"]

WARNING, CRITICAL = 0.35, 0.60
"""Drift at which a session gets a warning, and at which it counts as off topic."""

MOST_COMPARED = 2000
"""Interactions of a session of which all pairs are compared: memory and time grow with the square."""

_LONGEST_GOAL = 16_000
"""Characters of the goal that are kept; measures of similarity read fewer."""

_SHIFT = 0.2
"""Minimum difference of drift before and after a change point."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Drift of every interaction, 0..1, where 0 is on task; `None` if it wrote nothing.

    `change_point` is the `order` of the first interaction that is off topic. `not_measured` says why drift is missing
    where a limit is the reason.
    """

    values: tuple[float | None, ...]
    score: float | None
    change_point: int | None
    type: DriftType
    not_measured: str | None = None


def lexical_drift(trajectory: Trajectory, similarity: Similarity) -> Drift:
    """Drift by similarity to the goal, relative to the best similarity in the session.

    An interaction is linked to the goal directly or through earlier interactions; a chain is as strong as its weakest
    link. The goal is the task and all user messages so far, so following the user to a new topic is not drift.
    """
    parts = interactions_of(trajectory)
    if len(parts) > MOST_COMPARED:
        return Drift((None,) * len(parts), None, None, "none", f"more than {MOST_COMPARED:,} interactions")
    links = _links_to_goal(trajectory, parts, similarity)
    best = max((value for value in links if value is not None), default=0.0)
    if best == 0.0:
        return Drift((None,) * len(parts), None, None, "none")
    return drift_of([None if value is None else 1 - value / best for value in links])


def drift_of(values: Sequence[float | None]) -> Drift:
    """Change point, type and score of a series of drift values.

    The score is the mean after the change point, or the overall mean without one.
    """
    places = [index for index, value in enumerate(values) if value is not None]
    known = [value for value in values if value is not None]
    if not known:
        return Drift(tuple(values), None, None, "none")
    cut = change_point(known)
    score = fmean(known if cut is None else known[cut:])
    return Drift(tuple(values), score, None if cut is None else places[cut], _type(known, cut, score))


def change_point(series: Sequence[float]) -> int | None:
    """The index from which on a series is higher than before; `None` if it does not rise.

    The cut that maximises the difference of means over the standard deviation within both segments. The difference must
    be at least 0.2 and at least one standard deviation.
    """
    best, best_cut = 0.0, None
    count = len(series)
    sums = RunningSums(series)
    for cut in range(1, count):
        rise = sums.mean(cut, count) - sums.mean(0, cut)
        weight = rise * (min(cut, count - cut) ** 0.5)
        if rise < _SHIFT or weight <= best:
            continue
        if rise >= max(sums.deviation(0, cut), sums.deviation(cut, count)):
            best, best_cut = weight, cut
    return best_cut


def _type(series: Sequence[float], cut: int | None, score: float) -> DriftType:
    """Type of the drift: wrong from the start, back at the end, growing, or sudden."""
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
        is_known = not said or len(goals[-1]) > _LONGEST_GOAL or said in goals[-1]
        goals.append(goals[-1] if is_known else f"{goals[-1]}\n{said}")
    used = sorted({part.turn for part in parts})
    row = {turn: index for index, turn in enumerate(used)}
    matrix = similarity.matrix([*(goals[turn + 1] for turn in used), *(part.written for part in parts)])
    likeness = matrix[len(used) :, len(used) :]
    links = np.zeros(len(parts))
    for index, part in enumerate(parts):
        through = np.minimum(links[:index], likeness[index, :index])
        links[index] = max(matrix[row[part.turn], len(used) + index], through.max(initial=0.0))
    return [float(link) if part.written.strip() else None for link, part in zip(links, parts, strict=True)]

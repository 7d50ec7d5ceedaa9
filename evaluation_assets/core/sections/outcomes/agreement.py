"""How far runs of the same task agree: a run that does as the others do is more often right.

The idea is that of self-consistency (Wang et al., 2023), for runs with calls.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from evaluation_assets.core.sections.outcomes.traits import Traits
from evaluation_assets.core.system.by_key import by_key

AGREEMENTS = ("same_changes", "same_calls", "same_answer")

MOST_OTHERS = 8
"""Runs that a run is compared with."""


def agreements(runs: Sequence[Traits], beside: Sequence[Traits] = ()) -> list[Mapping[str, float]]:
    """By run, its mean agreement with others of its task, among the runs and those `beside`; empty if there is none.

    Agreement is the share of what two runs have in common (Jaccard): of the calls that may have changed state, of all
    calls, and of the words of their answers; 0..1. Two runs that both have none agree.
    """
    by_task = by_key((run.task_id, run) for run in (*runs, *beside))
    seen: Counter[str] = Counter()
    by_run: list[Mapping[str, float]] = []
    for run in runs:
        same, place = by_task[run.task_id], seen[run.task_id]
        seen[run.task_id] += 1
        # The next ones in a circle: in a task of many runs, each is compared with as many.
        others = [same[(place + distance) % len(same)] for distance in range(1, min(len(same), MOST_OTHERS + 1))]
        by_run.append(_agreement(run, others) if others else {})
    return by_run


def _agreement(run: Traits, others: Sequence[Traits]) -> Mapping[str, float]:
    shares = [
        (_common(run.changes, other.changes), _common(run.calls, other.calls), _common(run.answer, other.answer))
        for other in others
    ]
    return dict(zip(AGREEMENTS, map(float, np.mean(shares, axis=0)), strict=True))


def _common(one: np.ndarray, other: np.ndarray) -> float:
    both = len(np.intersect1d(one, other, assume_unique=True))
    either = len(one) + len(other) - both
    return both / either if either else 1.0

"""The paired values of a metric in two runs, and the scale on which they are compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log1p

import numpy as np

from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.gating.task_metrics import OUTCOMES, RELATIVE, lower_is_better


@dataclass(frozen=True, slots=True)
class Pairs:
    """Values of a metric for the tasks that have it in both runs. `known` tasks have it in at least one.

    `at_best` are the values of all known tasks of an outcome, if those that have it in one run only improved.
    """

    metric: str
    tasks: Sequence[str]
    baseline: np.ndarray
    current: np.ndarray
    known: int
    at_best: "Pairs | None" = None

    @property
    def are_outcomes(self) -> bool:
        """Whether all values are 0 or 1."""
        return bool(np.isin(self.baseline, (0, 1)).all() and np.isin(self.current, (0, 1)).all())

    @property
    def is_relative(self) -> bool:
        """Whether the metric is compared as a ratio and lower is better."""
        return self.metric in RELATIVE

    @property
    def lower_is_better(self) -> bool:
        """Whether an increase is worse."""
        return lower_is_better(self.metric)

    @property
    def differences(self) -> np.ndarray:
        """One difference per task, higher is better. For cost and latency: the logarithm of the ratio."""
        if self.is_relative:
            return np.log(self.baseline) - np.log(self.current)
        return self.baseline - self.current if self.lower_is_better else self.current - self.baseline

    @property
    def mean_difference(self) -> float | None:
        """For cost and latency, the relative change of the arithmetic mean, i.e. of the total; otherwise `None`.

        A geometric mean hides a few tasks that became much more expensive.
        """
        return float(self.current.mean() / self.baseline.mean()) - 1 if self.is_relative else None

    @property
    def are_unchanged_outcomes(self) -> bool:
        """Whether every task has the same outcome in both runs."""
        return self.are_outcomes and np.array_equal(self.baseline, self.current)

    @property
    def cannot_fall(self) -> bool:
        """Whether every task has the worst outcome in both runs."""
        return self.are_unchanged_outcomes and bool((self.baseline == float(self.lower_is_better)).all())

    def margin(self, settings: GateSettings) -> float:
        """The largest tolerated decrease, on the scale of the differences."""
        return log1p(settings.relative_delta) if self.is_relative else settings.delta

    def max_undetected(self, settings: GateSettings) -> float:
        """The decrease that must be detectable, on the scale of the differences."""
        return log1p(settings.relative_max_undetected) if self.is_relative else settings.max_undetected

    def as_change(self, difference: float) -> float:
        """Convert a difference to a change of the metric; for cost and latency, the relative change."""
        if self.is_relative:
            return exp(-difference) - 1
        return -difference if self.lower_is_better else difference

    def as_size(self, decrease: float) -> float:
        """Convert a decrease to the reported size: score units; for cost and latency, the relative increase."""
        return exp(decrease) - 1 if self.is_relative else min(decrease, 1.0)


def pairs_of(metric: str, baseline: Mapping[str, float], current: Mapping[str, float], tasks: Sequence[str]) -> Pairs:
    """Pair the values of a metric by task, over these tasks."""
    both = [task for task in tasks if task in baseline and task in current]
    known = [task for task in tasks if task in baseline or task in current]
    at_best = None
    if metric in OUTCOMES and len(both) < len(known):
        lowest, highest = dict.fromkeys(known, 0.0), dict.fromkeys(known, 1.0)
        at_best = pairs_of(metric, {**lowest, **baseline}, {**highest, **current}, known)
    return Pairs(
        metric,
        both,
        np.array([baseline[task] for task in both], float),
        np.array([current[task] for task in both], float),
        len(known),
        at_best,
    )

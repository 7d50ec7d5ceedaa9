"""The noise floor of a set of tasks: how much repeated trials of one agent differ, and what that hides.

Outcomes alone: true or false in each trial. The tasks are taken as given, so only the trials are random.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from statistics import fmean

import scipy

from evaluation_assets.core.gating.task_metrics import OUTCOMES, DropMetrics
from evaluation_assets.core.scoring.intervals import share_interval, wilson
from evaluation_assets.core.scoring.reliability import one_way_icc, one_way_icc_interval
from evaluation_assets.core.suites.call_metrics import pass_hat_k
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.text.user_error import UserError

DECREASES = (0.02, 0.05, 0.1, 0.2)
"""Decreases for which the number of trials is given."""


@dataclass(frozen=True, slots=True)
class Trials:
    """How many trials of a task there are, and how many of them passed."""

    n: int
    passed: int

    @property
    def variance(self) -> float:
        """Variance of a single outcome, without bias; half the chance that two trials differ."""
        return self.passed * (self.n - self.passed) / (self.n * (self.n - 1))


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its 95% interval over tasks, `None` where there is none to give."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class NeededTrials:
    """Trials of each task, in each of two runs, that show a decrease."""

    decrease: float
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFloor:
    """What repeated trials of the same tasks show.

    `runs_left_out` have no known outcome, or their task has no second one. `pass_hat` holds pass^1, pass^2 and so on,
    as far as every task has trials. `flipped` is the share of tasks that both passed and failed, `disagreement` the
    chance that two trials of a task differ. `icc` is ICC(1), the share of the variance of single trials that is between
    tasks. `detectable` is the smallest decrease of the mean that two such runs show at level `alpha` (one-sided) with
    `power`. Without any flip, noise is not measured: `detectable` is `None` and `needed` is empty.
    """

    metric: str
    tasks: int
    runs: int
    runs_left_out: int
    fewest_trials: int
    most_trials: int
    pass_hat: Sequence[Figure]
    flips: int
    flipped: Figure
    disagreement: Figure
    icc: Figure
    alpha: float
    power: float
    detectable: float | None
    needed: Sequence[NeededTrials]


class NotRepeated(UserError, ValueError):
    """There are no repeated trials to measure noise with."""


def trials_of(drops: Iterable[DropMetrics], metric: str) -> dict[str, Trials]:
    """The trials of each task over several drops of the same agent."""
    by_task: dict[str, Trials] = {}
    for drop in drops:
        for task, value in drop.metrics.get(metric, {}).items():
            before = by_task.get(task, Trials(0, 0))
            by_task[task] = Trials(before.n + value.trials, before.passed + round(value.value * value.trials))
    return by_task


def reworded_tasks(drops: Sequence[DropMetrics]) -> set[str]:
    """The tasks that drops have in different words: of simulated users, or other tasks with the same ID."""
    prompts = by_key((task, prompt) for drop in drops for task, prompt in drop.tasks.items())
    return {task for task, own in prompts.items() if len(set(own)) > 1}


def outcome_of(drops: Iterable[DropMetrics]) -> str | None:
    """The outcome that the drops have: recorded success, else the suite's."""
    known = {metric for drop in drops for metric, values in drop.metrics.items() if values}
    return next((metric for metric in ("success", "pass_rate", "completed") if metric in known & OUTCOMES), None)


def noise_floor(
    metric: str,
    trials: Mapping[str, Trials],
    alpha: float,
    power: float,
    decreases: Sequence[float] = DECREASES,
    all_runs: int = 0,
) -> NoiseFloor:
    """The noise floor of tasks with several trials each; others of `all_runs` are left out.

    Raises:
        NotRepeated: fewer than two tasks have several trials.
    """
    repeated = [each for each in trials.values() if each.n > 1]
    if len(repeated) < 2:
        raise NotRepeated(
            f"{len(repeated)} of {len(trials)} tasks have several trials of {metric}; run tasks repeatedly"
        )
    fewest = min(each.n for each in repeated)
    flips = sum(0 < each.passed < each.n for each in repeated)
    runs = sum(each.n for each in repeated)
    outcomes = [[True] * each.passed + [False] * (each.n - each.passed) for each in repeated]
    seen = _seen(len(repeated), alpha, power)
    noise = fmean(each.variance for each in repeated)
    return NoiseFloor(
        metric=metric,
        tasks=len(repeated),
        runs=runs,
        runs_left_out=max(all_runs, sum(each.n for each in trials.values())) - runs,
        fewest_trials=fewest,
        most_trials=max(each.n for each in repeated),
        pass_hat=[
            _over_tasks([pass_hat_k(each.n, each.passed, k) for each in repeated], runs) for k in range(1, fewest + 1)
        ],
        flips=flips,
        flipped=Figure(flips / len(repeated), *wilson(flips, len(repeated))),
        disagreement=_over_tasks([2 * each.variance for each in repeated], runs),
        icc=Figure(one_way_icc(outcomes), *one_way_icc_interval(outcomes)),
        alpha=alpha,
        power=power,
        detectable=seen * sqrt(2 * fmean(each.variance / each.n for each in repeated)) if flips else None,
        needed=[NeededTrials(each, ceil(2 * noise * (seen / each) ** 2 - 1e-9)) for each in decreases] if flips else [],
    )


def _seen(tasks: int, alpha: float, power: float) -> float:
    """Standard deviations of a task's difference that the mean has to differ by, as in the gate's paired t-test."""
    quantiles = scipy.special.stdtrit(tasks - 1, 1 - alpha) + scipy.special.stdtrit(tasks - 1, power)
    return float(quantiles) / sqrt(tasks)


def _over_tasks(shares: Sequence[float], runs: int) -> Figure:
    return Figure(fmean(shares), *share_interval(shares, runs))

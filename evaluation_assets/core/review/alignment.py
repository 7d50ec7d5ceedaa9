"""Whether a judge agrees better with people after a change: decided by labels that the change was not made from."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation_assets.core.judging.score_map import ScoreMap
from evaluation_assets.core.scoring.intervals import clustered, half_width
from evaluation_assets.core.scoring.reliability import cohen_kappa, kappa_difference, kappa_interval
from evaluation_assets.core.system.commands import program
from evaluation_assets.core.system.configuration import Section
from evaluation_assets.core.text.user_error import UserError
from evaluation_assets.core.traces.trajectories.identity import digest

Change = Literal["map", "examples"]
State = Literal["none", Change]
"""A judge with a change, or as it is."""

LEAST_LABELS, LEAST_TASKS = 20, 8
"""Of each half. With fewer, hardly any change could be shown to be one for the better."""

_DECIMALS = 4
_SALT = "align"


class TooFewLabels(UserError, ValueError):
    """There are too few labels to align a judge; the message says how many are needed."""


class Agreement(Section):
    """The agreement of a judge with people on the half that decides.

    `kappa` is on pass and fail, `bias` the judge's pass rate less that of people. `difference` is the kappa less that
    of the judge as it is, with the interval of paired verdicts. All intervals have 95%, over tasks.
    """

    change: State
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    bias: float
    bias_low: float | None
    bias_high: float | None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None


class Alignment(Section):
    """What comparing a judge as it is with changed ones showed, and which change was adopted: `None` is neither."""

    judge_version: str
    n_labels: int
    n_tasks: int
    agreements: tuple[Agreement, ...]
    adopted: Change | None


@dataclass(frozen=True, slots=True)
class Judged:
    """Labels of people, the task of each, and what the judge passes: as it is (`none`), and by change."""

    labels: Sequence[float]
    tasks: Sequence[Hashable]
    passed: Mapping[State, Sequence[bool]]


def decides(task: str) -> bool:
    """Whether a task is in the half that decides.

    A hash draws it, so that a task stays in its half when labels come in: what became an example is never decided by.
    """
    return int(digest(_SALT, task), 16) % 2 == 1


def check_labels(labels: Sequence[float], tasks: Sequence[str], review: str = f"{program()} review DROP") -> None:
    """Check that both halves have enough labels; `review` is the command to make more.

    Raises:
        TooFewLabels: one has not.
    """
    what_to_do = f"Label about {2 * LEAST_LABELS} trajectories of {2 * LEAST_TASKS + 4} tasks: {review}"
    if not labels:
        raise TooFewLabels(
            "no trajectory that this judge can be asked about is labelled as a whole, with the criterion `passed`; "
            f"labels of other criteria do not count here. {what_to_do}"
        )
    for is_deciding in (False, True):
        own = [at for at, task in enumerate(tasks) if decides(task) is is_deciding]
        classes = {labels[at] >= 0.5 for at in own}
        n, n_tasks = len(own), len({tasks[at] for at in own})
        if n < LEAST_LABELS or n_tasks < LEAST_TASKS or len(classes) < 2:
            name = "decides" if is_deciding else "the changes are made from"
            passes = sum(labels[at] >= 0.5 for at in own)
            raise TooFewLabels(
                f"too few labels of whole trajectories: the half of the tasks that {name} has {n} ({passes} pass, "
                f"{n - passes} fail) of {n_tasks} tasks; each half needs at least {LEAST_LABELS} labelled trajectories "
                f"of {LEAST_TASKS} tasks, with both passes and fails. {what_to_do}"
            )


def fitted_map(scores: Sequence[float], labels: Sequence[float]) -> ScoreMap:
    """The rising map of scores that is closest to labels (isotonic regression)."""
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415  (a second to import)

    model = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(scores, labels)
    rounded = {
        round(float(score), _DECIMALS): round(float(value), _DECIMALS)
        for score, value in zip(model.X_thresholds_, model.y_thresholds_, strict=True)
    }
    return tuple(sorted(rounded.items()))


def aligned(judged: Judged, judge_version: str) -> Alignment:
    """Compare a judge with its changes on the half that decides.

    A change is adopted if the interval of its difference lies above 0. The map costs nothing: examples are adopted
    instead only if the interval of their difference from the map lies above 0 too.
    """
    truth = [label >= 0.5 for label in judged.labels]
    before = judged.passed["none"]
    agreements = [_agreement("none", truth, before, judged.tasks)]
    adopted: Change | None = None
    changes: tuple[Change, ...] = ("map", "examples")
    for change in changes:
        if (after := judged.passed.get(change)) is None:
            continue
        agreement = _agreement(change, truth, after, judged.tasks, before)
        agreements.append(agreement)
        known = before if adopted is None else judged.passed[adopted]
        is_better = _is_better(agreement.difference_low)
        if adopted is not None:
            is_better = is_better and _is_better(kappa_difference(truth, known, after, judged.tasks)[0])
        if is_better:
            adopted = change
    return Alignment(
        judge_version=judge_version,
        n_labels=len(truth),
        n_tasks=len(set(judged.tasks)),
        agreements=tuple(agreements),
        adopted=adopted,
    )


def _is_better(low: float | None) -> bool:
    return low is not None and low > 0


def _agreement(
    change: State,
    truth: Sequence[bool],
    judged: Sequence[bool],
    tasks: Sequence[Hashable],
    before: Sequence[bool] | None = None,
) -> Agreement:
    kappa = cohen_kappa(judged, truth)
    kappa_low, kappa_high = (None, None) if kappa is None else kappa_interval(judged, truth, tasks)
    bias, error, degrees = clustered(
        [float(says) - is_good for says, is_good in zip(judged, truth, strict=True)], tasks
    )
    half = half_width(error, degrees) if degrees and error else None
    difference = low = high = None
    if before is not None:
        was = cohen_kappa(before, truth)
        difference = None if kappa is None or was is None else kappa - was
        low, high = kappa_difference(truth, before, judged, tasks)
    return Agreement(
        change=change,
        kappa=kappa,
        kappa_low=kappa_low,
        kappa_high=kappa_high,
        bias=bias,
        bias_low=None if half is None else max(-1.0, bias - half),
        bias_high=None if half is None else min(1.0, bias + half),
        difference=difference,
        difference_low=low,
        difference_high=high,
    )

"""Score history of a suite, prepared for plotting."""

from collections.abc import Sequence

from evaluation_assets.core.gating.linked_history import Links, Shift, linked_points
from evaluation_assets.core.gating.task_metrics import FIRST, RELATIVE
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.system.frozen import Frozen

MAX_POINTS = 40
"""Drops in a plot; the table has all."""


class Subtracted(Frozen):
    """What bridges subtracted from a value, to bring it onto the scale before judges changed, with its error."""

    mean: float
    std_error: float


class TrendPoint(Frozen):
    """One drop of a suite: the metric's mean over tasks with its 95% interval.

    `breaks`: the point is not comparable with the previous one, because judges, rubrics or settings changed. If a
    bridge links it with drops before such a change, `subtracted` is not in the mean, and its error is in the interval.
    """

    drop: str
    mean: float
    ci_low: float | None
    ci_high: float | None
    breaks: bool
    subtracted: Subtracted | None = None


class Trend(Frozen):
    """A metric over the drops of a suite, oldest first."""

    metric: str
    points: list[TrendPoint]


def trends(rows: Sequence[Row], links: Links | None = None) -> list[Trend]:
    """Plots of each score over the drops of a suite, from its rows of `score_history`, oldest first.

    Points after a change that a bridge links are on the scale before it. A metric needs two points. Cost and latency
    have no common scale, so they are only in the table.
    """
    by_metric: dict[str, list[Row]] = by_key((row["metric"], row) for row in rows if row["metric"] not in RELATIVE)
    order = [name for name in FIRST if name in by_metric] + sorted(by_metric.keys() - set(FIRST))
    return [
        Trend(metric=name, points=[_point(*each) for each in linked_points(by_metric[name], links)][-MAX_POINTS:])
        for name in order
        if len(by_metric[name]) > 1
    ]


def drop_before(rows: Sequence[Row], drop: str) -> str | None:
    """The drop of the suite with the runs before those of `drop`, by the same rows; the last one if it has none."""
    evaluated = list(dict.fromkeys(row["drop"] for row in rows))
    earlier = evaluated[: evaluated.index(drop)] if drop in evaluated else evaluated
    return earlier[-1] if earlier else None


def _point(row: Row, breaks: bool, shift: Shift | None) -> TrendPoint:
    mean, low, high = row["mean"], row["ci_low"], row["ci_high"]
    if shift is not None:
        mean, low, high = shift.moved(mean, low, high)
    subtracted = None if shift is None else Subtracted(mean=shift.mean, std_error=shift.std_error)
    return TrendPoint(drop=row["drop"], mean=mean, ci_low=low, ci_high=high, breaks=breaks, subtracted=subtracted)

"""Score history of a suite, prepared for plotting."""

from collections.abc import Sequence

from evaluation_assets.core.gating.history import segments
from evaluation_assets.core.gating.task_metrics import RELATIVE
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.report.report import Trend, TrendPoint

MAX_POINTS = 40
"""Drops in a plot; the table has all."""

FIRST = ("success", "pass_rate", "overall")


def trends(rows: Sequence[Row]) -> list[Trend]:
    """Plots of each score over the drops of a suite, from its rows of `score_history`, oldest first.

    A metric needs two points. Cost and latency have no common scale, so they are only in the table.
    """
    by_metric: dict[str, list[Row]] = {}
    for row in rows:
        if row["metric"] not in RELATIVE:
            by_metric.setdefault(row["metric"], []).append(row)
    order = [name for name in FIRST if name in by_metric] + sorted(by_metric.keys() - set(FIRST))
    return [
        Trend(metric=name, points=_points(by_metric[name])[-MAX_POINTS:]) for name in order if len(by_metric[name]) > 1
    ]


def drop_before(rows: Sequence[Row], drop: str) -> str | None:
    """The drop of the suite that was evaluated before `drop`, from the same rows; the last one if `drop` has none."""
    evaluated = list(dict.fromkeys(row["drop"] for row in rows))
    earlier = evaluated[: evaluated.index(drop)] if drop in evaluated else evaluated
    return earlier[-1] if earlier else None


def _points(rows: Sequence[Row]) -> list[TrendPoint]:
    return [
        TrendPoint(
            drop=row["drop"],
            mean=row["mean"],
            ci_low=row["ci_low"],
            ci_high=row["ci_high"],
            breaks=number == 0 and place > 0,
        )
        for place, part in enumerate(segments(rows))
        for number, row in enumerate(part)
    ]

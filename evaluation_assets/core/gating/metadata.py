"""Metadata of baselines and gate tables for the Dagster UI."""

from collections.abc import Iterable

from evaluation_assets.core.gating.baselines import Baseline
from evaluation_assets.core.gating.noise_floor import NotRepeated, noise_floor, outcome_of, trials_of
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.gating.task_metrics import DropMetrics
from evaluation_assets.core.lake.row import Row

DAMAGED_TABLES = "damaged_tables"
"""Names the files that were skipped, a line each."""


def baseline_figures(baseline: Baseline) -> dict[str, str | int | float]:
    """Source of the baseline, who promoted it and why, the mean of each metric, and judges without canary scores."""
    unwatched = baseline.without_canaries
    return {
        "suite": baseline.suite,
        "promoted_by": baseline.promoted_by,
        "reason": baseline.reason,
        "comparability_key": baseline.comparability_key,
        "tasks": len(baseline.tasks),
        **({"without_canaries": ", ".join(unwatched)} if unwatched else {}),
        **{f"mean_{name}": metric.mean for name, metric in baseline.metrics.items()},
    }


def means(rows: Iterable[Row]) -> dict[str, float]:
    """The mean of each metric, from rows of `score_history`."""
    return {f"mean_{row['metric']}": row["mean"] for row in rows}


def noise_figures(measured: DropMetrics, settings: GateSettings) -> dict[str, float]:
    """What `noise` says of a drop whose tasks have several trials: numbers that the UI plots; none for other drops."""
    metric = outcome_of([measured])
    if metric is None:
        return {}
    try:
        floor = noise_floor(metric, trials_of([measured], metric), settings.alpha, settings.power)
    except NotRepeated:
        return {}
    figures = {
        **{f"pass^{k}": figure.value for k, figure in enumerate(floor.pass_hat, 1)},
        "flips": floor.flipped.value,
        "trials_differ": floor.disagreement.value,
        "icc": floor.icc.value,
        "detectable_decrease": floor.detectable,
    }
    return {f"{metric}_{name}": value for name, value in figures.items() if value is not None}


def false_alarms(rows: Iterable[Row]) -> dict[str, float]:
    """Rate of false alarms by suite and metric, from rows of `gate_calibration`."""
    return {f"false_alarms_{row['suite']}_{row['metric']}": row["fails"] for row in rows if row["drop_size"] == 0}


def damaged_tables(messages: Iterable[str]) -> dict[str, str]:
    """The damaged files that were skipped."""
    named = "\n".join(dict.fromkeys(messages))
    return {DAMAGED_TABLES: named} if named else {}

"""Format differences, detectable changes and p-values of the gate, for messages, tables and reports alike."""

from evaluation_assets.core.gating.outcome import MetricComparison
from evaluation_assets.core.gating.task_metrics import RELATIVE

_NONE = "–"


def change(value: float | None, metric: str) -> str:
    """A signed difference: in percent for cost and latency, else in score units; a dash for `None`."""
    if value is None:
        return _NONE
    if metric not in RELATIVE:
        return signed(value)
    rounded = round(value, 3)
    return f"{rounded:+.1%}" if rounded else "0.0%"


def both_changes(compared: MetricComparison) -> str:
    """The tested difference; for cost and latency, which are tested per task, that of the total if it is another."""
    tested, total = change(compared.difference, compared.metric), other_total(compared)
    return tested if total is None else f"{tested} (total {total})"


def other_total(compared: MetricComparison) -> str | None:
    """The change of the total, for cost and latency; `None` if it is the tested difference, or unknown."""
    tested, total = (change(each, compared.metric) for each in (compared.difference, compared.mean_difference))
    return None if total in (tested, _NONE) else total


def size(value: float | None, metric: str) -> str:
    """The size of a change: in percent for cost and latency, else in score units; a dash for `None`."""
    if value is None:
        return _NONE
    return f"{value:.1%}" if metric in RELATIVE else f"{value:.3f}"


def signed(value: float | None) -> str:
    """A difference with its sign and three decimals, `0.000` without a sign; a dash for `None`."""
    if value is None:
        return _NONE
    rounded = round(value, 3)
    return f"{rounded:+.3f}" if rounded else "0.000"


def p_value(value: float | None) -> str:
    """A p-value with three decimals, or `< 0.001`; a dash for `None`."""
    if value is None:
        return _NONE
    return "< 0.001" if value < 0.001 else f"{value:.3f}"

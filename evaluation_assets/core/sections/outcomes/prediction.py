"""What is said of a predicted outcome."""

from collections.abc import Iterable, Mapping
from typing import Any


def is_likely_failure(probability: float | None) -> bool:
    """Whether a run more likely failed than not, given the probability that it succeeded; not if that is unknown."""
    return probability is not None and probability < 0.5


def prediction_text(probability: float, auroc_low: float) -> str:
    """The prediction in words, never without the bound on how well it ranks: `likely failed, p = .81; AUROC >= .66`."""
    outcome, share = ("failed", 1 - probability) if is_likely_failure(probability) else ("succeeded", probability)
    return f"likely {outcome}, p = {_short(share)}; AUROC >= {_short(auroc_low)}"


def predictions(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The predictions in words, by trajectory, of rows of `predicted_outcomes`; those without a number say nothing."""
    return {
        row["trajectory_id"]: prediction_text(row["success_probability"], row["auroc_low"])
        for row in rows
        if row["success_probability"] is not None
    }


def _short(share: float) -> str:
    """Two digits, rounded down: `.81`. A probability is never certain, and a bound is not exceeded."""
    return f"{int(share * 100 + 1e-9) / 100:.2f}".removeprefix("0")

"""Label-corrected pass rates, from verdicts on all subjects and human labels of some."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from evaluation_assets.core.scoring.intervals import half_width


@dataclass(frozen=True, slots=True)
class Stratum:
    """A part of a drop in which labelled subjects are a random sample.

    `judged` is the judges' 0 or 1 for every subject, `labelled` the pairs (label, judged) of those people labelled.
    """

    judged: Sequence[float]
    labelled: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class PassRate:
    """A pass rate beside what the judges alone say; the interval has 95%. `None` with too few labels."""

    raw: float | None
    corrected: float | None
    low: float | None
    high: float | None
    n_subjects: int
    n_labels: int


def pass_rate(strata: Sequence[Stratum]) -> PassRate:
    """Prediction-powered pass rate over strata, power-tuned.

    Each stratum `s` with weight `w = N_s / N` gives `lam * mean(judged) + mean(label - lam * judged)`, and one `lam` in
    0..1 is chosen for the smallest variance; Student's t with (labels - strata) degrees of freedom. The rectifier's
    variance is that of labelled subjects drawn from the stratum's own. Source: Angelopoulos, Duchi and Zrnic, PPI++
    (2023); stratified as in Fisch et al. (2024). Every stratum needs two labels.

    `lam` and the variance count four pseudo-labels in each stratum, one of each pair of label and verdict, as Agresti
    and Coull (The American Statistician 52, 1998) do for a plain rate. Without them, labels that happen to agree leave
    no variance: ten labels at a true rate of 0.99 covered it in 4% of simulations, with them in 99%.
    """
    filled = [stratum for stratum in strata if stratum.judged]
    total = sum(len(stratum.judged) for stratum in filled)
    labels = sum(len(stratum.labelled) for stratum in filled)
    raw = sum(sum(stratum.judged) for stratum in filled) / total if total else None
    if not filled or any(len(stratum.labelled) < 2 for stratum in filled):
        return PassRate(raw, None, None, None, total, labels)
    lam = _tuning(filled, total)
    point = variance = 0.0
    for stratum in filled:
        weight = len(stratum.judged) / total
        truth, judged = np.array(stratum.labelled, float).T
        point += weight * (lam * float(np.mean(stratum.judged)) + float((truth - lam * judged).mean()))
        truth, judged = _with_pseudo_labels(stratum)
        variance += weight**2 * float((truth - lam * judged).var(ddof=1)) / len(stratum.labelled)
    half = half_width(sqrt(variance), labels - len(filled))
    return PassRate(raw, _share(point), _share(point - half), _share(point + half), total, labels)


def _tuning(strata: Sequence[Stratum], total: int) -> float:
    together = spread = 0.0
    for stratum in strata:
        weight = (len(stratum.judged) / total) ** 2 / len(stratum.labelled)
        truth, judged = _with_pseudo_labels(stratum)
        together += weight * float(np.cov(truth, judged)[0, 1])
        spread += weight * float(judged.var(ddof=1))
    return min(1.0, max(0.0, together / spread))


def _with_pseudo_labels(stratum: Stratum) -> tuple[np.ndarray, np.ndarray]:
    """Labels and verdicts of a stratum, with one more of each pair."""
    truth, judged = np.array([*stratum.labelled, (0, 0), (0, 1), (1, 0), (1, 1)], float).T
    return truth, judged


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))

"""Effective number of judges: how many independent judges a panel's mean is worth.

Kish's design effect for a mean of k correlated values, `n_eff = k / (1 + (k - 1) r)`, with the mean correlation r
between judges. Source: Kish, Survey Sampling (1965), section 5.4.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import sqrt
from statistics import fmean
from typing import Literal

from pydantic import computed_field

from evaluation_assets.core.scoring.reliability import effective_judges, table_of
from evaluation_assets.core.system.frozen import Frozen

Basis = Literal["human labels", "recorded outcomes", "verdicts"]

MIN_SUBJECTS = 10
"""With fewer common subjects, a correlation is too uncertain to be used."""

_NO_VARIATION = 1e-12


class EffectiveJudges(Frozen):
    """A panel of `n_judges` is worth `value` independent judges, measured on `n_subjects` subjects.

    With labels, r is the correlation of the judges' errors (`reliability.effective_judges`). With the basis `verdicts`
    there are none: r is the correlation of the verdicts, which judges share also where they are right, so `value` is a
    lower bound if the judges are about equally accurate.
    """

    value: float
    n_judges: int
    basis: Basis
    n_subjects: int

    @computed_field
    @property
    def is_bound(self) -> bool:
        """Whether the value is a lower bound, because there were no labels."""
        return self.basis == "verdicts"

    @property
    def text(self) -> str:
        """The number in words: `at least 1.6 of 3 (from the correlation of verdicts)`."""
        least = "at least " if self.is_bound else ""
        source = (
            "verdicts" if self.is_bound else f"errors, {self.n_subjects} subjects with {self.basis} that all scored"
        )
        return f"{least}{self.value:.1f} of {self.n_judges} (from the correlation of {source})"


def from_labels(
    scores: Mapping[str, Sequence[float | None]], labels: Sequence[float], basis: Basis
) -> EffectiveJudges | None:
    """The effective number from the correlation of errors; `None` with too few labels or nothing that varies.

    Args:
        scores: by judge, one score per labelled subject. Subjects that a judge has not scored do not count.
        labels: one per subject.
        basis: where the labels come from.
    """
    judges = {judge: own for judge, own in scores.items() if any(score is not None for score in own)}
    whole = [index for index in range(len(labels)) if all(own[index] is not None for own in judges.values())]
    if len(judges) < 2 or len(whole) < MIN_SUBJECTS or len({labels[index] for index in whole}) < 2:
        return None
    value = effective_judges(table_of(judges), labels)
    return (
        None
        if value is None
        else EffectiveJudges(value=value, n_judges=len(judges), basis=basis, n_subjects=len(whole))
    )


class VerdictCorrelations:
    """Sums up the correlations between judges' verdicts while subjects stream through."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str], list[float]] = {}
        self._subjects = 0

    def add(self, scores: Mapping[str, float]) -> None:
        """Add one subject's scores by judge."""
        self._subjects += len(scores) > 1
        for one, other in combinations(sorted(scores), 2):
            x, y = scores[one], scores[other]
            sums = self._sums.setdefault((one, other), [0.0] * 6)
            for place, value in enumerate((1.0, x, y, x * x, y * y, x * y)):
                sums[place] += value

    def effective(self) -> EffectiveJudges | None:
        """The lower bound; `None` if no two judges share enough subjects, or their scores do not vary."""
        known = {pair: r for pair, sums in self._sums.items() if (r := _correlation(sums)) is not None}
        if not known:
            return None
        k = len({judge for pair in known for judge in pair})
        return EffectiveJudges(
            value=k / (1 + (k - 1) * max(fmean(known.values()), 0.0)),
            n_judges=k,
            basis="verdicts",
            n_subjects=self._subjects,
        )


def _correlation(sums: Sequence[float]) -> float | None:
    n, x, y, xx, yy, xy = sums
    if n < MIN_SUBJECTS:
        return None
    variances = (xx - x * x / n) / n, (yy - y * y / n) / n
    if min(variances) < _NO_VARIATION:
        return None
    return (xy - x * y / n) / n / sqrt(variances[0] * variances[1])

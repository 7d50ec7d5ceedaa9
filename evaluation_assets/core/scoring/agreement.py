"""Inter-rater agreement of a panel. Agreement is not validity: judges may share an error."""

from collections.abc import Iterable
from dataclasses import dataclass

from evaluation_assets.core.lake.row import Row


@dataclass(frozen=True, slots=True)
class Agreement:
    """Krippendorff's alpha of one criterion over the `n_subjects` that at least two judges scored.

    1 is full agreement, 0 is agreement by chance. `None` if the scores do not vary.
    """

    alpha: float | None
    n_subjects: int


class _Sums:
    """The sums that alpha is computed from."""

    def __init__(self) -> None:
        self.subjects = self.values = 0
        self.within = self.total = self.squares = 0.0

    def add(self, count: int, mean: float, std: float) -> None:
        self.subjects += 1
        self.values += count
        self.within += 2 * count * (count * std**2) / (count - 1)
        self.total += count * mean
        self.squares += count * (std**2 + mean**2)

    def alpha(self) -> float | None:
        return krippendorff_alpha(self.values, self.total, self.squares, self.within)


def krippendorff_alpha(n: int, total: float, squares: float, within: float) -> float | None:
    """Krippendorff's alpha with the interval metric, for any number of judges and missing scores.

    Observed disagreement is `within / n`, expected disagreement `2 sum((x - mean)^2) / (n - 1)`. Source: Krippendorff,
    Content Analysis (4th ed., 2018), chapter 12. `None` if the scores do not vary.

    Args:
        n: number of scores, over subjects with at least two.
        total: sum of these scores.
        squares: sum of their squares.
        within: sum over subjects of `2 m ss / (m - 1)`, with m scores and their sum of squared deviations ss.
    """
    if n < 2:
        return None
    expected = 2 * (squares - total**2 / n) / (n - 1)
    return 1 - within / n / expected if expected > 1e-12 else None


def agreement(score_rows: Iterable[Row]) -> dict[str, Agreement]:
    """Agreement by criterion, computed from the counts, means and standard deviations of a score table."""
    sums: dict[str, _Sums] = {}
    for row in score_rows:
        if row["mean"] is not None and row["n_scored"] >= 2:
            sums.setdefault(row["criterion"], _Sums()).add(row["n_scored"], row["mean"], row["std"])
    return {name: Agreement(of_criterion.alpha(), of_criterion.subjects) for name, of_criterion in sorted(sums.items())}

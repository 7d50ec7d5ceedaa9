"""Means by criterion over the scores of a drop, as metadata for the UI."""

from collections.abc import Iterator
from statistics import fmean

from evaluation_assets.core.scoring.panel_scores import Row
from evaluation_assets.core.text.plain_text import markdown_cell


class ScoreSummary:
    """Sums rows of scores as they stream through."""

    def __init__(self) -> None:
        self._means: dict[str, list[float]] = {}
        self._not_scored = 0

    def over(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Yield the rows unchanged and add them up."""
        for row in rows:
            if row["mean"] is None:
                self._not_scored += 1
            else:
                self._means.setdefault(row["criterion"], []).append(row["mean"])
            yield row

    def markdown(self) -> str:
        """The mean of each criterion as a Markdown table."""
        lines = [
            f"| {markdown_cell(criterion)} | {fmean(values):.3f} | {len(values)} |"
            for criterion, values in sorted(self._means.items())
        ]
        return "\n".join(["| criterion | mean | subjects |", "| --- | ---: | ---: |", *lines])

    def figures(self) -> dict[str, float | int]:
        """The mean of each criterion as a number; the UI plots it over drops."""
        means = {f"mean_{criterion}": fmean(values) for criterion, values in sorted(self._means.items())}
        return {"not_scored": self._not_scored, **means}

"""Scores of a criterion over subjects, collected for their statistics and the place of the lowest."""

from array import array
from dataclasses import dataclass, field
from math import isnan, nan

from evaluation_assets.core.report.report import Place
from evaluation_assets.core.report.scores.distributions import Statistic, statistic


@dataclass(slots=True)
class Values:
    """Scores that may be missing (NaN), the task of each, and the place of the lowest."""

    values: "array[float]" = field(default_factory=lambda: array("d"))
    tasks: list[str] = field(default_factory=list)
    least: tuple[float, str, int | None] | None = None

    def add(self, value: float | None, task: str, trajectory_id: str, clip_index: int | None = None) -> None:
        self.values.append(nan if value is None else value)
        self.tasks.append(task)
        if value is not None and (self.least is None or value < self.least[0]):
            self.least = (value, trajectory_id, clip_index)

    @property
    def lowest(self) -> Place | None:
        """The subject with the lowest score, the first of several."""
        return None if self.least is None else Place(trajectory_id=self.least[1], clip_index=self.least[2])

    @property
    def statistic(self) -> Statistic:
        """The scores described, over their tasks."""
        return statistic([None if isnan(value) else value for value in self.values], self.tasks)

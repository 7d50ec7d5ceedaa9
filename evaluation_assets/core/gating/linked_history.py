"""The history of a metric on one scale, as far as bridges link its parts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot

import scipy

from evaluation_assets.core.gating.bridges import Bridges, differences
from evaluation_assets.core.gating.task_metrics import needs_judges
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.scoring.intervals import CONFIDENCE


@dataclass(frozen=True, slots=True)
class Shift:
    """What is subtracted from a value to bring it onto the scale before a change, with its standard error."""

    mean: float
    std_error: float

    def after(self, other: "Shift") -> "Shift":
        """Both, one after the other; the bridges are independent."""
        return Shift(self.mean + other.mean, hypot(self.std_error, other.std_error))

    def moved(self, mean: float, low: float | None, high: float | None) -> tuple[float, float | None, float | None]:
        """A mean with its interval, shifted and widened."""
        half = float(scipy.special.ndtri(0.5 + CONFIDENCE / 2)) * self.std_error
        at = mean - self.mean
        below = None if low is None else at - hypot(mean - low, half)
        above = None if high is None else at + hypot(high - mean, half)
        return at, below, above


class Links:
    """The bridges of a suite between comparability keys. `keys` are the parts of the keys that are known."""

    def __init__(self, bridges: Bridges, keys: Mapping[str, Mapping[str, str]]) -> None:
        self._bridges = bridges
        self._keys = keys

    def shift(self, before: str, after: str, metric: str) -> Shift | None:
        """What the scores of a metric are shifted by from one key to the next; `None` if nothing links them."""
        if before not in self._keys or after not in self._keys:
            return None
        for sign, (old, new) in ((1, (before, after)), (-1, (after, before))):
            bridge = self._bridges.over(differences(self._keys[old], self._keys[new]))
            if bridge is None:
                continue
            if (offset := bridge.offsets.get(metric)) is not None:
                return Shift(sign * offset.mean, offset.std_error)
            if not needs_judges(metric):
                return Shift(0.0, 0.0)
        return None


def linked_points(points: Sequence[Row], links: Links | None) -> Iterator[tuple[Row, bool, Shift | None]]:
    """The points of one metric in order, each with whether it breaks the line, and what brings it onto its scale.

    The line breaks where the comparability key changes and no bridge links both keys; a new scale begins there.
    """
    shift: Shift | None = None
    for number, point in enumerate(points):
        breaks = False
        before, after = points[number - 1]["comparability_key"], point["comparability_key"]
        if number and before != after:
            step = None if links is None else links.shift(before, after, point["metric"])
            breaks = step is None
            shift = step if step is None or shift is None else shift.after(step)
        yield point, breaks, shift

"""What a rule says of one criterion: points with the reason, or what is missing to give any."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Points 0..10, or `None` without evidence, and the reason."""

    points: float | None
    reason: str


def points_for(value: float, *thresholds: tuple[float, float], below: float) -> float:
    """Points of the first threshold that the value reaches; thresholds fall."""
    return next((points for threshold, points in thresholds if value >= threshold), below)

"""What stands before and after each step of a trajectory, found in one pass over all steps."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

from evaluation_assets.core.traces.trajectories.model import Step

T = TypeVar("T")


def last_same(steps: Sequence[Step], keys: Sequence[Hashable]) -> list[Step | None]:
    """For each step, the last earlier one with the same key; none for steps without one."""
    last: dict[Hashable, Step] = {}
    neighbours: list[Step | None] = []
    for step, key in zip(steps, keys, strict=True):
        neighbours.append(None if key is None else last.get(key))
        last[key] = step
    return neighbours


def following(values: Sequence[T | None]) -> list[T | None]:
    """For each place, the next value after it."""
    neighbours: list[T | None] = []
    after: T | None = None
    for value in reversed(values):
        neighbours.append(after)
        after = after if value is None else value
    return neighbours[::-1]

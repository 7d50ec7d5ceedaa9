"""What stands before and after each step of a trajectory, found in one pass over all steps."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

from evaluation_assets.core.traces.trajectories.model import Step

T = TypeVar("T")


def last_same(steps: Sequence[Step], keys: Sequence[Hashable]) -> list[Step | None]:
    """For each step, the last earlier one with the same key; none for steps without one."""
    last: dict[Hashable, Step] = {}
    found: list[Step | None] = []
    for step, key in zip(steps, keys, strict=True):
        found.append(None if key is None else last.get(key))
        last[key] = step
    return found


def following(values: Sequence[T | None]) -> list[T | None]:
    """For each place, the next value after it."""
    found: list[T | None] = []
    after: T | None = None
    for value in reversed(values):
        found.append(after)
        after = after if value is None else value
    return found[::-1]

"""What belongs together. `itertools.groupby` takes neighbours only."""

from collections.abc import Iterable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def by_key(items: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Values by their key, both in order."""
    groups: dict[K, list[V]] = {}
    for key, value in items:
        groups.setdefault(key, []).append(value)
    return groups

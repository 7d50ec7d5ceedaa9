"""The items of a stream with the lowest values."""

import heapq
from typing import Any


class Lowest:
    """Keeps only the items with the lowest values. Ties go to the earlier item."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._offered = 0
        self._heap: list[tuple[float, int, Any]] = []

    def offer(self, value: float, item: Any) -> None:
        self._offered += 1
        entry = (-value, -self._offered, item)
        if len(self._heap) < self._size:
            heapq.heappush(self._heap, entry)
        elif entry[:2] > self._heap[0][:2]:
            heapq.heapreplace(self._heap, entry)

    def items(self) -> list[Any]:
        """The kept items, lowest value first."""
        return [item for _, _, item in sorted(self._heap, key=lambda entry: (-entry[0], -entry[1]))]

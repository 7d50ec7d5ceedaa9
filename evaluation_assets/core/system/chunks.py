"""A few at a time. Python 3.12 has `itertools.batched`."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in their order, in lists of `size`; the last one has what is left."""
    remaining = iter(items)
    while some := list(islice(remaining, size)):
        yield some

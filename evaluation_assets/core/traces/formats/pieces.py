"""Records in a row that are pieces of one, as streams write them."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

T = TypeVar("T")


def in_a_row(items: Sequence[T], of_one: Callable[[T], Hashable | None]) -> Iterator[list[T]]:
    """The items in groups: those in a row for which `of_one` gives the same. One that comes whole, `None`, is alone."""
    keys = [object() if (key := of_one(item)) is None else key for item in items]
    for _, group in groupby(zip(keys, items, strict=True), key=itemgetter(0)):
        yield [item for _, item in group]

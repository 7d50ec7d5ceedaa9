"""Pairwise judges: measure position bias by swapping the two answers."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal

Choice = Literal["A>B", "B>A", "A=B"]

_SWAPPED: dict[Choice, Choice] = {"A>B": "B>A", "B>A": "A>B", "A=B": "A=B"}


def swapped(choice: Choice | None) -> Choice | None:
    """A choice made with the answers the other way round, as a choice between them as they stand."""
    return None if choice is None else _SWAPPED[choice]


def consistency(pairs: Iterable[tuple[Choice | None, Choice | None]]) -> tuple[int, int]:
    """Of the pairs decided both ways round, how many were decided alike. The second choice is not swapped back yet."""
    decided = [(first, swapped(second)) for first, second in pairs if first is not None and second is not None]
    return sum(first == second for first, second in decided), len(decided)


def both_ways(pairs: Iterable[tuple[Choice | None, Choice | None, Choice]]) -> Counter[str]:
    """How pairs with a known better answer end over both orders: `right`, `wrong`, or `tie` where they cancel.

    A choice for the better answer counts 1, for the worse one -1, a tie or no choice 0.
    """
    found: Counter[str] = Counter()
    for first, second, better in pairs:
        choices = (first, swapped(second))
        balance = sum((choice == better) - (choice == _SWAPPED[better]) for choice in choices)
        found["right" if balance > 0 else "wrong" if balance < 0 else "tie"] += 1
    return found

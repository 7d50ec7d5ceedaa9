"""Which calls violate an order. Calls are flags in the order of the trajectory; before and after are strict."""

from collections.abc import Callable, Iterator, Sequence

from evaluation_assets.core.system.by_key import by_key

Flags = Sequence[bool]


def made(calls: Flags) -> list[int]:
    """All calls: for what must never be called."""
    return [index for index, is_call in enumerate(calls) if is_call]


def without_earlier(calls: Flags, others: Flags) -> list[int]:
    """Calls without any of `others` before them."""
    return [index for index, is_preceded in zip(made(calls), _preceded(calls, others), strict=True) if not is_preceded]


def with_earlier(calls: Flags, others: Flags) -> list[int]:
    """Calls with any of `others` before them."""
    return [index for index, is_preceded in zip(made(calls), _preceded(calls, others), strict=True) if is_preceded]


def without_later(calls: Flags, others: Flags) -> list[int]:
    """Calls without any of `others` after them."""
    last = max(made(others), default=-1)
    return [index for index in made(calls) if index >= last]


def beyond(calls: Flags, limit: int) -> list[int]:
    """Calls after the first `limit`."""
    return made(calls)[limit:]


def by_group(groups: Sequence[str], violations: Callable[[Sequence[int]], list[int]]) -> list[int]:
    """Indexes that violate a rule within the calls of their own group.

    `violations` gets the indexes of a group's calls, and returns places in this list.
    """
    members = by_key((group, index) for index, group in enumerate(groups))
    return sorted(own[place] for own in members.values() for place in violations(own))


def _preceded(calls: Flags, others: Flags) -> Iterator[bool]:
    is_preceded = False
    for is_call, is_other in zip(calls, others, strict=True):
        if is_call:
            yield is_preceded
        is_preceded = is_preceded or is_other

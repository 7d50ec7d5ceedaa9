"""Fewer searches for cycles, and none forgotten."""

import gc
import weakref

from evaluation_assets.core.system.garbage import COLLECTED_EVERY, rarely_collected


class Cycle:
    """An object that only a search finds."""

    def __init__(self) -> None:
        self.itself = self


def test_searches_are_rare_meanwhile_and_as_before_afterwards() -> None:
    before = gc.get_threshold()
    with rarely_collected():
        assert gc.get_threshold() == (COLLECTED_EVERY, *before[1:])
    assert gc.get_threshold() == before


def test_what_became_garbage_before_is_found_by_the_next_search_among_new_objects() -> None:
    """Freezing all objects meanwhile made them old, so that a process kept 1.6 MiB of each drop it evaluated."""
    gc.collect()
    forgotten = weakref.ref(Cycle())
    assert forgotten() is not None
    with rarely_collected():
        pass
    gc.collect(1)
    assert forgotten() is None

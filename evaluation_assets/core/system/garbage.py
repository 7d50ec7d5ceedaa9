"""Fewer of Python's searches for cycles among objects: imports and evaluations make many objects and few cycles."""

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

COLLECTED_EVERY = 500_000
"""New objects between two searches. At Python's default of 700, searching took a seventh of the time of evaluating one
record."""


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Cycles are looked for rarely, and among new objects only: going through all of Dagster's takes 0.2 s, and answers
    of models wait.
    """
    before = gc.get_threshold()
    gc.set_threshold(COLLECTED_EVERY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def end_without_search() -> None:
    """Let the process end without a last search: going through all of Dagster's objects takes a second, or ten times
    that on a machine that is busy.
    """
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)

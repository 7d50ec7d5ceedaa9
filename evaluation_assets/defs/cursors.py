"""Cursors of sensors, which people can set in the UI, and which other versions may have written."""

from collections.abc import Callable
from typing import TypeVar

import dagster as dg

Remembered = TypeVar("Remembered")


def remembered(context: dg.SensorEvaluationContext, read: Callable[[str | None], Remembered]) -> Remembered:
    """What a sensor remembers of its last tick.

    Where the cursor is none of its own, the sensor starts again and says so: it would fail at every tick otherwise.
    """
    try:
        return read(context.cursor)
    except ValueError:
        context.log.warning(
            f"the cursor {str(context.cursor)[:80]!r} was not written by this sensor, which starts again"
        )
        return read(None)

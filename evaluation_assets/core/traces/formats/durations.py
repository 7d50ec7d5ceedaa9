"""How long a run took, in the unit that its record states or confirms: a bare number may be seconds or milliseconds."""

from collections.abc import Iterable
from typing import Any

from evaluation_assets.core.traces.formats.times import elapsed_s, moment, seconds_of
from evaluation_assets.core.traces.formats.unmapped_fields import Fields
from evaluation_assets.core.traces.formats.untyped import as_number, in_both_cases, parsed

_BEGAN, _OVER = in_both_cases("started_at", "start_time"), in_both_cases("ended_at", "end_time", "finished_at")
"""Fields with the start and the end of a run, and of nothing else."""
STARTED = (*in_both_cases("timestamp", "created_at"), *_BEGAN, "created")
_ENDED = (*_OVER, *in_both_cases("completed_at", "end_timestamp"))
_REQUESTED = ("request", "response", "choices")
"""Fields of a request in a log, which may be one of several of a run."""
_SECONDS = in_both_cases("duration_s", "duration_seconds", "elapsed_seconds", "duration_sec", "latency_seconds")
_MILLISECONDS = in_both_cases("duration_ms", "elapsed_ms", "execution_time_ms", "total_duration_ms")
_NO_UNIT = in_both_cases("duration", "execution_time", "elapsed_time", "wall_time", "time_taken")

_SURE_BELOW = 1000
"""A number with decimals below this is in seconds, as clocks of Python count: a run takes more than a second."""
_LONGEST_S = 366 * 24 * 3600
"""A number of seconds up to this is how long something took, and no time since 1970."""
_TOLERANCE_S, _TOLERANCE = 1.0, 0.05
"""How far a duration may be from the time between the start and the end that its record states."""


def duration_of(figures: Fields, elapsed: float | None = None) -> float | None:
    """The duration of a run in seconds; `None`, and the field counted as unmapped, if its unit is not known.

    `elapsed` is the time between the start and the end that the record states.
    """
    if (seconds := figures.amount(*_SECONDS)) is not None:
        return seconds
    if (milliseconds := figures.amount(*_MILLISECONDS)) is not None:
        return milliseconds / 1000
    for name in _NO_UNIT:
        if (seconds := in_seconds(figures.peek(name), elapsed)) is not None:
            figures.set_aside(name)
            return seconds
    return None


def elapsed_in(fields: Fields) -> float | None:
    """Seconds between the start and the end of a run that its record states."""
    times = Fields({name: fields.peek(name) for name in (*STARTED, *_ENDED)})
    return elapsed_s(moment(times, *STARTED), moment(times, *_ENDED))


def between_start_and_end(fields: Fields) -> float | None:
    """Seconds between the start and the end of a run, if its record states both, and no other duration.

    A request in a log is none: it may be one of several of a run.
    """
    others = (*_REQUESTED, *_NO_UNIT)
    if any(name in fields for name in others) or not any(name in fields for name in _BEGAN):
        return None
    return elapsed_s(moment(fields, *_BEGAN), moment(fields, *_OVER))


def times_of(messages: Iterable[Fields]) -> tuple[str | None, float | None]:
    """When a conversation started, by the first of its messages that says so, and how long it took until the last.

    Messages that count from its start do not tell when that was.
    """
    times = [time for message in messages if (time := moment(message, *STARTED)) and seconds_of(time) is not None]
    if not times:
        return None, None
    is_date = (seconds_of(times[0]) or 0) > _LONGEST_S
    return times[0] if is_date else None, elapsed_s(times[0], times[-1]) if len(times) > 1 else None


def in_seconds(stated: Any, elapsed: float | None = None) -> float | None:
    """A duration without a unit in seconds, if the time that elapsed confirms one, or its size and form leave one."""
    amount = _amount(stated)
    if amount is None:
        return None
    if elapsed is not None:
        near = min((amount, amount / 1000), key=lambda seconds: abs(seconds - elapsed))
        if abs(near - elapsed) <= max(_TOLERANCE_S, _TOLERANCE * elapsed):
            return near
    has_decimals = isinstance(stated, float) or (isinstance(stated, str) and "." in stated)
    return amount if has_decimals and amount < _SURE_BELOW else None


def _amount(stated: Any) -> float | None:
    amount = as_number(parsed(stated) if isinstance(stated, str) else stated)
    return None if amount is None or not 0 <= amount < float("inf") else amount

"""One look at a source: the traces that ended since the last look become drops."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from math import inf

from upath import UPath

from evaluation_assets.core.intake.sources.drops import HOUR, HourDrop, hour_of
from evaluation_assets.core.intake.sources.settings import SourceSettings
from evaluation_assets.core.intake.sources.store import LateTraces, Trace, TraceStore, Wanted
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.traces.trajectories.identity import fraction_of

OVERLAP = timedelta(hours=1)
"""How far each look goes back behind the cursor, for traces that arrive late."""

_MOMENT = timedelta(microseconds=1)

MAX_NEW_TRACES = 500
MAX_SECONDS = 30.0
"""A sensor's tick has 60 seconds; the traces at hand are still written after this."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source of `sources.yaml`, with its name."""

    name: str
    settings: SourceSettings


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a look stops, to be continued by the next one."""

    traces: float = MAX_NEW_TRACES
    seconds: float = MAX_SECONDS


UNLIMITED = Limits(inf, inf)


@dataclass(slots=True)
class Look:
    """The outcome of a look: new traces by drop, and the time that the source was read up to.

    `replaced` counts the traces of which spans arrived after they were written into their drop.
    """

    cursor: datetime
    until: datetime
    added: Counter[str] = field(default_factory=Counter)
    replaced: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether all traces that have ended were seen."""
        return self.cursor >= self.until

    def __str__(self) -> str:
        said = f"{counted(self.added.total(), 'trace')} into {counted(len(self.added), 'drop')}"
        said += f", {counted(self.replaced, 'trace')} completed" if self.replaced else ""
        return said if self.is_complete else f"{said}; read up to {self.cursor:%Y-%m-%d %H:%M:%S} UTC, more follow"


def to_cursor(look: Look) -> str:
    """The time that the next look begins at, for Dagster."""
    return look.cursor.isoformat()


def first_look(settings: SourceSettings, now: datetime) -> datetime:
    """The time that a source is read from when there is no cursor."""
    return now - settings.since


def from_cursor(cursor: str | None, settings: SourceSettings, now: datetime) -> datetime:
    """The time that a look begins at.

    Raises:
        ValueError: the cursor is no time.
    """
    return datetime.fromisoformat(cursor).astimezone(UTC) if cursor else first_look(settings, now)


def collect(
    source: Source,
    store: TraceStore,
    drops: UPath,
    cursor: datetime,
    now: datetime,
    limits: Limits = Limits(),
    is_dry_run: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> Look:
    """Write the traces that ended between the cursor and the quiet time before now into drops.

    The source is read hour by hour. A trace is known by its ID from the drops of its hour and of the hour before, so
    that a look that is repeated, after a crash for instance, adds nothing twice.

    Args:
        source: name and settings.
        store: what the settings open.
        drops: the drops folder.
        cursor: up to where the source has been read.
        now: the present time.
        limits: where to stop.
        is_dry_run: write nothing.
        clock: seconds that pass.

    Raises:
        StoreError: the store gives no traces. What was read before is in drops.
    """
    look = Look(cursor, now - source.settings.quiet)
    stop_at = clock() + limits.seconds
    for after, until in _slices(cursor - OVERLAP, look.until):
        hour = HourDrop(drops, source.name, source.settings, hour_of(until))
        earlier = HourDrop(drops, source.name, source.settings, hour_of(until) - HOUR)
        new, is_whole = _new_traces(
            store.ended(after, until, _wanted(source, store, hour, earlier)),
            limits.traces - look.added.total(),
            lambda: clock() >= stop_at,
        )
        if new:
            look.added[hour.key] += len(new)
            if not is_dry_run:
                hour.add(new)
        look.cursor = max(look.cursor, until if is_whole else new[-1].ended_at if new else look.cursor)
        if not is_whole or (clock() >= stop_at and not look.is_complete):
            break
    if isinstance(store, LateTraces) and not is_dry_run:
        for trace in store.late(cursor - OVERLAP, look.cursor):
            hour = HourDrop(drops, source.name, source.settings, hour_of(trace.ended_at))
            look.replaced += hour.replace(trace, store)
    return look


def _slices(after: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
    """A span of time, cut into hours: `(after, until]`, where the last moment of an hour belongs to it."""
    while after < until:
        end = min(until, hour_of(after + _MOMENT) + HOUR - _MOMENT)
        yield after, end
        after = end


def _new_traces(traces: Iterator[Trace], most: float, is_over: Callable[[], bool]) -> tuple[list[Trace], bool]:
    """The first traces, in order of their ends, and whether they are all."""
    new: dict[str, Trace] = {}
    for trace in traces:
        if len(new) >= most:
            return list(new.values()), False
        new[trace.id] = trace
        if is_over():
            return list(new.values()), False
    return list(new.values()), True


def _wanted(source: Source, store: TraceStore, hour: HourDrop, earlier: HourDrop) -> Wanted:
    """Whether a trace is in the sample and in no drop. The drops are read when the first trace is asked about."""

    @cache
    def known() -> set[str]:
        return hour.ids(store) | earlier.ids(store)

    return lambda name: fraction_of(name) < source.settings.share and name not in known()

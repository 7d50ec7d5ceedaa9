"""Format-independent spans, span trees, and on-disk grouping of spans by trace."""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import IO, Any, Self

import orjson

from evaluation_assets.core.formats.base import Record, UnusableRecord
from evaluation_assets.core.trajectories.model import JsonObject

_SPOOL_BYTES = 8 << 20


@dataclass(slots=True, kw_only=True)
class Event:
    """An event of a span, e.g. an exception, or a message in conventions that record messages as events."""

    name: str
    attributes: JsonObject = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Span:
    """One operation. Times are seconds since 1970 and milliseconds; `error` is the reason of a failure.

    `scope` is the library that recorded it. `logs` are bodies of log records that belong to it.
    """

    id: str
    trace_id: str
    name: str = ""
    parent_id: str | None = None
    scope: str = ""
    service: str = ""
    start_s: float | None = None
    duration_ms: float | None = None
    error: str | None = None
    attributes: JsonObject = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    logs: list[Any] = field(default_factory=list)
    children: list["Span"] = field(default_factory=list)

    def walk(self) -> Iterator["Span"]:
        """This span and its descendants, parents first."""
        waiting: list[Span] = [self]
        while waiting:
            span = waiting.pop()
            yield span
            waiting.extend(reversed(span.children))


@dataclass(frozen=True, slots=True)
class Trace:
    """The spans of one trace as a forest, children by start time; `repeated` counts duplicate spans."""

    id: str
    roots: tuple[Span, ...]
    repeated: int = 0

    def walk(self) -> Iterator[Span]:
        """All spans, parents first."""
        for root in self.roots:
            yield from root.walk()


def trace_of(trace_id: str, spans: Iterable[Span]) -> Trace:
    """Build the tree of a trace's spans, given in any order. A span that was exported twice counts once.

    A span whose parent is missing is a root, as is the first span of a cycle.
    """
    by_id: dict[str, Span] = {}
    given = 0
    for span in spans:
        given += 1
        by_id.setdefault(span.id, span)
    roots: list[Span] = []
    for span in by_id.values():
        parent = by_id.get(span.parent_id or "")
        if parent is None or _is_below(parent, span, by_id):
            span.parent_id = None
            roots.append(span)
        else:
            parent.children.append(span)
    for span in by_id.values():
        span.children.sort(key=_begin)
    return Trace(trace_id, tuple(sorted(roots, key=_begin)), given - len(by_id))


def _begin(span: Span) -> float:
    return float("inf") if span.start_s is None else span.start_s


def _is_below(span: Span | None, above: Span, by_id: dict[str, Span]) -> bool:
    """Whether `above` is an ancestor of `span`."""
    visited: set[str] = set()
    while span is not None and span.id not in visited:
        if span is above:
            return True
        visited.add(span.id)
        span = by_id.get(span.parent_id or "")
    return False


class SpanSpool:
    """Spools spans until a trace is complete, in memory while they are few, then in a temporary file."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(_SPOOL_BYTES)  # noqa: SIM115
        self._numbers: dict[str, int] = {}
        self._starts: list[tuple[str, int]] = []
        self._places: list[tuple[int, int, int]] = []
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, span: Span, source: str, line: int) -> None:
        """Add a span, read from this record of the file `source`.

        Raises:
            UnusableRecord: its attributes are nested too deeply.
        """
        try:
            content = orjson.dumps(span)
        except orjson.JSONEncodeError as problem:
            raise UnusableRecord("bad_json", f"span {span.id} cannot be stored: {problem}") from problem
        number = self._numbers.setdefault(span.trace_id, len(self._numbers))
        if number == len(self._starts):
            self._starts.append((source, line))
        self._places.append((number, self._end, len(content)))
        self._file.write(content)
        self._end += len(content)

    def traces(self) -> Iterator[Record]:
        """Yield each trace in order of its first span, located at that span; `trace_in` returns the spans."""
        names = list(self._numbers)
        for number, places in groupby(sorted(self._places), key=itemgetter(0)):
            source, line = self._starts[number]
            lines = (self._line(start, length) for _, start, length in places)
            yield Record(source, line, names[number], b"[" + b",".join(lines) + b"]")

    def _line(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        return self._file.read(length)


def trace_in(record: Record) -> Trace:
    """Load the trace of a spool record."""
    return trace_of(record.data, map(_span_of, orjson.loads(record.raw)))


def _span_of(data: JsonObject) -> Span:
    data["events"] = [Event(**event) for event in data["events"]]
    return Span(**data)

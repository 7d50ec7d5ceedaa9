"""Format-independent spans and span trees."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation_assets.core.traces.formats.pauses import error_of_run
from evaluation_assets.core.traces.trajectories.model import JsonObject


@dataclass(slots=True, kw_only=True)
class Event:
    """An event of a span, e.g. an exception, or a message in conventions that record messages as events."""

    name: str
    attributes: JsonObject = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Span:
    """One operation. Times are seconds since 1970 and milliseconds; `error` is the reason of a failure.

    `scope` is the library that recorded it, `service` the program, with its `service_version`. `logs` are bodies of
    log records that belong to it. A span that is only a `log` has the event of a log record, for the span with the
    same ID.
    """

    id: str
    trace_id: str
    name: str = ""
    parent_id: str | None = None
    scope: str = ""
    service: str = ""
    service_version: str = ""
    start_s: float | None = None
    duration_ms: float | None = None
    error: str | None = None
    attributes: JsonObject = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    logs: list[Any] = field(default_factory=list)
    log: bool = False
    children: list["Span"] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.error = error_of_run(self.error)

    def walk(self) -> Iterator["Span"]:
        """This span and its descendants, parents first."""
        waiting: list[Span] = [self]
        while waiting:
            span = waiting.pop()
            yield span
            waiting.extend(reversed(span.children))


@dataclass(frozen=True, slots=True)
class Trace:
    """The spans of one trace as a forest, children by start time; `repeated` counts duplicate spans.

    `orphans` counts spans whose parent is missing. A trace whose roots all have the same missing parent has none: it
    begins below a span of another program.
    """

    id: str
    roots: tuple[Span, ...]
    repeated: int = 0
    orphans: int = 0

    def walk(self) -> Iterator[Span]:
        """All spans, parents first."""
        for root in self.roots:
            yield from root.walk()


def trace_of(trace_id: str, spans: Iterable[Span]) -> Trace:
    """Build the tree of a trace's spans, given in any order. A span that was exported twice counts once.

    A span whose parent is missing is a root, as is the first span of a cycle. Log records add their events to their
    spans; one whose span is missing counts as an orphan.
    """
    by_id: dict[str, Span] = {}
    given = 0
    logged: list[Span] = []
    for span in spans:
        if span.log:
            logged.append(span)
            continue
        given += 1
        by_id.setdefault(span.id, span)
    lost = 0
    for record in sorted(logged, key=_begin):
        if (span := by_id.get(record.id)) is None:
            lost += 1
        else:
            span.events += record.events
    roots: list[Span] = []
    missing: list[str] = []
    for span in by_id.values():
        parent = by_id.get(span.parent_id or "")
        if parent is None or _is_below(parent, span, by_id):
            missing += [span.parent_id] if parent is None and span.parent_id else []
            span.parent_id = None
            roots.append(span)
        else:
            parent.children.append(span)
    for span in by_id.values():
        span.children.sort(key=_begin)
    whole = len(missing) == len(roots) and len(set(missing)) == 1
    return Trace(trace_id, tuple(sorted(roots, key=_begin)), given - len(by_id), (0 if whole else len(missing)) + lost)


def joined(traces: Sequence[Trace]) -> Trace:
    """The traces of a conversation as one, in time order, with the ID of the first. Span IDs may repeat."""
    ordered = sorted(traces, key=lambda trace: min((_begin(span) for span in trace.walk()), default=float("inf")))
    return Trace(
        ordered[0].id,
        tuple(root for trace in ordered for root in trace.roots),
        sum(trace.repeated for trace in ordered),
        sum(trace.orphans for trace in ordered),
    )


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

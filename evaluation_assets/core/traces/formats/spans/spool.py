"""Spool spans to disk until all files of a drop are read, then give them back a conversation at a time."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from typing import IO, Any, Self

import orjson

from evaluation_assets.core.traces.formats.base import Record, UnusableRecord
from evaluation_assets.core.traces.formats.spans.attributes import kind_of
from evaluation_assets.core.traces.formats.spans.naming import agent_of
from evaluation_assets.core.traces.formats.spans.run_facts import task_in
from evaluation_assets.core.traces.formats.spans.tree import Event, Span, Trace, joined, trace_of
from evaluation_assets.core.traces.trajectories.model import JsonObject

_SPOOL_BYTES = 8 << 20
_CONVERSATION = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "traceloop.association.properties.conversation_id",
    "traceloop.association.properties.thread_id",
    "traceloop.association.properties.session_id",
    "ai.telemetry.metadata.sessionId",
    "gcp.vertex.agent.session_id",
)
"""Attributes that traces of one conversation share, the most specific first."""


@dataclass(slots=True)
class _Spooled:
    """What is known of a trace in the spool: its number, the place of its first span, times, conversation, task."""

    number: int
    source: str
    line: int
    begin: float | None = None
    end: float | None = None
    spans: int = 0
    conversation: tuple[int, str] | None = None
    task: str | None = None


class SpanSpool:
    """Spools spans until a trace is complete, in memory while they are few, then in a temporary file."""

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(_SPOOL_BYTES)  # noqa: SIM115
        self._traces: dict[str, _Spooled] = {}
        self._groups: dict[str, str] = {}
        self._places: list[tuple[int, int, int]] = []
        self._end = 0
        self.agents: dict[str, set[str]] = {}
        """The agents whose own spans a service wrote."""

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
        trace = self._traces.setdefault(span.trace_id, _Spooled(len(self._traces), source, line))
        if span.start_s is not None:
            end = span.start_s + (span.duration_ms or 0) / 1000
            trace.begin = span.start_s if trace.begin is None else min(trace.begin, span.start_s)
            trace.end = end if trace.end is None else max(trace.end, end)
        trace.spans += 1
        if span.parent_id is None and not span.log:
            trace.task = trace.task or task_in(span)
        if kind_of(span) == "agent" and (agent := agent_of(span)) is not None:
            self.agents.setdefault(span.service, set()).add(agent)
        trace.conversation = min(filter(None, (trace.conversation, _conversation(span))), default=None)
        self._places.append((trace.number, self._end, len(content)))
        self._file.write(content)
        self._end += len(content)

    def belongs(self, trace_id: str, conversation: str) -> None:
        """Name the conversation of a trace, whether or not it has spans yet."""
        self._groups[trace_id] = conversation

    def traces(self) -> Iterator[Record]:
        """Yield each trace, or all traces of a conversation, located at its first span.

        They come in the order of their first spans, traces that begin with their only span after the others;
        `trace_in` returns the spans.
        """
        first = self._first_of_conversation()
        spooled = list(self._traces.values())
        names = list(self._traces)
        places = sorted(
            (spooled[first[number]].spans == 1, first[number], start, length) for number, start, length in self._places
        )
        for (_, number), group in groupby(places, key=itemgetter(0, 1)):
            trace = spooled[number]
            lines = (self._line(start, length) for _, _, start, length in group)
            yield Record(trace.source, trace.line, names[number], b"[" + b",".join(lines) + b"]")

    def _first_of_conversation(self) -> list[int]:
        """For each trace, the number of the first one of its conversation.

        Traces that overlap in time, or name different tasks, are no turns of a conversation and are not joined: a
        session may have many tasks.
        """
        groups: dict[tuple[int, str], list[_Spooled]] = {}
        for name, trace in self._traces.items():
            conversation = (-1, self._groups[name]) if name in self._groups else trace.conversation
            if conversation is not None:
                groups.setdefault(conversation, []).append(trace)
        first = list(range(len(self._traces)))
        for group in groups.values():
            times = sorted((trace.begin, trace.end) for trace in group if trace.begin is not None)
            follow = all((one[1] or 0) <= next_one[0] for one, next_one in pairwise(times))
            if len(times) == len(group) and follow and len({trace.task for trace in group} - {None}) < 2:
                for trace in group:
                    first[trace.number] = group[0].number
        return first

    def _line(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        return self._file.read(length)


def trace_in(record: Record) -> Trace:
    """Load the trace of a spool record; several traces of a conversation are joined."""
    spans: dict[str, list[Span]] = {}
    for data in orjson.loads(record.raw):
        span = _span_of(data)
        spans.setdefault(span.trace_id, []).append(span)
    return joined([trace_of(name, of_trace) for name, of_trace in spans.items()])


def _conversation(span: Span) -> tuple[int, str] | None:
    names: list[tuple[int, Any]] = [(rank, span.attributes.get(key)) for rank, key in enumerate(_CONVERSATION)]
    return next(((rank, value) for rank, value in names if isinstance(value, str) and value.strip()), None)


def _span_of(data: JsonObject) -> Span:
    data["events"] = [Event(**event) for event in data["events"]]
    return Span(**data)

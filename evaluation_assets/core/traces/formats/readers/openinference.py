"""OpenInference spans as JSON: traces with nested spans, or one span per record.

Patronus exports nested traces (`spans` with `child_spans` and `span_attributes`). OpenTelemetry's console exporter and
Phoenix write one span per record (`context`, `parent_id`, `attributes`), or one row of a table; Phoenix's API answers
with a list of spans in `data`; ADOT and CloudWatch have the IDs of a span beside its attributes. Annotations of a trace
(`errors` with their span, `scores`) may be in other files of the drop, and those of Phoenix beside the spans in
`annotations`; they become labels.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import (
    DropFile,
    Record,
    Rejection,
    UnusableRecord,
    any_record,
)
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.isolation import usable
from evaluation_assets.core.traces.formats.spans import logfire
from evaluation_assets.core.traces.formats.spans.drop_log import DropLog
from evaluation_assets.core.traces.formats.spans.flat_spans import (
    error_of,
    event_of,
    flat_span,
    spans_in,
)
from evaluation_assets.core.traces.formats.spans.phoenix_annotations import labels_of
from evaluation_assets.core.traces.formats.spans.spool import SpanSpool
from evaluation_assets.core.traces.formats.spans.transcripts import each_trace, trajectory_of
from evaluation_assets.core.traces.formats.spans.tree import Span, trace_of
from evaluation_assets.core.traces.formats.times import seconds_of
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, list_in, object_in, objects_in
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

NAME = "openinference"
DESCRIPTION = (
    "spans as objects, with OpenInference or GenAI attributes: nested traces with span_attributes, or one span per "
    "record (console exporter, Phoenix, ADOT, CloudWatch, Logfire, AgentOps, Zipkin, Datadog); with annotations"
)
DETECTION = (
    "records with trace_id and spans that have span_attributes; with a trace and a span ID in context, or beside a "
    "name and attributes; a list of such records in data or spans; traces of AgentOps; rows of the records "
    "of Logfire, single or in rows; or records with gen_ai.output.messages, which are the attributes of a request"
)

_DURATION = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?")
_SECONDS = (86400, 3600, 60, 1)


@dataclass(slots=True)
class _Annotations:
    """Human annotations by trace. They are kept in memory, since they are small compared with the traces."""

    of: dict[str, JsonObject] = field(default_factory=dict)
    of_phoenix: dict[str, list[JsonObject]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    drop: DropLog = field(default_factory=DropLog)


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per trace."""
    own, annotations = _looked_through(files)
    records = (
        record
        for file in files
        for record in (
            read_records(file)
            if file.source in own
            else [Rejection(file.source, 1, "not_this_format", f"no record of this file is in format {NAME}", "")]
        )
    )
    labelled = partial(_labelled, annotations, unmapped)
    yield from each_trace(records, NAME, unmapped, partial(_read, annotations, unmapped), labelled, annotations.drop)
    for name in annotations.of:
        if name not in annotations.used:
            unmapped.count("annotations (of a trace that is not in the drop)")


def _looked_through(files: Sequence[DropFile]) -> tuple[set[str], _Annotations]:
    """Find the files with records of this format, and their annotations."""
    own: set[str] = set()
    annotations = _Annotations()
    for file in files:
        for record in read_records(file.unwatched):
            if isinstance(record, Rejection):
                continue
            if _is_annotation(record.data):
                annotations.of[record.data.get("trace_id") or _stem(record.source)] = record.data
            elif _is_of_phoenix(record.data):
                listed = objects_in(list_in(record.data["annotations"]))
                annotations.of_phoenix.setdefault(record.data["trace_id"], []).extend(listed)
            elif not (_is_trace(record.data) or spans_in(record.data)):
                continue
            own.add(file.source)
    return own, annotations


def _read(
    annotations: _Annotations, unmapped: UnmappedFields, spool: SpanSpool, record: Record
) -> Trajectory | Rejection | None:
    """Build the trajectory of a nested trace; single spans are spooled, and annotations were read in the first pass."""
    if _is_annotation(record.data):
        return None
    if not spans_in(record.data):
        if logfire.is_row(record.data):  # a row of a span that had only started
            return None
        return usable(record, lambda record: _nested(record, annotations, unmapped), is_whole=True)
    for span in spans_in(record.data):
        spool.add(flat_span(span, unmapped), record.source, record.line)
    return None


def _nested(record: Record, annotations: _Annotations, unmapped: UnmappedFields) -> Trajectory:
    if not _is_trace(record.data):
        raise UnusableRecord("wrong_type", "the record is not a trace, a span or an annotation")
    with unmapped.reading(record.data, "traces[].") as data:
        name = data.name("trace_id") or ""
        spans: list[Span] = []
        waiting = [(span, None) for span in reversed(data.objects("spans"))]
        while waiting:
            fields, parent = waiting.pop()
            span = _span(fields, name, parent, unmapped)
            if span is not None:
                spans.append(span)
            below = None if span is None else span.id
            waiting += [(child, below) for child in reversed(fields.objects("child_spans"))]
    run = trajectory_of(trace_of(name, spans), NAME, unmapped, annotations.drop)
    return _labelled(annotations, unmapped, run)


def _span(fields: Fields, trace_id: str, parent: str | None, unmapped: UnmappedFields) -> Span | None:
    name = fields.name("span_id")
    fields.set_aside("trace_id", "trace_state", "span_kind", "scope_version", "links")
    fields.set_aside("resource_attributes")
    if name is None:
        unmapped.count("spans[] (without an id)")
        fields.rest()
        return None
    logs = []
    for log in fields.objects("logs"):
        logs.append(log.value("body"))
        log.rest()
    events = [event_of(event) for event in fields.objects("events")]
    attributes = fields.object("span_attributes").rest()
    failed = (fields.text("status_code") or "").lower().endswith("error")
    return Span(
        id=name,
        trace_id=trace_id,
        parent_id=fields.name("parent_span_id") or parent,
        name=fields.text("span_name") or "",
        scope=fields.text("scope_name") or "",
        service=fields.text("service_name") or "",
        start_s=seconds_of(fields.text("timestamp")),
        duration_ms=_milliseconds(fields.text("duration")),
        error=error_of(fields.text("status_message"), events) if failed else None,
        attributes={key: value for key, value in attributes.items() if not key.startswith("pat.")},
        events=events,
        logs=logs,
    )


def _labelled(annotations: _Annotations, unmapped: UnmappedFields, run: Trajectory) -> Trajectory:
    """Add the annotations of a trajectory's traces to it."""
    traces = run.extra.get("trace_ids", [run.extra.get("trace_id")])
    of_phoenix = [one for name in traces for one in annotations.of_phoenix.get(name, ())]
    if of_phoenix:
        run = replace(run, labels={**run.labels, **labels_of(of_phoenix, run.extra.get("spans", {}))})
    names = [name for name in traces if name in annotations.of]
    if not names:
        return run
    annotations.used.update(names)
    steps = run.extra.get("spans", {})
    errors: list[JsonObject] = []
    scores: list[JsonObject] = []
    for name in names:
        with unmapped.reading(annotations.of[name], "annotations[].") as fields:
            fields.set_aside("trace_id")
            stated_errors = objects_in(fields.items("errors"))
            errors += [{**error, "step": steps.get(str(error.get("location")))} for error in stated_errors]
            scores += objects_in(fields.items("scores"))
    labels = {"errors": errors, "scores": scores[0] if len(scores) == 1 else scores}
    return replace(run, labels={**run.labels, **labels})


def _milliseconds(text: str | None) -> float | None:
    """Parse an ISO 8601 duration such as PT1M4.5S."""
    match = _DURATION.fullmatch(text or "")
    if match is None or not any(match.groups()):
        return None
    return sum(float(part) * unit for part, unit in zip(match.groups(), _SECONDS, strict=True) if part) * 1000


def _is_trace(data: Any) -> bool:
    first = next(iter(list_in(at(data, "spans"))), None)
    return "trace_id" in object_in(data) and "span_attributes" in object_in(first)


def _is_annotation(data: Any) -> bool:
    """Whether a record is an annotation of a trace; without a `trace_id`, its file name identifies the trace."""
    if not isinstance(data, dict) or not isinstance(data.get("trace_id"), str | None) or "spans" in data:
        return False
    return isinstance(data.get("errors"), list) or isinstance(data.get("scores"), list)


def _is_of_phoenix(data: Any) -> bool:
    """Whether a record has the spans of a trace in Phoenix, and its annotations."""
    return isinstance(data, dict) and isinstance(data.get("trace_id"), str) and "annotations" in data and "data" in data


def _stem(source: str) -> str:
    return posixpath.basename(source).partition(".")[0]


detect = any_record(lambda record: _is_trace(record) or bool(spans_in(record)))

"""MLflow traces: `Trace.to_dict()` and `Trace.to_json()`, and rows of `mlflow.search_traces()`.

A trace is one trajectory, and so are the traces of one session that follow each other. Attributes of spans are JSON
texts (`mlflow.spanInputs`, `mlflow.spanOutputs`); assessments become labels: those of a judge as recorded verdicts,
expectations as expected values.
"""

import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, UnusableRecord, any_record
from evaluation_assets.core.traces.formats.context import reference
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.isolation import each_own_file
from evaluation_assets.core.traces.formats.spans.flat_spans import error_of
from evaluation_assets.core.traces.formats.spans.spool import SpanSpool
from evaluation_assets.core.traces.formats.spans.stored import attributes_of, usage_attributes
from evaluation_assets.core.traces.formats.spans.transcripts import each_trace
from evaluation_assets.core.traces.formats.spans.tree import Event, Span
from evaluation_assets.core.traces.formats.transcript import as_text, total
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import (
    as_object,
    at,
    first_text,
    list_in,
    object_in,
    objects_in,
    parsed,
    without_none,
)
from evaluation_assets.core.traces.formats.usage import confirm, usage_of
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory, Usage
from evaluation_assets.core.traces.trajectories.recorded import RecordedVerdict, labelled, verdict_on_run

NAME = "mlflow"
DESCRIPTION = "MLflow traces: Trace.to_dict(), Trace.to_json() and rows of mlflow.search_traces(); with assessments"
DETECTION = "objects with info and data.spans, or rows with trace and spans, whose spans have mlflow attributes"

_BASE64 = re.compile(r"[A-Za-z0-9+/]{11}=")
_FAILED = ("STATUS_CODE_ERROR", "ERROR")
_CACHED = ("cache_read_input_tokens", "cache_creation_input_tokens")
_EXPECTED = ("expected_response", "expected_output", "ground_truth", "expected_answer")


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per trace. Traces of one session that follow each other are joined."""
    about: dict[str, _About] = {}
    records = each_own_file(files, detect, NAME, read_records)
    return each_trace(records, NAME, unmapped, partial(_keep, about, unmapped), partial(_labelled, about, unmapped))


@dataclass(frozen=True, slots=True)
class _About:
    """What is said about a trace outside of its spans."""

    session: str | None
    assessments: list[Any]
    usage: Usage | None


def _keep(about: dict[str, _About], unmapped: UnmappedFields, spool: SpanSpool, record: Record) -> None:
    """Spool the spans of a trace.

    Raises:
        UnusableRecord: the record is not a trace.
    """
    row = record.json_object()
    trace = as_object(row.get("trace")) or row
    info = {**row, **object_in(trace.get("info"))}
    spans = list(objects_in(at(trace.get("data"), "spans"))) or list(objects_in(row.get("spans")))
    name = first_text(info, "trace_id", "request_id") or f"trace-{record.line}"
    made = [span for one in spans if (span := _span(one, name, unmapped)) is not None]
    if not made:
        raise UnusableRecord("no_trajectory_text", "the trace has no spans")
    metadata = {**object_in(info.get("request_metadata")), **object_in(info.get("trace_metadata"))}
    session = first_text(metadata, "mlflow.trace.session")
    counts = object_in(_plain(metadata.get("mlflow.trace.tokenUsage")))
    about[name] = _About(session, list_in(info.get("assessments")), usage_of(Fields(counts)))
    if session is not None:
        spool.belongs(name, session)
    for span in made:
        spool.add(span, record.source, record.line)


def _labelled(about: dict[str, _About], unmapped: UnmappedFields, run: Trajectory) -> Trajectory:
    """The trajectory with the session and the assessments of its traces."""
    known = [about[name] for name in run.extra.get("trace_ids", [run.id])]
    confirm(unmapped.stated, _as_counted(total(each.usage for each in known), run.usage), run.usage)
    labels, expected = _assessed([one for each in known for one in each.assessments])
    session = known[0].session
    return replace(
        run,
        reference_answer=run.reference_answer or expected,
        labels={**run.labels, **labels},
        extra=run.extra if session is None else {**run.extra, "session_id": session},
    )


def _span(data: JsonObject, trace_id: str, unmapped: UnmappedFields) -> Span | None:
    """Read a span of MLflow 3, or of MLflow 2, which has its IDs in a context."""
    context, status = object_in(data.get("context")), object_in(data.get("status"))
    name = _id_in(first_text({**context, **data}, "span_id"))
    if name is None:
        unmapped.count("spans[] (without an id)")
        return None
    start = _nanoseconds(data, "start_time_unix_nano", "start_time")
    end = _nanoseconds(data, "end_time_unix_nano", "end_time")
    code = first_text(status, "code") or first_text(data, "status_code") or ""
    events = [
        Event(name=first_text(event, "name") or "", attributes=object_in(event.get("attributes")))
        for event in objects_in(data.get("events"))
    ]
    message = first_text(status, "message") or first_text(data, "status_message")
    attributes = {key: _plain(value) for key, value in object_in(data.get("attributes")).items()}
    title = first_text(data, "name") or ""
    return Span(
        id=name,
        trace_id=trace_id,
        parent_id=_id_in(first_text(data, "parent_span_id", "parent_id")),
        name=title,
        start_s=None if start is None else start / 1e9,
        duration_ms=None if start is None or end is None or end < start else (end - start) / 1e6,
        error=error_of(message, events) if code in _FAILED else None,
        attributes=_attributes(title, attributes, unmapped),
        events=[event for event in events if event.name != "exception"],
    )


def _attributes(name: str, own: JsonObject, unmapped: UnmappedFields) -> JsonObject:
    with unmapped.reading(own, "spans[].attributes.") as fields:
        kind = fields.text("mlflow.spanType") or "UNKNOWN"
        given, said = fields.value("mlflow.spanInputs"), fields.value("mlflow.spanOutputs")
        tools, model = fields.value("mlflow.chat.tools"), fields.text("mlflow.llm.model")
        usage = usage_attributes(
            _with_cached(fields.value("mlflow.chat.tokenUsage", "usage"), object_in(at(said, "usage"))),
            at(fields.value("mlflow.llm.cost"), "total_cost"),
        )
        _set_aside(fields, given)
        if kind == "AGENT" and object_in(said).keys() == {"output_type"}:
            said = None  # the Agents SDK records an agent's type of output, not its output
        if kind == "AGENT" and own.get("mlflow.openai.agent_run_root") is True:
            kind = "CHAIN"  # around the spans of the agents themselves
        return attributes_of(kind, name, given, said, unmapped, model=model, tools=tools, usage=usage)


def _as_counted(stated: Usage | None, read: Usage | None) -> Usage | None:
    """The total of a trace, with the cached tokens that were read beside the input if it lacks just these."""
    if stated is None or read is None or read.input_tokens is None:
        return stated
    lacking = stated.input_tokens == read.input_tokens - (read.cached_tokens or 0) - (read.cache_write_tokens or 0)
    return replace(stated, input_tokens=read.input_tokens) if stated.cached_tokens is None and lacking else stated


def _with_cached(counts: Any, own: JsonObject) -> Any:
    """The tokens of a span, with the cached ones that Anthropic's response counts beside its input.

    Where MLflow's own count leaves these out, so does its total.
    """
    cached = {key: own[key] for key in _CACHED if own.get(key)}
    if not cached or not isinstance(counts, dict) or counts.get("input_tokens") != own.get("input_tokens"):
        return counts
    if any(key in counts for key in _CACHED):
        return counts
    return {**{key: value for key, value in counts.items() if key != "total_tokens"}, **cached}


def _set_aside(fields: Fields, given: Any) -> None:
    """Autologging repeats the fields of the request as attributes."""
    fields.set_aside(*object_in(given))
    fields.set_aside(
        "mlflow.traceRequestId", "mlflow.spanFunctionName", "mlflow.spanLogLevel", "mlflow.message.format",
        "mlflow.openai.agent_run_root", "mlflow.llm.provider", "kwargs", "model_config", "extra_headers",
        "handoffs", "tools", "output_type", "invocation_params", "options", "metadata",
    )  # fmt: skip


def _id_in(text: str | None) -> str | None:
    """A span's ID in hexadecimal digits, as MLflow shows it; `to_dict()` writes its bytes in base64."""
    if text is None or _BASE64.fullmatch(text) is None:
        return text
    return b64decode(text).hex()


def _plain(value: Any) -> Any:
    """The value of an attribute, which MLflow stores as JSON text."""
    return parsed(value) if isinstance(value, str) else value


def _nanoseconds(data: JsonObject, *keys: str) -> float | None:
    value = next((data[key] for key in keys if data.get(key) is not None), None)
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:
        value = int(value)
    return value if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e19 else None


def _assessed(assessments: list[Any]) -> tuple[JsonObject, str | None]:
    """The labels of assessments, and the expected answer."""
    verdicts: list[RecordedVerdict] = []
    feedback: list[JsonObject] = []
    expectations: JsonObject = {}
    for one in objects_in(assessments):
        name = first_text(one, "assessment_name", "name") or "feedback"
        source = object_in(one.get("source"))
        if one.get("valid") is False:  # replaced by another one
            continue
        if isinstance(expectation := one.get("expectation"), dict):
            expectations[name] = _plain(at(expectation.get("serialized_value"), "value")) or expectation.get("value")
            continue
        value, why = at(one.get("feedback"), "value"), first_text(one, "rationale")
        if source.get("source_type") in ("LLM_JUDGE", "AI_JUDGE") and value is not None:
            is_score = isinstance(value, int | float)
            verdicts.append(
                verdict_on_run(
                    judge=first_text(source, "source_id") or name,
                    scores={name: float(value)} if is_score else {},
                    verdict=None if is_score else as_text(value),
                    reasoning=why,
                )
            )
        elif value is not None:
            entry = {"name": name, "value": value, "source": source.get("source_type"), "rationale": why}
            feedback.append(without_none(entry))
    labels = {
        **labelled(verdicts),
        **({"feedback": feedback} if feedback else {}),
        **({"expectations": expectations} if expectations else {}),
    }
    return labels, next((expected for key in _EXPECTED if (expected := reference(expectations.get(key)))), None)


def _is_trace(data: Any) -> bool:
    if not isinstance(data, dict):
        return False
    if isinstance(data.get("info"), dict) and isinstance(at(data.get("data"), "spans"), list):
        return any(key in data["info"] for key in ("trace_id", "request_id"))
    return "trace" in data and isinstance(data.get("spans"), list) and any(map(_has_mlflow, objects_in(data["spans"])))


def _has_mlflow(span: JsonObject) -> bool:
    return any(key.startswith("mlflow.") for key in object_in(span.get("attributes")))


detect = any_record(_is_trace)

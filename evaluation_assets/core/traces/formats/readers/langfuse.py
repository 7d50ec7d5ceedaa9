"""Langfuse exports: traces with their observations, lists of observations, and scores.

The API gives a trace with its observations and scores, or a page of observations (`data`); a download of a trace in the
UI has `trace` and `observations`; exports of the observations table and to blob storage have one observation per
record. Names are in camel or snake case. Scores become labels: those of an evaluator as recorded verdicts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from evaluation_assets.core.text.nullable import sum_of
from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, Sample, UnusableRecord, any_record
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.isolation import each_own_file
from evaluation_assets.core.traces.formats.spans.langfuse_observations import langfuse_usage, observation_attributes
from evaluation_assets.core.traces.formats.spans.spool import SpanSpool
from evaluation_assets.core.traces.formats.spans.store_export import seconds
from evaluation_assets.core.traces.formats.spans.transcripts import each_trace
from evaluation_assets.core.traces.formats.spans.tree import Span
from evaluation_assets.core.traces.formats.times import span_ms
from evaluation_assets.core.traces.formats.transcript import as_text
from evaluation_assets.core.traces.formats.unmapped_fields import Fields, UnmappedFields
from evaluation_assets.core.traces.formats.untyped import at, decoded, first_text, object_in, objects_in
from evaluation_assets.core.traces.formats.usage import confirm
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory, Usage
from evaluation_assets.core.traces.trajectories.recorded import RecordedVerdict, labelled, verdict_on_run

NAME = "langfuse"
DESCRIPTION = "Langfuse exports: traces with observations, lists of observations, scores"
DETECTION = "objects with observations that have a type; records with an id, a trace id, a type and a start time"

_TYPES = ("SPAN", "EVENT", "GENERATION", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL")


def read(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """Yield one trajectory or rejection per trace, in order of their first observation."""
    about = _Traces()
    records = each_own_file(files, lambda sample: detect(sample) or _has_scores(sample), NAME, read_records)
    return each_trace(records, NAME, unmapped, partial(_keep, about, unmapped), partial(_labelled, about, unmapped))


@dataclass(slots=True)
class _Traces:
    """What is said about traces outside of their observations, by trace: fields of the trace, scores, and costs."""

    fields: dict[str, JsonObject] = field(default_factory=dict)
    scores: dict[str, list[JsonObject]] = field(default_factory=dict)
    costs: dict[str, float | None] = field(default_factory=dict)


def _keep(about: _Traces, unmapped: UnmappedFields, spool: SpanSpool, record: Record) -> None:
    """Spool the observations of a record, and keep what it says about traces."""
    data = _camel(record.json_object())
    if _is_score(data):
        about.scores.setdefault(str(data["traceId"]), []).append(data)
        return
    download = object_in(data.get("trace"))
    trace = download or data
    observations = _observations(data)
    if not observations:
        raise UnusableRecord("no_trajectory_text", "the trace has no observations; export it with its observations")
    name = first_text(trace, "id") if "observations" in data else None
    if name is not None:
        about.costs[name] = number if isinstance(number := trace.get("totalCost"), int | float) else None
        kept = ("name", "sessionId", "userId", "tags", "release", "version", "environment")
        about.fields[name] = {key: trace[key] for key in kept if trace.get(key)}
        beside = objects_in(data.get("scores")) if download else ()
        for score in (*objects_in(trace.get("scores")), *beside):
            about.scores.setdefault(name, []).append(score)
    session = first_text(trace, "sessionId")
    for observation in observations:
        span = _span(_camel(observation), name, unmapped)
        session = first_text(_camel(observation), "sessionId") or session
        if session is not None:
            spool.belongs(span.trace_id, session)
            about.fields.setdefault(span.trace_id, {}).setdefault("sessionId", session)
        spool.add(span, record.source, record.line)


def _span(data: JsonObject, trace: str | None, unmapped: UnmappedFields) -> Span:
    with unmapped.reading(data, "observations[].") as fields:
        name, trace_id = fields.name("id"), fields.name("traceId") or trace
        if name is None or trace_id is None:
            raise UnusableRecord("wrong_type", "the observation has no id or no trace id")
        kind, title = fields.text("type") or "SPAN", fields.text("name") or ""
        start, end = (seconds(fields.value(key)) for key in ("startTime", "endTime"))
        counts = decoded(fields.value("usageDetails")) or fields.value("usage") or _counts_beside(fields)
        costs = decoded(fields.value("costDetails"))
        failed = (fields.text("level") or "").upper() == "ERROR"
        message = fields.text("statusMessage")
        recorded = object_in(decoded(at(decoded(fields.value("metadata")), "attributes")))
        attributes = observation_attributes(
            kind,
            title,
            fields.value("input"),
            fields.value("output"),
            unmapped,
            model=fields.text("model", "providedModelName"),
            usage=langfuse_usage(
                counts, at(costs, "total") or fields.number("totalCost", "calculatedTotalCost"), unmapped.stated
            ),
            recorded=recorded,
        )
        fields.rest()
        return Span(
            id=name,
            trace_id=trace_id,
            parent_id=fields.name("parentObservationId"),
            name=title,
            start_s=start,
            duration_ms=span_ms(start, end),
            error=(message or "error") if failed else None,
            attributes=attributes,
        )


def _counts_beside(observation: Fields) -> JsonObject | None:
    """The tokens as older versions and exports of tables have them, where 0 is unknown."""
    given = observation.whole("promptTokens") or observation.whole("inputUsage")
    written = observation.whole("completionTokens") or observation.whole("outputUsage")
    return {"input": given or 0, "output": written or 0} if given or written else None


def _labelled(about: _Traces, unmapped: UnmappedFields, run: Trajectory) -> Trajectory:
    """The trajectory with what is known of its trace, or of all traces of its session."""
    traces = run.extra.get("trace_ids", [run.id])
    known = about.fields.get(run.id, {})
    costs = [about.costs.get(trace) for trace in traces]
    if all(costs):
        confirm(unmapped.stated, Usage(cost_usd=sum_of(costs)), run.usage)
        recorded = [step.usage.recorded_cost_usd for step in run.steps if step.usage is not None]
        if run.usage is not None and run.usage.is_list_price and not any(recorded):  # a sum of some would be too little
            run = replace(run, usage=replace(run.usage, cost_usd=sum_of(costs), is_list_price=False))
    session = {"session_id": known.get("sessionId"), "trace_name": known.get("name"), "tags": known.get("tags")}
    return replace(
        run,
        labels={**run.labels, **_scored([score for trace in traces for score in about.scores.get(trace, [])])},
        extra={**run.extra, **{key: value for key, value in session.items() if value}},
    )


def _scored(scores: Sequence[JsonObject]) -> JsonObject:
    verdicts: list[RecordedVerdict] = []
    others: list[JsonObject] = []
    for score in scores:
        name, value = first_text(score, "name") or "score", score.get("value")
        word, why = first_text(score, "stringValue", "string_value"), first_text(score, "comment")
        if score.get("source") == "EVAL":
            number = value if isinstance(value, int | float) and score.get("dataType") != "CATEGORICAL" else None
            graded = None if number is None else float(number)
            verdicts.append(
                verdict_on_run(
                    judge=name,
                    scores={} if graded is None else {name: graded},
                    verdict=as_text(value) if graded is None and word is None else word,
                    reasoning=why,
                )
            )
        else:
            entry = {"name": name, "value": value if word is None else word, "source": score.get("source")}
            others.append({**entry, **({} if why is None else {"comment": why})})
    return {**labelled(verdicts), **({"scores": others} if others else {})}


def _camel(data: JsonObject) -> JsonObject:
    """The fields of a record in camel case; exports to blob storage have them in snake case."""
    if not any(key in data for key in ("trace_id", "start_time", "parent_observation_id")):
        return data
    return {_camel_name(key): value for key, value in data.items()}


def _camel_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _observations(data: Any) -> list[JsonObject]:
    """The observations in a record: of a trace, or the record itself, which then names its trace."""
    if not isinstance(data, dict):
        return []
    observations = list(filter(_is_observation, objects_in(data.get("observations"))))
    is_one = _is_observation(data) and isinstance(_camel(data).get("traceId"), str)
    return observations or ([data] if is_one else [])


def _is_observation(data: JsonObject) -> bool:
    known = _camel(data)
    return isinstance(known.get("id"), str) and known.get("type") in _TYPES and "startTime" in known


def _is_bare_trace(data: Any) -> bool:
    """Whether a record is a trace of Langfuse whose observations are missing, or are only IDs."""
    return isinstance(data, dict) and "htmlPath" in data and "observations" in data


def _is_score(data: JsonObject) -> bool:
    return "dataType" in data and "value" in data and isinstance(data.get("traceId"), str) and "type" not in data


def _has_scores(sample: Sample) -> bool:
    return any(isinstance(record, dict) and _is_score(_camel(record)) for record in sample.records)


detect = any_record(lambda record: bool(_observations(record)) or _is_bare_trace(record))

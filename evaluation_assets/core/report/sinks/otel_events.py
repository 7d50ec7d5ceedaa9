"""Scores as OpenTelemetry events `gen_ai.evaluation.result` in OTLP JSON.

The score of a trajectory is an event of its trace, the score of a clip an event of its span. The time of an event is
the evaluation's, as stored, so that an export of the same evaluation is the same. Attributes:
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events/
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from evaluation_assets.core.report.sinks.otel_ids import otel_span, otel_trace
from evaluation_assets.core.report.sinks.scores import TraceScore
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.traces.trajectories.model import JsonObject

EVENT = "gen_ai.evaluation.result"
SCOPE = "evaluation_assets"


def document(scores: Iterable[TraceScore]) -> JsonObject:
    """An OTLP request with an event for each score, in one resource per service."""
    by_service = by_key((score.service, event(score)) for score in scores)
    return {
        "resourceLogs": [
            {
                "resource": {"attributes": list(_attributes({"service.name": service}))},
                "scopeLogs": [{"scope": {"name": SCOPE}, "logRecords": records}],
            }
            for service, records in by_service.items()
        ]
    }


def event(score: TraceScore) -> JsonObject:
    """The log record of a score."""
    attributes = {
        "gen_ai.evaluation.name": score.name,
        "gen_ai.evaluation.score.value": score.value,
        "gen_ai.evaluation.score.label": score.label,
        "gen_ai.evaluation.explanation": score.explanation,
        "gen_ai.evaluation.evaluator.name": ", ".join(score.judges) or None,
        "gen_ai.conversation.id": score.session_id,
        f"{SCOPE}.score_id": score.id,
        f"{SCOPE}.drop": score.drop,
        f"{SCOPE}.trajectory_id": score.trajectory_id,
        f"{SCOPE}.task_id": score.task_id,
        f"{SCOPE}.level": score.level,
        f"{SCOPE}.clip_index": score.clip_index,
        f"{SCOPE}.tool_type": score.tool_type,
        f"{SCOPE}.n_scored": score.n_scored,
        f"{SCOPE}.n_judges": score.n_judges,
    }
    record: JsonObject = {
        "timeUnixNano": _nanoseconds(score.evaluated_at),
        "eventName": EVENT,
        "attributes": list(_attributes(attributes)),
    }
    if (trace := otel_trace(score.trace_id or "")) is not None:
        record["traceId"] = trace
        if (span := otel_span(score.span_id or "")) is not None:
            record["spanId"] = span
    return record


def _nanoseconds(moment: str | None) -> str:
    """Nanoseconds since 1970; 0, which OpenTelemetry reads as unknown, for a drop without history."""
    if moment is None:
        return "0"
    since = datetime.fromisoformat(moment) - datetime(1970, 1, 1, tzinfo=UTC)
    return str((since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1000)


def _attributes(values: Mapping[str, Any]) -> Iterator[JsonObject]:
    for key, value in values.items():
        if isinstance(value, float):
            yield {"key": key, "value": {"doubleValue": value}}
        elif isinstance(value, int):
            yield {"key": key, "value": {"intValue": str(value)}}
        elif isinstance(value, str):
            yield {"key": key, "value": {"stringValue": value}}

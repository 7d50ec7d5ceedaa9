"""Write scores as OpenTelemetry events `gen_ai.evaluation.result` in OTLP JSON, one `resourceLogs` per trajectory.

For trajectories read from spans, a trajectory score is an event of its trace, and a clip score an event of its span.
The events have no timestamp, so that exports are reproducible.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evaluation_assets.core.trajectories.model import JsonObject, Trajectory
from evaluation_assets.core.trajectories.recorded_spans import RecordedSpan, spans_of_clips, trace_of

EVENT = "gen_ai.evaluation.result"
SCOPE = "evaluation_assets"

_TRACE, _SPAN = re.compile(r"[0-9a-f]{32}"), re.compile(r"[0-9a-f]{16}")


def document(
    drop: str,
    trajectory: Trajectory,
    clip_scores: Iterable[Mapping[str, Any]],
    category_assessments: Iterable[Mapping[str, Any]],
    trajectory_scores: Iterable[Mapping[str, Any]],
) -> JsonObject:
    """Convert the stored scores of a trajectory. A missing score yields no event."""
    spans = spans_of_clips(trajectory)
    levels = (("clip", clip_scores), ("category", category_assessments), ("trajectory", trajectory_scores))
    records = [
        _record(drop, trajectory, level, row, spans)
        for level, rows in levels
        for row in rows
        if row["mean"] is not None
    ]
    resource = {"attributes": list(_attributes({"service.name": trajectory.extra.get("service")}))}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [{"scope": {"name": SCOPE}, "logRecords": records}]}]}


def _record(
    drop: str, trajectory: Trajectory, level: str, row: Mapping[str, Any], spans: Mapping[int, RecordedSpan]
) -> JsonObject:
    attributes = {
        "gen_ai.evaluation.name": row["criterion"],
        "gen_ai.evaluation.score.value": float(row["mean"]),
        "gen_ai.conversation.id": trajectory.extra.get("session_id"),
        f"{SCOPE}.drop": drop,
        f"{SCOPE}.trajectory_id": trajectory.id,
        f"{SCOPE}.task_id": trajectory.task_id,
        f"{SCOPE}.level": level,
        f"{SCOPE}.clip_index": row.get("clip_index"),
        f"{SCOPE}.tool_type": row.get("tool_type") or row.get("category"),
        f"{SCOPE}.n_scored": row["n_scored"],
        f"{SCOPE}.n_judges": row["n_judges"],
    }
    record: JsonObject = {"timeUnixNano": "0", "eventName": EVENT, "attributes": list(_attributes(attributes))}
    span = spans.get(row["clip_index"]) if level == "clip" else None
    trace = trace_of(trajectory) if span is None else span.trace_id
    if trace is not None and _TRACE.fullmatch(trace):
        record["traceId"] = trace
        if span is not None and _SPAN.fullmatch(span.span_id):
            record["spanId"] = span.span_id
    return record


def _attributes(values: Mapping[str, Any]) -> Iterator[JsonObject]:
    for key, value in values.items():
        if isinstance(value, float):
            yield {"key": key, "value": {"doubleValue": value}}
        elif isinstance(value, int):
            yield {"key": key, "value": {"intValue": str(value)}}
        elif isinstance(value, str):
            yield {"key": key, "value": {"stringValue": value}}

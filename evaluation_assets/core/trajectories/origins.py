"""Where a trajectory was recorded: its trace, and the spans of its clips, in the IDs of the store it came from."""

import re
from base64 import b64decode
from dataclasses import dataclass

from evaluation_assets.core.trajectories.model import Trajectory

_TRACE, _SPAN = re.compile(r"[0-9a-f]{32}"), re.compile(r"[0-9a-f]{16}")
_SPAN_IN_BASE64 = re.compile(r"[0-9A-Za-z+/]{11}=")


@dataclass(frozen=True, slots=True)
class Place:
    """A span in a trace."""

    trace_id: str
    span_id: str


def trace_of(trajectory: Trajectory) -> str | None:
    """The trace of a trajectory; the last one where it was joined from several, as a conversation is."""
    several = trajectory.extra.get("trace_ids")
    if isinstance(several, list) and several and isinstance(several[-1], str):
        return several[-1]
    trace = trajectory.extra.get("trace_id")
    return trace if isinstance(trace, str) and trace else None


def places_of_clips(trajectory: Trajectory) -> dict[int, Place]:
    """The span of each clip, if known: a clip ends with the step of its call. The final clip has none."""
    trace = trace_of(trajectory)
    recorded, own = trajectory.extra.get("spans"), trajectory.extra.get("span_traces")
    if trace is None or not isinstance(recorded, dict):
        return {}
    traces = own if isinstance(own, dict) else {}
    by_step: dict[int, str] = {}
    for span, step in recorded.items():
        by_step.setdefault(step, span)
    ends = [number for number, step in enumerate(trajectory.steps) if step.call is not None]
    return {
        clip: Place(str(traces.get(by_step[step], trace)), by_step[step])
        for clip, step in enumerate(ends)
        if step in by_step
    }


def otel_trace(trace_id: str) -> str | None:
    """An ID as OpenTelemetry writes it, 32 hexadecimal digits; `None` if it is not one. MLflow puts `tr-` before it."""
    plain = trace_id.removeprefix("tr-")
    return plain if _TRACE.fullmatch(plain) else None


def otel_span(span_id: str) -> str | None:
    """An ID as OpenTelemetry writes it, 16 hexadecimal digits; `None` if it is not one. MLflow exports base64."""
    if _SPAN.fullmatch(span_id):
        return span_id
    return b64decode(span_id).hex() if _SPAN_IN_BASE64.fullmatch(span_id) else None

"""The trace that a trajectory was read from, and the span of each of its calls, by the IDs of the source."""

from dataclasses import dataclass

from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory

TRACE, SPANS, TOOL_SPANS, TRACES_OF_SPANS = "trace_id", "spans", "tool_spans", "traces_of_spans"
"""What readers of traces note in a trajectory's `extra`.

The ID of its (first) trace; the steps of spans; which of them are runs of tools; and for a conversation of several
traces, the trace of each span.
"""


@dataclass(frozen=True, slots=True)
class RecordedSpan:
    """A span of the source, and the trace that has it."""

    trace_id: str | None
    span_id: str


def trace_of(trajectory: Trajectory) -> str | None:
    """The ID of the trace, of the first one for a conversation of several; `None` if the source has none."""
    trace = trajectory.extra.get(TRACE)
    return trace if isinstance(trace, str) else None


def last_trace_of(trajectory: Trajectory) -> str | None:
    """The trace of a trajectory; the last one of a conversation of several, in which the outcome is known."""
    several = trajectory.extra.get("trace_ids")
    if isinstance(several, list) and several and isinstance(several[-1], str):
        return several[-1]
    return trace_of(trajectory) or None


def spans_of_clips(trajectory: Trajectory) -> dict[int, RecordedSpan]:
    """The source span of each clip, if known: of the tool's run, else of the model call that asked for it."""
    steps = _object(trajectory, SPANS)
    tools = trajectory.extra.get(TOOL_SPANS)
    by_step: dict[int, str] = {}
    for span in (*(tools if isinstance(tools, list) else ()), *steps):
        if span in steps:
            by_step.setdefault(steps[span], span)
    of_span = _object(trajectory, TRACES_OF_SPANS)
    ends = [number for number, step in enumerate(trajectory.steps) if step.call is not None]
    return {
        clip: RecordedSpan(of_span.get(by_step[step], trace_of(trajectory)), by_step[step])
        for clip, step in enumerate(ends)
        if step in by_step
    }


def _object(trajectory: Trajectory, key: str) -> JsonObject:
    value = trajectory.extra.get(key)
    return value if isinstance(value, dict) else {}

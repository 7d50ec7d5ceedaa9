"""The trace that a trajectory was read from, and the span of each of its calls, by the IDs of the source."""

from dataclasses import dataclass

from evaluation_assets.core.trajectories.model import Trajectory

TRACE, SPANS, TRACES_OF_SPANS = "trace_id", "spans", "traces_of_spans"
"""What readers of traces note in a trajectory's `extra`.

The ID of its (first) trace; the steps of spans; for a conversation of several traces, the trace of each span.
"""


@dataclass(frozen=True, slots=True)
class RecordedSpan:
    """A span of the source, and the trace that has it."""

    trace_id: str | None
    span_id: str


def trace_of(trajectory: Trajectory) -> str | None:
    """The ID of the trace, of the first one for a conversation of several; `None` if the source has none."""
    found = trajectory.extra.get(TRACE)
    return found if isinstance(found, str) else None


def spans_of_clips(trajectory: Trajectory) -> dict[int, RecordedSpan]:
    """The source span of each clip, if known: a clip ends with the step of its call."""
    recorded, traces = trajectory.extra.get(SPANS), trajectory.extra.get(TRACES_OF_SPANS)
    by_step: dict[int, str] = {}
    for span, step in (recorded if isinstance(recorded, dict) else {}).items():
        by_step.setdefault(step, span)
    of_span = traces if isinstance(traces, dict) else {}
    ends = [number for number, step in enumerate(trajectory.steps) if step.call is not None]
    return {
        clip: RecordedSpan(of_span.get(by_step[step], trace_of(trajectory)), by_step[step])
        for clip, step in enumerate(ends)
        if step in by_step
    }

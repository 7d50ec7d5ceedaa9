"""Clips as rows of `clips`, and back."""

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation_assets.core.intake.clips.segmentation import Clip
from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.lake.stored import Aligned, Stored
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets.core.traces.trajectories.recorded_spans import RecordedSpan
from evaluation_assets.core.traces.trajectories.trajectory_rows import TREE_AND_TEXT, trajectory_of


def clip_row(drop: str, trajectory_id: str, clip: Clip, span: RecordedSpan | None = None) -> Row:
    """A row of `clips`, with the span of its call where the source has one."""
    return {
        "drop": drop,
        "trajectory_id": trajectory_id,
        "clip_index": clip.index,
        "tool_type": clip.tool_type,
        "tool_name": clip.tool_name,
        "is_final": clip.is_final,
        "content": clip.content,
        "start": clip.start,
        "end": clip.end,
        "call_status": clip.call_status,
        "trace_id": None if span is None else span.trace_id,
        "span_id": None if span is None else span.span_id,
    }


def clip_of(row: Mapping[str, Any]) -> Clip:
    """The clip in a row of `clips`."""
    return Clip(
        index=row["clip_index"],
        tool_type=row["tool_type"],
        tool_name=row["tool_name"],
        is_final=row["is_final"],
        start=row["start"],
        end=row["end"],
        call_status=row["call_status"],
        content=row["content"],
    )


def with_clips(trajectories: Stored, clips: Stored) -> Iterator[tuple[Trajectory, list[Clip]]]:
    """Every trajectory with its clips, in the order of the tables."""
    groups = Aligned(clips.rows())
    for row in trajectories.rows(TREE_AND_TEXT):
        trajectory = trajectory_of(row)
        yield trajectory, [clip_of(clip) for clip in groups.at(trajectory.id)]

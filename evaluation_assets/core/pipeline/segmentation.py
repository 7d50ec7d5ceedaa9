"""The clips of a drop."""

from collections import Counter
from collections.abc import Iterator, Mapping

from evaluation_assets.core.intake.clips.clip_rows import clip_row
from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.intake.clips.tool_types import ToolTypes
from evaluation_assets.core.lake.stored import Stored
from evaluation_assets.core.traces.trajectories.recorded_spans import spans_of_clips
from evaluation_assets.core.traces.trajectories.trajectory_rows import Row, trajectory_of


class Segmentation:
    """Every trajectory of a drop, cut into clips."""

    def __init__(self, drop: str, tool_types: ToolTypes) -> None:
        self._drop = drop
        self._types = tool_types
        self._counts: Counter[str] = Counter()

    def clips(self, trajectories: Stored) -> Iterator[Row]:
        """Rows of `clips`."""
        for row in trajectories.rows(["trajectory", "text"]):
            trajectory = trajectory_of(row)
            spans = spans_of_clips(trajectory)
            for clip in clips_of(trajectory, self._types):
                self._counts[clip.tool_type] += 1
                yield clip_row(self._drop, trajectory.id, clip, spans.get(clip.index))

    def metadata(self) -> Mapping[str, Mapping[str, int]]:
        """How many clips are of each tool type, once all have passed."""
        return {"tool_types": dict(sorted(self._counts.items()))}

"""What an evaluation would do, before it does anything: records, clips and verdicts, with nothing written or asked."""

from collections import Counter
from dataclasses import dataclass, field

from evaluation_assets.core.clips.segmentation import clips_of
from evaluation_assets.core.drops import Drop
from evaluation_assets.core.formats.base import Rejection
from evaluation_assets.core.formats.registry import read_trajectories
from evaluation_assets.core.judging.subjects import category_chain, clip_chain, trajectory_chain
from evaluation_assets.core.preprocessing.preprocess import Preprocessor, Removal, Statistics
from evaluation_assets.core.preprocessing.rules import Settings
from evaluation_assets.core.rubrics.model import Rubrics


@dataclass(slots=True)
class Plan:
    """The work in one drop. `subjects` counts what each judge would be asked, by level."""

    drop: str
    statistics: Statistics
    tool_types: Counter[str] = field(default_factory=Counter)
    subjects: Counter[str] = field(default_factory=Counter)

    @property
    def clips(self) -> int:
        """Number of clips."""
        return self.tool_types.total()


def plan(drop: Drop, settings: Settings, rubrics: Rubrics) -> Plan:
    """Read and preprocess a drop in memory and count what would be judged.

    Raises:
        UnreadableDrop: no format fits, or a file is damaged.
        InvalidDrop: its sidecar cannot be used.
    """
    preprocessor = Preprocessor(settings)
    result = Plan(drop.key, preprocessor.statistics)
    for item in read_trajectories(drop.sources, drop.sidecar().format):
        if isinstance(item, Rejection):
            preprocessor.statistics.unreadable[item.reason] += 1
            continue
        kept = preprocessor.process(item)
        if isinstance(kept, Removal):
            continue
        clips = clips_of(kept)
        result.tool_types.update(clip.tool_type for clip in clips)
        for chain in (
            clip_chain(kept, clips, rubrics),
            category_chain(kept, clips, {}, rubrics),
            trajectory_chain(kept, clips, {}, {}, rubrics),
        ):
            result.subjects.update(subject.level for subject in chain.subjects)
    return result

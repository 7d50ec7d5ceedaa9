"""Reading of drops in tests: the fixtures of a format, files made on the spot, and what has to hold for all of them."""

from pathlib import Path

from upath import UPath

from evaluation_assets.core.clips.segmentation import clips_of
from evaluation_assets.core.formats.base import DropFile, Rejection
from evaluation_assets.core.formats.losses import Losses
from evaluation_assets.core.formats.registry import read_trajectories
from evaluation_assets.core.formats.rejection_rows import unreadable_row
from evaluation_assets.core.lake import batched
from evaluation_assets.core.preprocessing.preprocess import Preprocessor
from evaluation_assets.core.preprocessing.rules import Settings
from evaluation_assets.core.tables import RAW_TRAJECTORIES, UNREADABLE_RECORDS
from evaluation_assets.core.trajectories.model import Span, Step, Trajectory, from_json, to_json
from evaluation_assets.core.trajectories.trajectory_rows import trajectory_row

FIXTURES = Path(__file__).parents[2] / "fixtures" / "formats"


def files_of(drop: Path) -> list[DropFile]:
    """The files of a drop: of a folder, or one file."""
    paths = sorted(path for path in drop.rglob("*") if path.is_file()) if drop.is_dir() else [drop]
    return [DropFile(UPath(path), path.relative_to(drop).as_posix() if drop.is_dir() else path.name) for path in paths]


def read(drop: Path, losses: Losses | None = None, format_name: str | None = None) -> list[Trajectory | Rejection]:
    """Everything a drop holds, in the format that recognises it."""
    return list(read_trajectories(files_of(drop), losses or Losses(), format_name))


def trajectories(drop: Path, losses: Losses | None = None) -> list[Trajectory]:
    """The trajectories of a drop in which nothing is amiss."""
    items = read(drop, losses)
    assert [item for item in items if isinstance(item, Rejection)] == []
    return [item for item in items if isinstance(item, Trajectory)]


def check(item: Trajectory | Rejection) -> None:
    """What holds for everything a reader gives."""
    if isinstance(item, Rejection):
        assert item.reason
        return
    assert item.text.strip()
    assert item.task_id
    position = 0
    for step in item.steps:
        assert step.start == position
        position = step.end
        for start, end in _spans(step):
            assert step.start <= start <= end <= step.end
        assert step.latency_ms is None or step.latency_ms >= 0
        for usage in (step.usage, item.usage):
            assert usage is None or usage.cost_usd is None or usage.cost_usd >= 0
    assert position <= len(item.text)
    clips = clips_of(item)
    assert "".join(clip.content for clip in clips) == item.text
    assert sum(not clip.is_final for clip in clips) == len(item.calls)
    assert from_json(to_json(item), item.text) == item


def check_is_stored(item: Trajectory | Rejection) -> None:
    """What a reader gives has a row in its table, and goes on from there."""
    if isinstance(item, Rejection):
        assert list(batched([unreadable_row("d", item)], UNREADABLE_RECORDS))
        return
    assert list(batched([trajectory_row("d", item)], RAW_TRAJECTORIES))
    Preprocessor(Settings()).process(item)


def _spans(step: Step) -> list[Span]:
    found = [step.thought, step.message, step.call and step.call.raw, step.result and step.result.content]
    return [span for span in found if span is not None]

"""Reading of drops in tests: the fixtures of a format, files made on the spot, and what has to hold for all of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
from upath import UPath

from evaluation_assets.core.intake.clips.segmentation import clips_of
from evaluation_assets.core.intake.preprocessing.preprocess import Preprocessor
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.lake.stored import batched
from evaluation_assets.core.lake.tables import RAW_TRAJECTORIES, UNREADABLE_RECORDS
from evaluation_assets.core.pipeline.reading import unreadable_row
from evaluation_assets.core.traces.formats.base import DropFile, Rejection
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Span, Step, Trajectory, Usage, from_json, to_json
from evaluation_assets.core.traces.trajectories.trajectory_rows import trajectory_row

FIXTURES = Path(__file__).parents[3] / "fixtures" / "formats"


def loaded(name: str) -> dict[str, Any]:
    """The JSON files of a format's fixture, by their names."""
    return {path.name: orjson.loads(path.read_bytes()) for path in sorted((FIXTURES / name).glob("*.json"))}


def records_of(path: Path) -> list[Any]:
    """The records of a file: its lines, the items of its list, or the document itself."""
    content = path.read_bytes()
    try:
        whole = orjson.loads(content)
    except orjson.JSONDecodeError:
        return [orjson.loads(line) for line in content.splitlines() if line.strip()]
    return whole if isinstance(whole, list) else [whole]


def files_of(*paths: Path) -> list[DropFile]:
    """Files, and all files in folders, as the files of one drop."""
    return [
        DropFile(UPath(inner), inner.relative_to(path).as_posix() if path.is_dir() else path.name)
        for path in paths
        for inner in (sorted(path.rglob("*")) if path.is_dir() else [path])
        if inner.is_file()
    ]


def read(
    *paths: Path, unmapped: UnmappedFields | None = None, format_name: str | None = None
) -> list[Trajectory | Rejection]:
    """Everything a drop of these files and folders holds, in the format that recognises it."""
    return list(read_trajectories(files_of(*paths), unmapped or UnmappedFields(), format_name))


def trajectories(*paths: Path, unmapped: UnmappedFields | None = None) -> list[Trajectory]:
    """The trajectories of a drop in which nothing is amiss."""
    items = read(*paths, unmapped=unmapped)
    assert [item for item in items if isinstance(item, Rejection)] == []
    return [item for item in items if isinstance(item, Trajectory)]


def calls_of(run: Trajectory) -> list[tuple[str, Any, str | None]]:
    """The calls of a run: name, arguments and, where there is one, the result."""
    return [
        (step.call.name, run.arguments(step.call), None if step.result is None else run.piece(step.result.content))
        for step in run.calls
        if step.call
    ]


def recorded_usage(run: Trajectory) -> Usage | None:
    """The usage of a run as its source records it: without list prices, which change."""
    return run.usage and replace(run.usage, cost_usd=run.usage.recorded_cost_usd, is_list_price=False)


def check(item: Trajectory | Rejection) -> None:
    """What holds for all a reader gives: steps tile the text, spans lie in it, clips join to it, JSON gives it back."""
    if isinstance(item, Rejection):
        assert item.reason and item.detail
        return
    assert item.text.strip()
    assert item.task_id
    position = 0
    for step in item.steps:
        assert step.start == position <= step.end
        position = step.end
        for start, end in _spans(step):
            assert step.start <= start <= end <= step.end
        if step.call is not None:  # of calls made together, only the first is within its step
            assert 0 <= step.call.raw[0] <= step.call.raw[1] <= step.end
        assert step.latency_ms is None or step.latency_ms >= 0
    assert position <= len(item.text)
    for usage in (item.usage, *(step.usage for step in item.steps)):
        if usage is not None:
            amounts = (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.cost_usd)
            assert all(amount is None or amount >= 0 for amount in amounts)
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
    found = [step.thought, step.message, step.result and step.result.content]
    return [span for span in found if span is not None]

"""Records of a format with fields deleted, changed in type or cut, as a reader may meet them."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.clips.segmentation import clips_of
from evaluation_assets.core.formats.base import DropFile, Rejection
from evaluation_assets.core.formats.losses import Losses
from evaluation_assets.core.formats.registry import read_trajectories
from evaluation_assets.core.trajectories.model import Trajectory, from_json, to_json

FIXTURES = Path(__file__).parents[2] / "fixtures" / "formats"
_REPLACEMENTS: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    2**53,
    "",
    " ",
    "{",
    "[1]",
    "x\x00é",
    [],
    [None],
    {},
    {"a": []},
    [[]],
]


def drop_files(*paths: Path) -> list[DropFile]:
    """Files, and all files of folders, as the files of one drop."""
    found = [inner for path in paths for inner in (sorted(path.rglob("*")) if path.is_dir() else [path])]
    return [DropFile(UPath(path), path.name) for path in found if path.is_file()]


def read_all(
    *paths: Path, format_name: str | None = None, losses: Losses | None = None
) -> list[Trajectory | Rejection]:
    """Everything the files give, read as one drop."""
    return list(read_trajectories(drop_files(*paths), losses or Losses(), format_name))


def runs_of(*paths: Path, losses: Losses | None = None) -> list[Trajectory]:
    """The trajectories of files none of whose records is rejected."""
    items = read_all(*paths, losses=losses)
    assert not [item for item in items if isinstance(item, Rejection)]
    return [item for item in items if isinstance(item, Trajectory)]


def check_run(run: Trajectory) -> None:
    """What holds for every trajectory: steps tile the text, spans lie in it, clips join to it, JSON gives it back."""
    position = 0
    for step in run.steps:
        assert step.start == position <= step.end
        position = step.end
        for span in (step.thought, step.message, step.call and step.call.raw, step.result and step.result.content):
            assert span is None or step.start <= span[0] <= span[1] <= step.end
    clips = clips_of(run)
    assert "".join(clip.content for clip in clips) == run.text
    assert len([clip for clip in clips if not clip.is_final]) == len(run.calls)
    assert from_json(to_json(run), run.text) == run
    for usage in (run.usage, *(step.usage for step in run.steps)):
        if usage is not None:
            amounts = (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.cost_usd)
            assert all(amount is None or amount >= 0 for amount in amounts)


def mutated(document: Any) -> st.SearchStrategy[Any]:
    """The document after some changes at random places in it."""
    changes = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 3 + len(_REPLACEMENTS))), max_size=6)
    return changes.map(lambda drawn: _changed(copy.deepcopy(document), drawn))


def _changed(document: Any, changes: list[tuple[int, int]]) -> Any:
    for where, how in changes:
        places = list(_places(document))
        if not places:
            break
        holder, key = places[where % len(places)]
        _change(holder, key, how)
    return document


def _change(holder: Any, key: Any, how: int) -> None:
    value = holder[key]
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(value, str | list):
        holder[key] = value[: len(value) // 2]
    elif how == 2 and isinstance(holder, list):
        holder.append(copy.deepcopy(value))
    else:
        holder[key] = copy.deepcopy(_REPLACEMENTS[how % len(_REPLACEMENTS)])


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield value, key
            yield from _places(inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield value, index
            yield from _places(inner)


def check_reads(folder: Path, documents: dict[str, Any], format_name: str) -> None:
    """Written as files of a drop, the documents give trajectories that hold together, or rejections with a reason."""
    for name, document in documents.items():
        (folder / name).write_bytes(orjson.dumps(document))
    for item in read_all(*(folder / name for name in documents), format_name=format_name):
        if isinstance(item, Rejection):
            assert item.reason and item.detail
        else:
            check_run(item)


def loaded(name: str) -> dict[str, Any]:
    """The JSON files of a fixture's folder, by their names."""
    return {path.name: orjson.loads(path.read_bytes()) for path in sorted((FIXTURES / name).glob("*.json"))}

"""Put the viewer into the page of a report."""

import gzip
import zlib
from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import orjson
from upath import UPath

from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.report.viewer.archive import INLINE_BYTES, Block, CompressedJson, Packing, inline
from evaluation_assets.core.report.viewer.comparison import ComparedTasks
from evaluation_assets.core.report.viewer.documents import TrajectoryDocument
from evaluation_assets.core.report.viewer.script import script
from evaluation_assets.core.traces.trajectories.model import JsonObject

DATA_FOLDER = "report_data"
"""Files of blocks that do not fit into the page, in the folder of the report."""

_END = "</body>"
_INDEX = "viewer-index"


@dataclass(frozen=True, slots=True)
class ViewerData:
    """The runs table, and the blocks of trajectories that stand in the page: none if they are in files beside it."""

    index: bytes
    blocks: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class OtherRun:
    """The run that a drop is compared with: its drop, its documents, and why it was chosen."""

    drop: str
    why: str
    documents: Iterable[TrajectoryDocument]


def pack(
    drop: str,
    documents: Iterable[TrajectoryDocument],
    folder: UPath,
    other: OtherRun | None = None,
    queue: Sequence[tuple[str, str]] = (),
) -> ViewerData:
    """Compress the documents of a drop and of the run that it is compared with.

    Of the other run, only trajectories whose task came out differently can be opened. Blocks that do not fit into a
    page are written to `folder`. `queue` are the trajectories to review, in order, each with the reason.
    """
    inside: list[bytes] = []
    size, beside = 0, 0
    index = CompressedJson()
    for block in _blocks(drop, documents, other, index):
        inside.append(block.content)
        size += len(block.content) * 4 // 3
        if size > INLINE_BYTES:
            for content in inside:
                publish_bytes(folder / f"{beside}.json.gz", content)
                beside += 1
            inside = []
    _remove_from(folder, beside)
    index.add(b',"queue":' + orjson.dumps(queue) + b"}")
    return ViewerData(index.finish(), tuple(inside))


def _blocks(
    drop: str, documents: Iterable[TrajectoryDocument], other: OtherRun | None, index: CompressedJson
) -> Iterator[Block]:
    """The blocks of both runs. Their rows go to the index as they come: all rows of a big drop are never in memory."""
    packing, tasks = Packing(), ComparedTasks()

    def add(row: JsonObject) -> None:
        index.add_item(row)
        if other is not None:
            tasks.add(row)

    index.add(b'{"drop":' + orjson.dumps(drop) + b',"rows":[')
    yield from packing.blocks(documents, add)
    index.add(b'],"other":')
    if other is None:
        index.add(b"null")
    else:
        index.add(b'{"drop":' + orjson.dumps(other.drop) + b',"why":' + orjson.dumps(other.why) + b',"rows":[')
        yield from packing.blocks(tasks.only_changed(other.documents), index.add_item)
        index.add(b"]}")


def with_viewer(page: str, data: ViewerData) -> Iterator[str]:
    """Yield the page of a report with the viewer at its end."""
    blocks = ((f"viewer-block-{number}", block) for number, block in enumerate(data.blocks))
    return _with_script(page, chain([(_INDEX, data.index)], blocks), script())


def with_search(page: str, rows: JsonObject) -> Iterator[str]:
    """Yield the list of reports with the search of their runs at its end."""
    index = CompressedJson()
    index.add(orjson.dumps(rows))
    return _with_script(page, [(_INDEX, index.finish())], script("overview"))


def read_index(page: UPath) -> JsonObject | None:
    """The runs table of a written page and its drop; `None` if it cannot be read."""
    start = f'id="{_INDEX}">'.encode()
    try:
        with page.open("rb") as lines:
            for line in lines:
                _, found, data = line.partition(start)
                if found:
                    return orjson.loads(gzip.decompress(b64decode(data.partition(b"<")[0])))
    except (OSError, EOFError, ValueError, zlib.error):
        return None
    return None


def _with_script(page: str, data: Iterable[tuple[str, bytes]], source: str) -> Iterator[str]:
    """Yield a page with data by ID and a script at its end. Compressed data is base64, which holds no markup."""
    before, end, after = page.rpartition(_END)
    yield before
    for name, content in data:
        yield f'<script type="text/plain" id="{name}">{inline(content)}</script>\n'
    yield f"<script>{source}</script>\n"
    yield end + after


def _remove_from(folder: UPath, first: int) -> None:
    """Remove blocks of an earlier, larger report."""
    if folder.exists():
        for path in folder.iterdir():
            stem = path.name.removesuffix(".json.gz")
            if stem.isdecimal() and int(stem) >= first:
                path.unlink()

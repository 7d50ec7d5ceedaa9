"""Put the viewer into the page of a report."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from upath import UPath

from evaluation_assets.core.lake.stored import publish_bytes
from evaluation_assets.core.report.viewer.archive import INLINE_BYTES, Packing, compressed, inline
from evaluation_assets.core.report.viewer.comparison import only_changed
from evaluation_assets.core.report.viewer.documents import TrajectoryDocument
from evaluation_assets.core.report.viewer.script import script
from evaluation_assets.core.traces.trajectories.model import JsonObject

DATA_FOLDER = "report_data"
"""Files of blocks that do not fit into the page, in the folder of the report."""

_END = "</body>"


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
    packing = Packing()
    rows: list[JsonObject] = []
    other_rows: list[JsonObject] = []
    blocks = packing.blocks(documents, rows)
    if other is not None:
        blocks = chain(blocks, packing.blocks(only_changed(rows, other.documents), other_rows))
    inside: list[bytes] = []
    size, beside = 0, 0
    for block in blocks:
        inside.append(block.content)
        size += len(block.content) * 4 // 3
        if size > INLINE_BYTES:
            for content in inside:
                publish_bytes(folder / f"{beside}.json.gz", content)
                beside += 1
            inside = []
    _remove_from(folder, beside)
    compared = None if other is None else {"drop": other.drop, "why": other.why, "rows": other_rows}
    return ViewerData(compressed({"drop": drop, "rows": rows, "other": compared, "queue": queue}), tuple(inside))


def with_viewer(page: str, data: ViewerData) -> Iterator[str]:
    """Yield the page of a report with the viewer at its end. Compressed data is base64, which holds no markup."""
    before, end, after = page.rpartition(_END)
    yield before
    yield f'<script type="text/plain" id="viewer-index">{inline(data.index)}</script>\n'
    for number, block in enumerate(data.blocks):
        yield f'<script type="text/plain" id="viewer-block-{number}">{inline(block)}</script>\n'
    yield f"<script>{script()}</script>\n"
    yield end + after


def _remove_from(folder: UPath, first: int) -> None:
    """Remove blocks of an earlier, larger report."""
    if folder.exists():
        for path in folder.iterdir():
            stem = path.name.removesuffix(".json.gz")
            if stem.isdecimal() and int(stem) >= first:
                path.unlink()

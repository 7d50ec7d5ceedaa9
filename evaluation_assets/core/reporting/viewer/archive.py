"""Documents in compressed blocks: inside the page where they fit, else as files beside it."""

import gzip
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import orjson

from evaluation_assets.core.reporting.viewer.documents import TrajectoryDocument
from evaluation_assets.core.trajectories.model import JsonObject

BLOCK_BYTES = 1 << 18
"""Uncompressed size from which a block is closed. Texts of a drop resemble each other, so larger blocks compress
better; a trajectory opens once its block is decompressed, which takes about 2 ms for this size."""

INLINE_BYTES = 15_000_000
"""Largest page with all blocks inside; a larger drop has them in files beside the page."""


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring trajectories as gzip'ed JSON, one object per trajectory in a list."""

    number: int
    content: bytes


class Packing:
    """Packs documents into blocks, and keeps the rows of the runs table with the block of each."""

    def __init__(self) -> None:
        self.rows: list[JsonObject] = []

    def blocks(self, documents: Iterable[TrajectoryDocument]) -> Iterator[Block]:
        """Yield the blocks in order; one block of documents is in memory."""
        waiting: list[bytes] = []
        size, number = 0, 0
        for document in documents:
            content = orjson.dumps(document.content)
            self.rows.append({**document.row, "block": number, "place": len(waiting)})
            waiting.append(content)
            size += len(content)
            if size >= BLOCK_BYTES:
                yield Block(number, _packed(waiting))
                waiting, size, number = [], 0, number + 1
        if waiting:
            yield Block(number, _packed(waiting))


def inline(content: bytes) -> str:
    """Compressed content as text that stands in a page: base64, which holds no markup."""
    return b64encode(content).decode("ascii")


def compressed(data: JsonObject | list[JsonObject]) -> bytes:
    """JSON, compressed. The bytes depend on the data only, not on the time."""
    return gzip.compress(orjson.dumps(data), 6, mtime=0)


def _packed(documents: list[bytes]) -> bytes:
    return gzip.compress(b"[" + b",".join(documents) + b"]", 6, mtime=0)

"""Open the files of a drop, plain or compressed, without a byte order mark; errors for damaged files."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from upath import UPath

from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets.core.traces.formats.files.unpacking import (
    COMPRESSION_MAGIC,
    LARGEST_RECORD,
    TooLarge,
    read_at_most,
    unpacked,
)

COMPRESSIONS = (".gz", ".zst")
EXTENSIONS = (".jsonl", ".ndjson", ".json", ".parquet", ".traj", ".eval", ".txt", ".log")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@contextmanager
def opened(path: UPath) -> Iterator[io.BufferedReader]:
    """Open a file and decompress it."""
    with path.open("rb") as raw:
        magic = raw.read(4)
        raw.seek(0)
        compression = next((name for start, name in COMPRESSION_MAGIC.items() if magic.startswith(start)), None)
        stream: Any = raw if compression is None else unpacked(raw, compression)
        opened = io.BufferedReader(stream, 1 << 20)
        if opened.peek(3)[:3] == _BYTE_ORDER_MARK:
            opened.read(3)
        yield opened


def offset_in(stream: io.BufferedReader) -> int | None:
    """The position of an opened stream in its file; `None` if the file is compressed."""
    return stream.tell() if stream.seekable() else None


def read_text(path: UPath, source: str) -> str:
    """Read a whole file as text; bytes that are not UTF-8 become escapes.

    Raises:
        UnreadableDrop: the file is damaged.
    """
    try:
        with opened(path) as stream:
            content = read_at_most(stream, LARGEST_RECORD)
            if content is None:
                raise TooLarge(f"is a text larger than {LARGEST_RECORD >> 20} MB")
            return content.decode("utf-8", "backslashreplace")
    except (EOFError, OSError, pa.ArrowException) as problem:
        raise damaged(source, problem) from problem


def damaged(source: str, problem: Exception) -> UnreadableDrop:
    """The error for a file that cannot be read any further."""
    if isinstance(problem, TooLarge):
        return UnreadableDrop(f"{source} {problem}. Split it into smaller records, or remove it.")
    return UnreadableDrop(f"{source} is damaged: {problem}. Copy it again, or remove it.")

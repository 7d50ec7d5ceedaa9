"""Records out of files: JSON Lines, JSON documents and parquet, plain or compressed, as a stream.

Memory holds one record at a time (one row group for parquet), never the file. A line that is no JSON becomes a
rejection and the rest goes on. Lines of white space are not records.
"""

import gzip
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ijson
import orjson
import pyarrow.parquet as pq
import zstandard
from upath import UPath

from evaluation_assets.core.formats.base import Record, Rejection, UnreadableDrop

COMPRESSIONS = (".gz", ".zst")
EXTENSIONS = (".jsonl", ".ndjson", ".json", ".parquet")


def read_records(path: UPath, source: str) -> Iterator[Record | Rejection]:
    """The records of one file in order. `source` names the file in rejections.

    Raises:
        UnreadableDrop: the file as a whole is damaged: cut compression, broken parquet.
    """
    try:
        with _opened(path) as stream:
            head = stream.peek(4)[:4]
            if head == b"PAR1":
                yield from _parquet(path, source)
            elif _is_document(stream, path):
                yield from _document(stream, source)
            else:
                yield from _lines(stream, source)
    except (EOFError, OSError, zstandard.ZstdError, ijson.JSONError) as problem:
        if isinstance(problem, FileNotFoundError | PermissionError):
            raise
        raise UnreadableDrop(f"{source} is damaged: {problem}. Copy it again, or remove it.") from problem


@contextmanager
def _opened(path: UPath) -> Iterator[io.BufferedReader]:
    with path.open("rb") as raw:
        magic = raw.read(4)
        raw.seek(0)
        if magic[:2] == b"\x1f\x8b":
            stream: Any = gzip.GzipFile(fileobj=raw)
        elif magic == b"\x28\xb5\x2f\xfd":
            stream = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
        else:
            stream = raw
        yield io.BufferedReader(stream, 1 << 20)


def _is_document(stream: io.BufferedReader, path: UPath) -> bool:
    """Whether the file is one JSON value (an array or a printed object) and not one value a line."""
    start = stream.peek(1 << 16).lstrip()
    if start.startswith(b"["):
        return True
    names = {suffix.lower() for suffix in path.suffixes}
    if ".json" not in names or not start.startswith(b"{"):
        return False
    first_line, line_break, _ = start.partition(b"\n")
    if not line_break:
        return False
    try:
        orjson.loads(first_line)
    except orjson.JSONDecodeError:
        return True
    return False


def _lines(stream: io.BufferedReader, source: str) -> Iterator[Record | Rejection]:
    loads = orjson.loads
    for number, line in enumerate(stream, 1):
        try:
            yield Record(source, number, loads(line), line)
        except orjson.JSONDecodeError as problem:
            if line.isspace():
                continue
            yield _reread(source, number, line, problem)


def _reread(source: str, number: int, line: bytes, problem: ValueError) -> Record | Rejection:
    """Python writes NaN and Infinity, which are no JSON: they are read as missing. The rest is rejected."""
    try:
        data = orjson.loads(orjson.dumps(json.loads(line)))
    except (ValueError, RecursionError):
        return Rejection(
            source, number, "bad_json", str(problem), line.decode("utf-8", "backslashreplace").rstrip("\r\n")
        )
    return Record(source, number, data, line)


def _document(stream: io.BufferedReader, source: str) -> Iterator[Record]:
    """An array gives its items, an object itself."""
    is_array = stream.peek(1 << 16).lstrip().startswith(b"[")
    for number, data in enumerate(ijson.items(stream, "item" if is_array else "", use_float=True), 1):
        yield Record(source, number, data, orjson.dumps(data, default=str))


def _parquet(path: UPath, source: str) -> Iterator[Record]:
    number = 0
    with path.open("rb") as raw:
        for batch in pq.ParquetFile(raw).iter_batches(batch_size=64):
            for row in batch.to_pylist():
                number += 1
                yield Record(source, number, row, orjson.dumps(row, default=str))


def first_records(path: UPath, count: int = 20) -> tuple[Any, ...]:
    """The data of the first readable records, for detection."""
    found: list[Any] = []
    for looked_at, record in enumerate(read_records(path, path.name)):
        if isinstance(record, Record):
            found.append(record.data)
        if len(found) == count or looked_at > 50 * count:
            break
    return tuple(found)

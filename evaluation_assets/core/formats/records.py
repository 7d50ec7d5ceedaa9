"""Records out of files: JSON Lines, JSON documents and parquet, plain or compressed, as a stream.

Memory holds one record at a time (one row group for parquet), never the file. A line that is no JSON becomes a
rejection and the rest goes on. Lines of white space are not records.
"""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ijson
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from upath import UPath

from evaluation_assets.core.formats.base import Record, Rejection, UnreadableDrop

COMPRESSIONS = (".gz", ".zst")
_COMPRESSION_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
EXTENSIONS = (".jsonl", ".ndjson", ".json", ".parquet")


def read_records(path: UPath, source: str) -> Iterator[Record | Rejection]:
    """The records of one file in order. `source` names the file in rejections.

    Raises:
        UnreadableDrop: the file as a whole is damaged: cut compression, broken parquet.
    """
    given = 0
    try:
        with _opened(path) as stream:
            if stream.peek(4)[:4] == b"PAR1":
                records = _parquet(path, source)
            elif _is_document(stream, path):
                records = _document(stream, source)
            else:
                records = _lines(stream, source)
            for record in records:
                given += 1
                yield record
    except ijson.JSONError:
        yield from _lenient_document(path, source, given)
    except (EOFError, OSError, pa.ArrowException) as problem:
        if isinstance(problem, FileNotFoundError | PermissionError):
            raise
        raise _damaged(source, problem) from problem


def _damaged(source: str, problem: Exception) -> UnreadableDrop:
    return UnreadableDrop(f"{source} is damaged: {problem}. Copy it again, or remove it.")


@contextmanager
def _opened(path: UPath) -> Iterator[io.BufferedReader]:
    with path.open("rb") as raw:
        magic = raw.read(4)
        raw.seek(0)
        compression = next((name for start, name in _COMPRESSION_MAGIC.items() if magic.startswith(start)), None)
        stream: Any = raw if compression is None else pa.CompressedInputStream(pa.PythonFile(raw, "r"), compression)
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
        data = orjson.loads(orjson.dumps(json.loads(line, parse_int=_whole_number)))
    except (ValueError, TypeError, RecursionError):  # TypeError: half a surrogate pair, which is no text
        return Rejection(
            source, number, "bad_json", str(problem), line.decode("utf-8", "backslashreplace").rstrip("\r\n")
        )
    return Record(source, number, data, line)


def _whole_number(digits: str) -> int | float:
    """Beyond 64 bits a number is read as a fraction, as it is in JSON Lines."""
    number = int(digits) if len(digits) < 20 else 1 << 64
    return number if -(1 << 63) <= number < 1 << 63 else float(digits)


def _document(stream: io.BufferedReader, source: str) -> Iterator[Record]:
    """An array gives its items, an object itself."""
    is_array = stream.peek(1 << 16).lstrip().startswith(b"[")
    for number, data in enumerate(ijson.items(stream, "item" if is_array else "", use_float=True), 1):
        yield Record(source, number, data, orjson.dumps(data, default=str))


def _lenient_document(path: UPath, source: str, given: int) -> Iterator[Record | Rejection]:
    """A document that is no strict JSON, read as Python reads it: NaN, huge numbers. This needs it all in memory."""
    with _opened(path) as stream:
        try:
            whole = json.load(stream)
        except (ValueError, RecursionError) as problem:
            raise _damaged(source, problem) from problem
    for number, data in enumerate(whole if isinstance(whole, list) else [whole], 1):
        if number > given:
            line = json.dumps(data).encode()
            yield _reread(source, number, line, ValueError("no JSON value"))


def _parquet(path: UPath, source: str) -> Iterator[Record]:
    """Values JSON does not have (decimals, bytes, durations) come as text."""
    number = 0
    with path.open("rb") as raw:
        for batch in pq.ParquetFile(raw).iter_batches(batch_size=64):
            for row in batch.to_pylist():
                number += 1
                line = orjson.dumps(row, default=str)
                yield Record(source, number, orjson.loads(line), line)


def first_records(path: UPath, count: int = 20) -> tuple[Any, ...]:
    """The data of the first readable records, for detection."""
    found: list[Any] = []
    for looked_at, record in enumerate(read_records(path, path.name)):
        if isinstance(record, Record):
            found.append(record.data)
        if len(found) == count or looked_at > 50 * count:
            break
    return tuple(found)

"""Stream records from files: JSON Lines, JSON documents and parquet, plain or compressed.

Memory holds one record at a time (one row group for parquet), never the whole file. A line that is not JSON or a record
that is too large becomes a rejection, and reading continues. Blank lines are skipped. In a document that is one large
object, the items of a nested list can be the records.
"""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import IO, Any

import ijson
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from upath import UPath

from evaluation_assets.core.text.exact_json import loads
from evaluation_assets.core.traces.formats.base import SHOWN, DropFile, Record, Rejection
from evaluation_assets.core.traces.formats.files.json_values import (
    Oversized,
    are_lines,
    as_line,
    starts_with_value,
    values_at,
)
from evaluation_assets.core.traces.formats.files.lenient import (
    reread,
    reread_document,
    reread_items,
    reread_line,
    reread_parts,
    reread_value,
)
from evaluation_assets.core.traces.formats.files.opening import damaged, offset_in, opened
from evaluation_assets.core.traces.formats.files.stored_rows import rows_in
from evaluation_assets.core.traces.formats.files.streamed import is_framed, unframed, whole_records
from evaluation_assets.core.traces.formats.files.unpacking import LARGEST_RECORD, TooLarge
from evaluation_assets.core.traces.trajectories.model import JsonObject

_LINES = {".jsonl", ".ndjson"}
_PRINTED = re.compile(rb'(?:\{[ \t\r]*\n\s*"|\[[ \t\r]*\n)')
"""Start of a pretty-printed document, whatever the name of the file."""
_MESSAGES = frozenset(("messages", "conversation", "conversations", "traj", "contents", "history", "input", "output"))
"""Columns that tables often have as JSON in a text, since not all tools can write nested columns."""


def read_records(file: DropFile) -> Iterator[Record | Rejection]:
    """Yield the records of one file in order.

    Raises:
        UnreadableDrop: the file as a whole is damaged: cut compression, broken parquet.
    """
    if file.page:
        return file.watch.over(_at(file.path, file.source, file.page))
    return file.watch.over(whole_records(_records(file.path, file.source)))


def first_object(file: DropFile) -> JsonObject | None:
    """The first record of a file, if it is an object."""
    first = next(read_records(file), None)
    return first.data if isinstance(first, Record) and isinstance(first.data, dict) else None


def _records(path: UPath, source: str) -> Iterator[Record | Rejection]:
    given = 0
    try:
        with opened(path) as stream:
            if stream.peek(4)[:4] == b"PAR1":
                records = parquet_rows(path, source)
            elif _is_document(stream, path):
                records = _items(stream, source, "item" if _starts_with(stream, b"[") else "")
            else:
                records = _lines(stream, source)
            for record in records:
                given += 1
                yield from _rows_of(record)
    except (ijson.JSONError, UnicodeDecodeError):
        yield from reread_document(path, source, given)
    except (EOFError, OSError, pa.ArrowException) as problem:
        if isinstance(problem, FileNotFoundError | PermissionError):
            raise
        raise damaged(source, problem) from problem


def _rows_of(record: Record | Rejection) -> Iterator[Record | Rejection]:
    """The rows that a record holds, or else the record."""
    rows = [] if isinstance(record, Rejection) else rows_in(record.data)
    if isinstance(record, Rejection) or rows == [record.data]:
        yield record
        return
    for number, row in enumerate(rows, 1):
        yield Record(record.source, record.line if len(rows) == 1 else number, row, as_line(row))


def read_items(file: DropFile, *prefixes: str) -> Iterator[Record | Rejection]:
    """Yield the items of the first list found at one of these paths of a JSON document, e.g. `data.simulations`.

    Raises:
        UnreadableDrop: the file is damaged.
    """
    return file.watch.over(_items_of(file.path, file.source, prefixes))


def _items_of(path: UPath, source: str, prefixes: Sequence[str]) -> Iterator[Record | Rejection]:
    for prefix in prefixes:
        is_there = False
        for record in _at(path, source, f"{prefix}.item"):
            is_there = True
            yield record
        if is_there:
            return


def _at(path: UPath, source: str, place: str) -> Iterator[Record | Rejection]:
    """The values at a path of a document, such as `data.simulations.item`, as records of the list that has them."""
    number, within = 0, place.partition(".item")[0]
    try:
        with opened(path) as stream:
            for record in _items(stream, source, place):
                number = record.line
                yield _within(record, within)
    except (ijson.JSONError, UnicodeDecodeError):
        for record in islice(reread_items(path, source, place), number, None):
            yield _within(record, within)
    except (EOFError, OSError, pa.ArrowException) as problem:
        raise damaged(source, problem) from problem


def is_document(file: DropFile) -> bool:
    """Whether a file is a single JSON value, and neither JSON Lines nor a page of records."""
    with opened(file.path) as stream:
        return not file.page and _is_document(stream, file.path)


def read_parts(path: UPath, source: str, *prefixes: str) -> Iterator[tuple[str, Any]]:
    """Yield all values at these paths of a JSON document, in document order, with their paths.

    Raises:
        UnreadableDrop: the file is damaged.
    """
    given = 0
    try:
        with opened(path) as stream:
            for place, value in values_at(stream, frozenset(prefixes)):
                if isinstance(value, Oversized):
                    raise TooLarge(f"contains a value larger than {LARGEST_RECORD >> 20} MB at {place}")
                given += 1
                yield place, value
    except (ijson.JSONError, UnicodeDecodeError):
        yield from islice(reread_parts(path, source, prefixes), given, None)
    except (EOFError, OSError, pa.ArrowException) as problem:
        raise damaged(source, problem) from problem


def read_value(path: UPath, source: str, prefix: str) -> Any:
    """The value at this path of a JSON document, e.g. `info`; `None` if there is none.

    Raises:
        UnreadableDrop: the file is damaged.
    """
    try:
        with opened(path) as stream:
            value = next((value for _, value in values_at(stream, frozenset([prefix]))), None)
            return None if isinstance(value, Oversized) else value
    except (ijson.JSONError, UnicodeDecodeError):
        return reread_value(path, source, prefix)
    except (EOFError, OSError, pa.ArrowException) as problem:
        raise damaged(source, problem) from problem


def record_of(raw: bytes, source: str, number: int) -> Record | Rejection:
    """Parse bytes as a record; a rejection if they are not JSON."""
    try:
        return Record(source, number, loads(raw), raw)
    except orjson.JSONDecodeError as problem:
        return reread(source, number, raw, problem)


def too_large(source: str, number: int, beginning: bytes) -> Rejection:
    """The rejection of a record above the size limit; only its beginning is kept."""
    shown = beginning[:SHOWN].decode("utf-8", "backslashreplace")
    return Rejection(source, number, "too_large", f"the record is larger than {LARGEST_RECORD >> 20} MB", shown)


def _starts_with(stream: io.BufferedReader, start: bytes) -> bool:
    return stream.peek(1 << 16).lstrip().startswith(start)


def _is_document(stream: io.BufferedReader, path: UPath) -> bool:
    """Whether the file is JSON values over several lines (an array, pretty-printed objects), not JSON Lines."""
    start = stream.peek(1 << 16).lstrip()
    if _PRINTED.match(start):
        return True
    if start.startswith(b"["):
        return not are_lines(start)
    names = {suffix.lower() for suffix in path.suffixes}
    return not names & _LINES and start.startswith(b"{") and b"\n" in start and not starts_with_value(start)


def _lines(stream: io.BufferedReader, source: str) -> Iterator[Record | Rejection]:
    number, start = 0, offset_in(stream)
    framed = is_framed(stream.peek(1 << 16))
    known = start is not None and not framed
    end = start or 0
    while line := stream.readline(LARGEST_RECORD + 1):
        number += 1
        start, end = end, end + len(line)
        if len(line) > LARGEST_RECORD:
            yield too_large(source, number, line)
            while line and not line.endswith(b"\n"):
                line = stream.readline(1 << 20)
                end += len(line)
            continue
        line = unframed(line) or b"\n" if framed else line
        try:
            yield Record(source, number, loads(line), line, start if known else None)
        except orjson.JSONDecodeError as problem:
            if line.isspace():
                continue
            again = reread_line(source, number, line, problem)
            if isinstance(again, Rejection):
                yield again
            else:
                yield from again if len(again) > 1 or not known else [replace(again[0], start=start)]


def _within(record: Record | Rejection, place: str) -> Record | Rejection:
    """A record that knows the path of the list it is in."""
    return replace(record, within=place) if isinstance(record, Record) else record


def _items(stream: IO[bytes], source: str, place: str) -> Iterator[Record | Rejection]:
    """Yield the values at one path of a document as records."""
    for number, (_, data) in enumerate(values_at(stream, frozenset([place])), 1):
        if isinstance(data, Oversized):
            yield too_large(source, number, b"")
        else:
            yield Record(source, number, data, as_line(data))


def parquet_rows(path: UPath, source: str) -> Iterator[Record]:
    """Convert types that JSON lacks (decimals, bytes, durations) to text; parse messages that are JSON in a text."""
    number = 0
    with path.open("rb") as raw:
        for batch in pq.ParquetFile(raw).iter_batches(batch_size=64):
            for row in batch.to_pylist():
                number += 1
                line = orjson.dumps({key: _messages_in(key, value) for key, value in row.items()}, default=str)
                yield Record(source, number, loads(line), line)


def _messages_in(column: str, value: Any) -> Any:
    """The list of objects in a JSON text, in a column that other files have as a list; other values unchanged."""
    if column.lower() not in _MESSAGES or not isinstance(value, str) or not value.lstrip().startswith("["):
        return value
    try:
        parsed = loads(value)
    except orjson.JSONDecodeError:
        return value
    return parsed if isinstance(parsed, list) and any(isinstance(item, dict) for item in parsed) else value

"""Records out of files: JSON Lines, JSON documents and parquet, plain or compressed, as a stream.

Memory holds one record at a time (one row group for parquet), never the file. A line that is no JSON, or a record that
is too large, becomes a rejection and the rest goes on. Lines of white space are not records. Of a document that is one
large object, the items of a list inside it can be records.
"""

import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import IO, Any, TypeVar
from zipfile import BadZipFile, ZipFile

import ijson
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from upath import UPath

from evaluation_assets.core.formats.base import DropFile, Record, Rejection, Sample, UnreadableDrop, UnusableRecord
from evaluation_assets.core.formats.unpacking import (
    COMPRESSION_MAGIC,
    LARGEST_RECORD,
    Metered,
    TooLarge,
    read_at_most,
    unpacked,
)
from evaluation_assets.core.trajectories.model import Trajectory, to_json

COMPRESSIONS = (".gz", ".zst")
EXTENSIONS = (".jsonl", ".ndjson", ".json", ".parquet", ".traj", ".eval", ".txt", ".log")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINES = {".jsonl", ".ndjson"}
_BEGINNING = 1 << 20
_SAMPLED = 20
_DEEPEST = 150
_DEEPEST_DOCUMENT = 500
_SHOWN = 2000
_TOLD = 300
"""Characters of an exception's message that a rejection tells."""

_LARGEST_LENIENT = 1 << 30
"""Bytes of a document that is no strict JSON: Python's parser needs all of it in memory, several times over."""

_LEAST = 8
"""Bytes that a value counts in the size of a record, however short it is: each becomes an object in memory."""

_STARTS, _ENDS = ("start_map", "start_array"), ("end_map", "end_array")
_CUT_ESCAPE = re.compile(rb"\\(?:u[0-9A-Fa-f]{0,3})?$")
_HALF_PAIR = re.compile(rb"\\u[dD][89abAB][0-9A-Fa-f]{2}$")


Made = TypeVar("Made")


def each_record(
    files: Sequence[DropFile], trajectory_of: Callable[[Record], Trajectory]
) -> Iterator[Trajectory | Rejection]:
    """One trajectory or one rejection a record, file after file."""
    for file in files:
        for record in read_records(file):
            yield record if isinstance(record, Rejection) else usable(record, trajectory_of)


def own_files(files: Sequence[DropFile], detect: Callable[[Sample], bool], name: str) -> Iterator[DropFile | Rejection]:
    """The files that hold the format called `name`; another file among several of a drop is one rejection.

    A file that is a whole drop is not asked: it came here because it was recognised, or because somebody said so.
    """
    for file in files:
        sample = sample_of(file) if len(files) > 1 else None
        if sample is None or detect(sample):
            yield file
        else:
            yield Rejection(
                file.source, 1, "not_this_format", f"the file is not in the format {name}", sample.text[:_SHOWN]
            )


def each_own_record(
    files: Sequence[DropFile],
    detect: Callable[[Sample], bool],
    name: str,
    trajectory_of: Callable[[Record], Trajectory],
) -> Iterator[Trajectory | Rejection]:
    """As `each_record`, over the files that hold the format."""
    for file in own_files(files, detect, name):
        if isinstance(file, Rejection):
            yield file
        else:
            yield from each_record([file], trajectory_of)


def usable(record: Record, trajectory_of: Callable[[Record], Trajectory]) -> Trajectory | Rejection:
    """The trajectory of a record, or why there is none."""

    def stored(record: Record) -> Trajectory:
        trajectory = trajectory_of(record)
        _check_can_be_stored(trajectory)
        return trajectory

    return attempted(record, stored)


def attempted(record: Record, read: Callable[[Record], Made]) -> Made | Rejection:
    """What is made of a record, or why that is nothing.

    Every reader passes here, with all it does to one record. Records are untrusted, and a reader cannot foresee
    every value in every field: whatever it raises is the fault of this record, is told with it, and stops no other.
    Only a damaged file that a record refers to is more than the record's problem.
    """
    try:
        return read(record)
    except UnusableRecord as problem:
        return record.rejected(problem)
    except UnreadableDrop:
        raise
    except Exception as problem:  # noqa: BLE001 - see above
        return record.rejected(reader_failed(problem))


def reader_failed(problem: Exception) -> UnusableRecord:
    """What a reader raised that no reader should, as the problem of a record."""
    told = " ".join(str(problem)[:_SHOWN].split())[:_TOLD]
    return UnusableRecord("reader_failed", f"{type(problem).__name__}: {told}")


def _check_can_be_stored(trajectory: Trajectory) -> None:
    """Refuse what no table can hold: half surrogate pairs, integers beyond 64 bits, values nested too deeply."""
    values = [trajectory.labels, trajectory.extra, *_tool_values(trajectory)]
    _check_depth(values)
    try:
        orjson.dumps(values)
        to_json(trajectory)
        trajectory.text.encode()
    except (TypeError, UnicodeEncodeError) as problem:
        raise UnusableRecord("bad_value", f"a value cannot be stored: {str(problem)[:_TOLD]}") from problem


def _check_depth(values: list[Any]) -> None:
    """Refuse what could be stored but not be read again: the JSON parser of stored trajectories ends at 200 levels."""
    for _ in range(_DEEPEST):
        values = [
            child
            for value in values
            if isinstance(value, dict | list)
            for child in (value.values() if isinstance(value, dict) else value)
            if isinstance(child, dict | list)
        ]
        if not values:
            return
    raise UnusableRecord("bad_json", f"values are nested more than {_DEEPEST} levels deep")


def _tool_values(trajectory: Trajectory) -> Iterator[Any]:
    yield from (step.call.arguments for step in trajectory.steps if step.call is not None)
    yield from (tool.parameters for agent in trajectory.agents for tool in agent.tools or ())


def read_records(file: DropFile) -> Iterator[Record | Rejection]:
    """The records of one file in order.

    Raises:
        UnreadableDrop: the file as a whole is damaged: cut compression, broken parquet.
    """
    return file.handed.over(_records(file.path, file.source))


def _records(path: UPath, source: str) -> Iterator[Record | Rejection]:
    given = 0
    try:
        with _opened(path) as stream:
            if stream.peek(4)[:4] == b"PAR1":
                records = _parquet(path, source)
            elif _is_document(stream, path):
                records = _items(stream, source, "item" if _starts_with(stream, b"[") else "")
            else:
                records = _lines(stream, source)
            for record in records:
                given += 1
                yield record
    except (ijson.JSONError, UnicodeDecodeError):
        yield from _lenient_document(path, source, given)
    except (EOFError, OSError, pa.ArrowException) as problem:
        if isinstance(problem, FileNotFoundError | PermissionError):
            raise
        raise _damaged(source, problem) from problem


def read_items(file: DropFile, *prefixes: str) -> Iterator[Record | Rejection]:
    """The items of the first list in a JSON document that stands at one of these places, e.g. `data.simulations`.

    Raises:
        UnreadableDrop: the file is damaged.
    """
    return file.handed.over(_items_of(file.path, file.source, prefixes))


def _items_of(path: UPath, source: str, prefixes: Sequence[str]) -> Iterator[Record | Rejection]:
    for prefix in prefixes:
        number = 0
        try:
            with _opened(path) as stream:
                for record in _items(stream, source, f"{prefix}.item"):
                    number = record.line
                    yield record
        except (ijson.JSONError, UnicodeDecodeError):
            yield from islice(_lenient_items(path, source, prefix), number, None)
            return
        except (EOFError, OSError, pa.ArrowException) as problem:
            raise _damaged(source, problem) from problem
        if number:
            return


def is_document(path: UPath) -> bool:
    """Whether a file is one JSON value, and not one a line."""
    with _opened(path) as stream:
        return _is_document(stream, path)


def read_parts(path: UPath, source: str, *prefixes: str) -> Iterator[tuple[str, Any]]:
    """All values of a JSON document that stand at these places, in the order of the document, each with its place.

    Raises:
        UnreadableDrop: the file is damaged.
    """
    given = 0
    try:
        with _opened(path) as stream:
            for place, value in _values_at(stream, frozenset(prefixes)):
                if isinstance(value, _Oversized):
                    raise TooLarge(f"holds a value of more than {LARGEST_RECORD >> 20} MB at {place}")
                given += 1
                yield place, value
    except (ijson.JSONError, UnicodeDecodeError):
        yield from islice(_parts_in(_lenient(path, source), "", prefixes), given, None)
    except (EOFError, OSError, pa.ArrowException) as problem:
        raise _damaged(source, problem) from problem


def read_value(path: UPath, source: str, prefix: str) -> Any:
    """The value in a JSON document that stands at this place, e.g. `info`; `None` where there is none.

    Raises:
        UnreadableDrop: the file is damaged.
    """
    try:
        with _opened(path) as stream:
            value = next((value for _, value in _values_at(stream, frozenset([prefix]))), None)
            return None if isinstance(value, _Oversized) else value
    except (ijson.JSONError, UnicodeDecodeError):
        return _lenient_value(path, source, prefix)
    except (EOFError, OSError, pa.ArrowException) as problem:
        raise _damaged(source, problem) from problem


def record_of(raw: bytes, source: str, number: int) -> Record | Rejection:
    """The JSON value that some bytes are, as a record, or why they are none."""
    try:
        return Record(source, number, orjson.loads(raw), raw)
    except orjson.JSONDecodeError as problem:
        return _reread(source, number, raw, problem)


def read_text(path: UPath, source: str) -> str:
    """A whole file as text; bytes that are no UTF-8 are written as escapes.

    Raises:
        UnreadableDrop: the file is damaged.
    """
    try:
        with _opened(path) as stream:
            content = read_at_most(stream, LARGEST_RECORD)
            if content is None:
                raise TooLarge(f"is a text of more than {LARGEST_RECORD >> 20} MB")
            return content.decode("utf-8", "backslashreplace")
    except (EOFError, OSError, pa.ArrowException) as problem:
        raise _damaged(source, problem) from problem


def sample_of(file: DropFile) -> Sample:
    """The beginning of a file, at most a megabyte of it.

    Raises:
        UnreadableDrop: the file is damaged there.
    """
    path = file.path
    try:
        with _opened(path) as stream:
            magic = stream.peek(4)[:4]
            if magic == b"PAR1":
                return Sample(records=tuple(record.data for record in islice(_parquet(path, path.name), _SAMPLED)))
            if magic == b"PK\x03\x04":
                with path.open("rb") as archive, ZipFile(archive) as opened:
                    return Sample(members=tuple(opened.namelist()))
            beginning = stream.read(_BEGINNING)
    except (EOFError, OSError, pa.ArrowException, BadZipFile) as problem:
        if isinstance(problem, FileNotFoundError | PermissionError):
            raise
        raise _damaged(file.source, problem) from problem
    if _looks_like_utf_16(beginning[:_SHOWN]):
        raise UnreadableDrop(f"{file.source} looks like UTF-16. Convert it to UTF-8.")
    return Sample(records=_first_records(beginning), text=beginning.decode("utf-8", "replace"))


def _looks_like_utf_16(beginning: bytes) -> bool:
    """Whether many bytes are zero, or some are after a byte order mark."""
    return beginning.count(0) * 4 > len(beginning) or (beginning[:2] in (b"\xff\xfe", b"\xfe\xff") and 0 in beginning)


def _first_records(beginning: bytes) -> tuple[Any, ...]:
    """The values of an array, or of the lines; a first line that is no value may be the start of a long one."""
    if _are_lines(beginning) or (_starts_with_value(beginning) and not beginning.lstrip().startswith(b"[")):
        return _values_of_lines(beginning)
    whole, is_intact = _cut_document(beginning)
    values = whole[:_SAMPLED] if isinstance(whole, list) else [whole] if whole else []
    is_array = beginning.lstrip().startswith(b"[")
    return tuple(values) if is_intact or is_array else (*_values_of_lines(beginning), *values)


def _values_of_lines(beginning: bytes) -> tuple[Any, ...]:
    found: list[Any] = []
    for line in beginning.split(b"\n", 50 * _SAMPLED)[: 50 * _SAMPLED]:
        with suppress(ValueError):
            found.append(_loaded(line))
        if len(found) == _SAMPLED:
            break
    return tuple(found)


def _are_lines(beginning: bytes) -> bool:
    """Whether the first line is a value of its own, and more follow."""
    return _starts_with_value(beginning) and bool(beginning.lstrip().partition(b"\n")[2].strip())


def _starts_with_value(beginning: bytes) -> bool:
    try:
        _loaded(beginning.lstrip().partition(b"\n")[0])
    except ValueError:
        return False
    return True


def _cut_document(beginning: bytes) -> tuple[Any, bool]:
    """A JSON value whose end may be missing, as far as it goes, and whether nothing else is amiss with it.

    A text in it that is longer than the beginning is closed where the beginning ends.
    """
    if len(beginning) < _BEGINNING:
        with suppress(ValueError):
            return _loaded(beginning), True
    else:
        whole = beginning.decode("utf-8", "ignore").encode()  # without the first bytes of a character
        beginning = _without_end(_without_end(whole, _CUT_ESCAPE), _HALF_PAIR) + b'"'
    builder = ijson.ObjectBuilder()
    is_document = True
    try:
        for event, value in _parsed(io.BytesIO(beginning)):
            builder.event(event, value)
    except ijson.JSONError as problem:
        is_document = "premature EOF" in str(problem)
    except UnicodeDecodeError:
        is_document = False
    return getattr(builder, "value", None), is_document


def _without_end(text: bytes, escape: re.Pattern[bytes]) -> bytes:
    """A JSON text without an escape at its end; a backslash that is escaped itself begins none."""
    found = escape.search(text, max(0, len(text) - 6))
    if found is None:
        return text
    before = text[: found.start()]
    backslashes = len(before) - len(before.rstrip(b"\\"))
    return text if backslashes % 2 else before


def _parsed(stream: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """The events of a JSON document. The names of places grow with every level: a deep one would fill the memory."""
    depth, metered = 0, Metered(stream)
    for event, value in ijson.basic_parse(metered, use_float=True):
        metered.count = 0  # the parser keeps a text in memory until it ends
        if event in _STARTS:
            depth += 1
            if depth > _DEEPEST_DOCUMENT:
                raise ijson.JSONError(f"values are nested more than {_DEEPEST_DOCUMENT} levels deep")
        elif event in _ENDS:
            depth -= 1
        yield event, value


def _damaged(source: str, problem: Exception) -> UnreadableDrop:
    if isinstance(problem, TooLarge):
        return UnreadableDrop(f"{source} {problem}. Split it into smaller records, or remove it.")
    return UnreadableDrop(f"{source} is damaged: {problem}. Copy it again, or remove it.")


@contextmanager
def _opened(path: UPath) -> Iterator[io.BufferedReader]:
    with path.open("rb") as raw:
        magic = raw.read(4)
        raw.seek(0)
        compression = next((name for start, name in COMPRESSION_MAGIC.items() if magic.startswith(start)), None)
        stream: Any = raw if compression is None else unpacked(raw, compression)
        opened = io.BufferedReader(stream, 1 << 20)
        if opened.peek(3)[:3] == _BYTE_ORDER_MARK:
            opened.read(3)
        yield opened


def _starts_with(stream: io.BufferedReader, start: bytes) -> bool:
    return stream.peek(1 << 16).lstrip().startswith(start)


def _is_document(stream: io.BufferedReader, path: UPath) -> bool:
    """Whether the file is one JSON value (an array or a printed object) and not one value a line."""
    start = stream.peek(1 << 16).lstrip()
    if start.startswith(b"["):
        return not _are_lines(start)
    names = {suffix.lower() for suffix in path.suffixes}
    return not names & _LINES and start.startswith(b"{") and b"\n" in start and not _starts_with_value(start)


def _lines(stream: io.BufferedReader, source: str) -> Iterator[Record | Rejection]:
    loads, number = orjson.loads, 0
    while line := stream.readline(LARGEST_RECORD + 1):
        number += 1
        if len(line) > LARGEST_RECORD:
            yield too_large(source, number, line)
            while line and not line.endswith(b"\n"):
                line = stream.readline(1 << 20)
            continue
        try:
            yield Record(source, number, loads(line), line)
        except orjson.JSONDecodeError as problem:
            if line.isspace():
                continue
            yield _reread(source, number, line, problem)


def too_large(source: str, number: int, beginning: bytes) -> Rejection:
    """The rejection of a record beyond the limit, of which only the beginning is kept."""
    shown = beginning[:_SHOWN].decode("utf-8", "backslashreplace")
    return Rejection(source, number, "too_large", f"the record has more than {LARGEST_RECORD >> 20} MB", shown)


def _reread(source: str, number: int, line: bytes, problem: ValueError) -> Record | Rejection:
    """A line that is no strict JSON: a record where Python reads it, else a rejection."""
    try:
        data = _loaded(line)
    except ValueError:
        return Rejection(
            source, number, "bad_json", str(problem), line.decode("utf-8", "backslashreplace").rstrip("\r\n")
        )
    return Record(source, number, data, line)


def as_json(value: Any) -> Any:
    """A value of Python as JSON has it: keys are texts, tuples lists, and numbers of any size are read.

    Raises:
        ValueError: it holds half a surrogate pair, or it is nested too deeply.
        TypeError: it holds what JSON does not have.
    """
    return _loaded(json.dumps(value).encode())


def _loaded(line: bytes) -> Any:
    """A JSON value. Python writes NaN and Infinity, which are no JSON: they are read as missing.

    Raises:
        ValueError: it is no JSON value, it holds half a surrogate pair, or it is nested too deeply.
    """
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            return orjson.loads(orjson.dumps(json.loads(line, parse_int=_whole_number)))
        except (TypeError, RecursionError) as problem:  # TypeError: half a surrogate pair, which is no text
            raise ValueError(str(problem)) from problem


def _whole_number(digits: str) -> int | float:
    """Beyond 64 bits a number is read as a fraction, as it is in JSON Lines."""
    number = int(digits) if len(digits) < 20 else 1 << 64
    return number if -(1 << 63) <= number < 1 << 63 else float(digits)


class _Oversized:
    """Stands for a value that was too large to be built."""


_OVERSIZED = _Oversized()


def _values_at(stream: IO[bytes], places: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """The values of a JSON document that stand at these places, one in memory at a time, each with its place."""
    builder: Any = None
    place, depth, size = "", 0, 0
    for prefix, event, value in ijson.parse(_parsed(stream)):
        is_start, is_end = event in _STARTS, event in _ENDS
        if depth == 0:
            if prefix not in places or is_end or event == "map_key":
                continue
            place, size, builder = prefix, 0, ijson.ObjectBuilder()
        size += len(value) if isinstance(value, str) else _LEAST
        depth += is_start - is_end
        if size > LARGEST_RECORD:
            builder = None
        if builder is not None:
            builder.event(event, value)
        if depth == 0:
            yield place, _OVERSIZED if builder is None else builder.value


def _items(stream: IO[bytes], source: str, place: str) -> Iterator[Record | Rejection]:
    """The values at one place of a document as records."""
    for number, (_, data) in enumerate(_values_at(stream, frozenset([place])), 1):
        if isinstance(data, _Oversized):
            yield too_large(source, number, b"")
        else:
            yield Record(source, number, data, as_line(data))


def as_line(data: Any) -> bytes:
    """A parsed value as JSON again; what is nested too deep for that is only named."""
    try:
        return orjson.dumps(data, default=str)
    except orjson.JSONEncodeError as problem:
        return str(problem).encode()


def _lenient_document(path: UPath, source: str, given: int) -> Iterator[Record | Rejection]:
    """A document that is no strict JSON, read as Python reads it."""
    whole = _lenient(path, source)
    yield from islice(_reread_all(source, whole if isinstance(whole, list) else [whole]), given, None)


def _lenient_items(path: UPath, source: str, prefix: str) -> Iterator[Record | Rejection]:
    found = _at(_lenient(path, source), prefix)
    return _reread_all(source, found if isinstance(found, list) else [])


def _parts_in(value: Any, place: str, wanted: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The values below a place that stand at the wanted ones, in order."""
    if place in wanted:
        yield place, value
    elif not place or any(one.startswith(f"{place}.") for one in wanted):
        listed = [("item", item) for item in value] if isinstance(value, list) else []
        for key, item in value.items() if isinstance(value, dict) else listed:
            yield from _parts_in(item, f"{place}.{key}" if place else key, wanted)


def _lenient_value(path: UPath, source: str, prefix: str) -> Any:
    found = _at(_lenient(path, source), prefix)
    record = next(_reread_all(source, [found]))
    return record.data if isinstance(record, Record) else None


def _lenient(path: UPath, source: str) -> Any:
    """A document with what Python writes and JSON does not have: NaN, huge numbers. This needs it all in memory."""
    with _opened(path) as stream:
        try:
            content = read_at_most(stream, _LARGEST_LENIENT)
            if content is None:
                raise TooLarge(f"is no strict JSON and has more than {_LARGEST_LENIENT >> 20} MB")
            return json.loads(content, parse_int=_whole_number)
        except (ValueError, RecursionError, EOFError, OSError, pa.ArrowException) as problem:
            raise _damaged(source, problem) from problem


def _reread_all(source: str, items: list[Any]) -> Iterator[Record | Rejection]:
    for number, data in enumerate(items, 1):
        yield _reread(source, number, json.dumps(data).encode(), ValueError("no JSON value"))


def _at(value: Any, prefix: str) -> Any:
    for key in prefix.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _parquet(path: UPath, source: str) -> Iterator[Record]:
    """Values JSON does not have (decimals, bytes, durations) come as text."""
    number = 0
    with path.open("rb") as raw:
        for batch in pq.ParquetFile(raw).iter_batches(batch_size=64):
            for row in batch.to_pylist():
                number += 1
                line = orjson.dumps(row, default=str)
                yield Record(source, number, orjson.loads(line), line)

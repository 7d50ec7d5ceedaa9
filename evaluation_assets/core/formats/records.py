"""Records out of files: JSON Lines, JSON documents and parquet, plain or compressed, as a stream.

Memory holds one record at a time (one row group for parquet), never the file. A line that is no JSON becomes a
rejection and the rest goes on. Lines of white space are not records. Of a document that is one large object, the
items of a list inside it can be records.
"""

import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

import ijson
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from upath import UPath

from evaluation_assets.core.formats.base import DropFile, Record, Rejection, Sample, UnreadableDrop, UnusableRecord
from evaluation_assets.core.trajectories.model import Trajectory

COMPRESSIONS = (".gz", ".zst")
_COMPRESSION_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
EXTENSIONS = (".jsonl", ".ndjson", ".json", ".parquet", ".traj", ".eval", ".txt", ".log")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINES = {".jsonl", ".ndjson"}
_BEGINNING = 1 << 20
_SAMPLED = 20
_DEEPEST = 150
_DEEPEST_DOCUMENT = 500
_SHOWN = 2000


def each_record(
    files: Sequence[DropFile], trajectory_of: Callable[[Record], Trajectory]
) -> Iterator[Trajectory | Rejection]:
    """One trajectory or one rejection a record, file after file."""
    for file in files:
        for record in read_records(file.path, file.source):
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
    try:
        trajectory = trajectory_of(record)
        _check_depth(trajectory)
    except UnusableRecord as problem:
        return record.rejected(problem)
    return trajectory


def _check_depth(trajectory: Trajectory) -> None:
    """Refuse what could be stored but not be read again: the JSON parser of stored trajectories ends at 200 levels."""
    values: list[Any] = [trajectory.labels, trajectory.extra, *_tool_values(trajectory)]
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
    except (ijson.JSONError, UnicodeDecodeError):
        yield from _lenient_document(path, source, given)
    except (EOFError, OSError, pa.ArrowException) as problem:
        if isinstance(problem, FileNotFoundError | PermissionError):
            raise
        raise _damaged(source, problem) from problem


def read_items(path: UPath, source: str, *prefixes: str) -> Iterator[Record | Rejection]:
    """The items of the first list in a JSON document that stands at one of these places, e.g. `data.simulations`.

    Raises:
        UnreadableDrop: the file is damaged.
    """
    for prefix in prefixes:
        number = 0
        try:
            with _opened(path) as stream:
                for number, data in enumerate(ijson.items(ijson.parse(_parsed(stream)), f"{prefix}.item"), 1):
                    yield Record(source, number, data, _as_line(data))
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
    wanted = frozenset(prefixes)
    builder, place = ijson.ObjectBuilder(), ""
    try:
        with _opened(path) as stream:
            for prefix, event, value in ijson.parse(_parsed(stream)):
                if not place and prefix in wanted and event in ("start_map", "start_array"):
                    builder, place = ijson.ObjectBuilder(), prefix
                if place:
                    builder.event(event, value)
                    if prefix == place and event in ("end_map", "end_array"):
                        yield place, builder.value
                        place = ""
    except (ijson.JSONError, UnicodeDecodeError, EOFError, OSError, pa.ArrowException) as problem:
        raise _damaged(source, problem) from problem


def read_value(path: UPath, source: str, prefix: str) -> Any:
    """The value in a JSON document that stands at this place, e.g. `info`; `None` where there is none.

    Raises:
        UnreadableDrop: the file is damaged.
    """
    try:
        with _opened(path) as stream:
            return next(ijson.items(ijson.parse(_parsed(stream)), prefix), None)
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
            return stream.read().decode("utf-8", "backslashreplace")
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
    return Sample(records=_first_records(beginning), text=beginning.decode("utf-8", "replace"))


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
        with suppress(orjson.JSONDecodeError):
            found.append(orjson.loads(line))
        if len(found) == _SAMPLED:
            break
    return tuple(found)


def _are_lines(beginning: bytes) -> bool:
    """Whether the first line is a value of its own, and more follow."""
    return _starts_with_value(beginning) and bool(beginning.lstrip().partition(b"\n")[2].strip())


def _starts_with_value(beginning: bytes) -> bool:
    try:
        orjson.loads(beginning.lstrip().partition(b"\n")[0])
    except orjson.JSONDecodeError:
        return False
    return True


def _cut_document(beginning: bytes) -> tuple[Any, bool]:
    """A JSON value whose end may be missing, as far as it goes, and whether nothing else is amiss with it.

    A text in it that is longer than the beginning is closed at its last space, where no character or escape is cut.
    """
    if len(beginning) == _BEGINNING:
        beginning = beginning.rpartition(b" ")[0] + b'"'
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


def _parsed(stream: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """The events of a JSON document. The names of places grow with every level: a deep one would fill the memory."""
    depth = 0
    for event, value in ijson.basic_parse(stream, use_float=True):
        if event in ("start_map", "start_array"):
            depth += 1
            if depth > _DEEPEST_DOCUMENT:
                raise ijson.JSONError(f"values are nested more than {_DEEPEST_DOCUMENT} levels deep")
        elif event in ("end_map", "end_array"):
            depth -= 1
        yield event, value


def _damaged(source: str, problem: Exception) -> UnreadableDrop:
    return UnreadableDrop(f"{source} is damaged: {problem}. Copy it again, or remove it.")


@contextmanager
def _opened(path: UPath) -> Iterator[io.BufferedReader]:
    with path.open("rb") as raw:
        magic = raw.read(4)
        raw.seek(0)
        compression = next((name for start, name in _COMPRESSION_MAGIC.items() if magic.startswith(start)), None)
        stream: Any = raw if compression is None else pa.CompressedInputStream(pa.PythonFile(raw, "r"), compression)
        opened = io.BufferedReader(stream, 1 << 20)
        if opened.peek(3)[:3] == _BYTE_ORDER_MARK:
            opened.read(3)
        yield opened


def _is_document(stream: io.BufferedReader, path: UPath) -> bool:
    """Whether the file is one JSON value (an array or a printed object) and not one value a line."""
    start = stream.peek(1 << 16).lstrip()
    if start.startswith(b"["):
        return not _are_lines(start)
    names = {suffix.lower() for suffix in path.suffixes}
    return not names & _LINES and start.startswith(b"{") and b"\n" in start and not _starts_with_value(start)


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
    for number, data in enumerate(ijson.items(ijson.parse(_parsed(stream)), "item" if is_array else ""), 1):
        yield Record(source, number, data, _as_line(data))


def _as_line(data: Any) -> bytes:
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


def _lenient_value(path: UPath, source: str, prefix: str) -> Any:
    found = _at(_lenient(path, source), prefix)
    record = next(_reread_all(source, [found]))
    return record.data if isinstance(record, Record) else None


def _lenient(path: UPath, source: str) -> Any:
    """A document with what Python writes and JSON does not have: NaN, huge numbers. This needs it all in memory."""
    with _opened(path) as stream:
        try:
            return json.load(stream)
        except (ValueError, RecursionError) as problem:
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

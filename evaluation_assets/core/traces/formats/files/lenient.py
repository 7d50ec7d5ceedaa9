"""Parse what Python writes but strict parsers refuse: NaN, Infinity, huge numbers, objects as it prints them.

Needs the whole document.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
from upath import UPath

from evaluation_assets.core.traces.formats.base import Record, Rejection
from evaluation_assets.core.traces.formats.files.json_values import as_line, documents, value_of_line
from evaluation_assets.core.traces.formats.files.opening import damaged, opened
from evaluation_assets.core.traces.formats.files.unpacking import TooLarge, read_at_most

_LARGEST_LENIENT = 1 << 30
"""Size limit for documents that are not strict JSON: Python's parser needs several times their size in memory."""


def reread(source: str, number: int, line: bytes, problem: ValueError) -> Record | Rejection:
    """Parse a line that is not strict JSON; a rejection if Python's parser fails as well."""
    try:
        data = value_of_line(line)
    except ValueError:
        return Rejection(
            source, number, "bad_json", str(problem), line.decode("utf-8", "backslashreplace").rstrip("\r\n")
        )
    return Record(source, number, data, line)


def reread_line(source: str, number: int, line: bytes, problem: ValueError) -> list[Record] | Rejection:
    """The records of a line that is not strict JSON: one, or objects without breaks between them, as streams write.

    Zeros that a file system left before or after them when power failed are not part of them.
    """
    again = reread(source, number, line, problem)
    if isinstance(again, Record):
        return [again]
    try:
        values = documents(line.strip(b"\0 \t\r\n"))
    except (ValueError, RecursionError):
        return again
    are_objects = all(isinstance(value, dict) for value in values)
    return [Record(source, number, value, as_line(value)) for value in values] if are_objects else again


def reread_document(path: UPath, source: str, given: int) -> Iterator[Record | Rejection]:
    """Parse a document that is not strict JSON with Python's parser."""
    items = [item for whole in _all(path, source) for item in (whole if isinstance(whole, list) else [whole])]
    yield from islice(_reread_all(source, items), given, None)


def reread_items(path: UPath, source: str, place: str) -> Iterator[Record | Rejection]:
    """The values at one path of a lenient document, such as `data.item`."""
    return _reread_all(source, [value for _, value in reread_parts(path, source, [place])])


def reread_value(path: UPath, source: str, prefix: str) -> Any:
    """The value at one path of a lenient document."""
    first = next((value for whole in _all(path, source) if (value := _at(whole, prefix)) is not None), None)
    record = next(_reread_all(source, [first]))
    return record.data if isinstance(record, Record) else None


def reread_parts(path: UPath, source: str, places: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The values at the given paths of a lenient document, in order, with their paths."""
    return (part for whole in _all(path, source) for part in _parts_in(whole, "", places))


def _parts_in(value: Any, place: str, wanted: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The values at the wanted paths below a path, in order."""
    if place in wanted:
        yield place, value
    elif not place or any(one.startswith(f"{place}.") for one in wanted):
        listed = [("item", item) for item in value] if isinstance(value, list) else []
        for key, item in value.items() if isinstance(value, dict) else listed:
            yield from _parts_in(item, f"{place}.{key}" if place else key, wanted)


def _all(path: UPath, source: str) -> list[Any]:
    """Load all documents of a file, usually one, that may contain NaN or huge numbers."""
    with opened(path) as stream:
        try:
            content = read_at_most(stream, _LARGEST_LENIENT)
            if content is None:
                raise TooLarge(f"is not strict JSON and is larger than {_LARGEST_LENIENT >> 20} MB")
            return documents(content)
        except (ValueError, RecursionError, EOFError, OSError, pa.ArrowException) as problem:
            raise damaged(source, problem) from problem


def _reread_all(source: str, items: list[Any]) -> Iterator[Record | Rejection]:
    for number, data in enumerate(items, 1):
        yield reread(source, number, json.dumps(data).encode(), ValueError("not a JSON value"))


def _at(value: Any, prefix: str) -> Any:
    for key in prefix.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value

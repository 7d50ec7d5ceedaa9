"""JSON as Python writes it and strict parsers refuse it: NaN, Infinity, huge numbers. A document is read as a whole."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
from upath import UPath

from evaluation_assets.core.formats.base import Record, Rejection
from evaluation_assets.core.formats.files.json_values import loaded, whole_number
from evaluation_assets.core.formats.files.opening import damaged, opened
from evaluation_assets.core.formats.files.unpacking import TooLarge, read_at_most

_LARGEST_LENIENT = 1 << 30
"""Bytes of a document that is no strict JSON: Python's parser needs all of it in memory, several times over."""


def reread(source: str, number: int, line: bytes, problem: ValueError) -> Record | Rejection:
    """A line that is no strict JSON: a record where Python reads it, else a rejection."""
    try:
        data = loaded(line)
    except ValueError:
        return Rejection(
            source, number, "bad_json", str(problem), line.decode("utf-8", "backslashreplace").rstrip("\r\n")
        )
    return Record(source, number, data, line)


def reread_document(path: UPath, source: str, given: int) -> Iterator[Record | Rejection]:
    """A document that is no strict JSON, read as Python reads it."""
    whole = _whole(path, source)
    yield from islice(_reread_all(source, whole if isinstance(whole, list) else [whole]), given, None)


def reread_items(path: UPath, source: str, prefix: str) -> Iterator[Record | Rejection]:
    """The items of the list at one place of such a document."""
    found = _at(_whole(path, source), prefix)
    return _reread_all(source, found if isinstance(found, list) else [])


def reread_value(path: UPath, source: str, prefix: str) -> Any:
    """The value at one place of such a document."""
    found = _at(_whole(path, source), prefix)
    record = next(_reread_all(source, [found]))
    return record.data if isinstance(record, Record) else None


def reread_parts(path: UPath, source: str, places: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The values at some places of such a document, in order, each with its place."""
    return _parts_in(_whole(path, source), "", places)


def _parts_in(value: Any, place: str, wanted: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The values below a place that stand at the wanted ones, in order."""
    if place in wanted:
        yield place, value
    elif not place or any(one.startswith(f"{place}.") for one in wanted):
        listed = [("item", item) for item in value] if isinstance(value, list) else []
        for key, item in value.items() if isinstance(value, dict) else listed:
            yield from _parts_in(item, f"{place}.{key}" if place else key, wanted)


def _whole(path: UPath, source: str) -> Any:
    """A document with what Python writes and JSON does not have: NaN, huge numbers. This needs it all in memory."""
    with opened(path) as stream:
        try:
            content = read_at_most(stream, _LARGEST_LENIENT)
            if content is None:
                raise TooLarge(f"is no strict JSON and has more than {_LARGEST_LENIENT >> 20} MB")
            return json.loads(content, parse_int=whole_number)
        except (ValueError, RecursionError, EOFError, OSError, pa.ArrowException) as problem:
            raise damaged(source, problem) from problem


def _reread_all(source: str, items: list[Any]) -> Iterator[Record | Rejection]:
    for number, data in enumerate(items, 1):
        yield reread(source, number, json.dumps(data).encode(), ValueError("no JSON value"))


def _at(value: Any, prefix: str) -> Any:
    for key in prefix.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value

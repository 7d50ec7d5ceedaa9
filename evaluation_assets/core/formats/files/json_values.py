"""JSON values out of bytes: whole texts, and the values at some places of a document that is read event by event."""

import json
from collections.abc import Iterator
from typing import IO, Any

import ijson
import orjson

from evaluation_assets.core.formats.files.unpacking import LARGEST_RECORD, Metered

_DEEPEST_DOCUMENT = 500
_LEAST = 8
"""Bytes that a value counts in the size of a record, however short it is: each becomes an object in memory."""
STARTS, ENDS = ("start_map", "start_array"), ("end_map", "end_array")


def loaded(line: bytes) -> Any:
    """A JSON value. Python writes NaN and Infinity, which are no JSON: they are read as missing.

    Raises:
        ValueError: it is no JSON value, it holds half a surrogate pair, or it is nested too deeply.
    """
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            return orjson.loads(orjson.dumps(json.loads(line, parse_int=whole_number)))
        except (TypeError, RecursionError) as problem:  # TypeError: half a surrogate pair, which is no text
            raise ValueError(str(problem)) from problem


def whole_number(digits: str) -> int | float:
    """Beyond 64 bits a number is read as a fraction, as it is in JSON Lines."""
    number = int(digits) if len(digits) < 20 else 1 << 64
    return number if -(1 << 63) <= number < 1 << 63 else float(digits)


def as_json(value: Any) -> Any:
    """A value of Python as JSON has it: keys are texts, tuples lists, and numbers of any size are read.

    Raises:
        ValueError: it holds half a surrogate pair, or it is nested too deeply.
        TypeError: it holds what JSON does not have.
    """
    return loaded(json.dumps(value).encode())


def as_line(data: Any) -> bytes:
    """A parsed value as JSON again; what is nested too deep for that is only named."""
    try:
        return orjson.dumps(data, default=str)
    except orjson.JSONEncodeError as problem:
        return str(problem).encode()


def starts_with_value(beginning: bytes) -> bool:
    """Whether the first line is a JSON value."""
    try:
        loaded(beginning.lstrip().partition(b"\n")[0])
    except ValueError:
        return False
    return True


def are_lines(beginning: bytes) -> bool:
    """Whether the first line is a value of its own, and more follow."""
    return starts_with_value(beginning) and bool(beginning.lstrip().partition(b"\n")[2].strip())


def events_in(stream: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """The events of a JSON document. The names of places grow with every level: a deep one would fill the memory."""
    depth, metered = 0, Metered(stream)
    for event, value in ijson.basic_parse(metered, use_float=True):
        metered.count = 0  # the parser keeps a text in memory until it ends
        if event in STARTS:
            depth += 1
            if depth > _DEEPEST_DOCUMENT:
                raise ijson.JSONError(f"values are nested more than {_DEEPEST_DOCUMENT} levels deep")
        elif event in ENDS:
            depth -= 1
        yield event, value


class Oversized:
    """Stands for a value that was too large to be built."""


_OVERSIZED = Oversized()


def values_at(stream: IO[bytes], places: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """The values of a JSON document that stand at these places, one in memory at a time, each with its place."""
    builder: Any = None
    place, depth, size = "", 0, 0
    for prefix, event, value in ijson.parse(events_in(stream)):
        is_start, is_end = event in STARTS, event in ENDS
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

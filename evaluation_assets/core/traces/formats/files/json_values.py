"""Parse JSON values from bytes: complete texts, and values at given paths of a streamed document."""

import json
import re
from collections.abc import Iterator
from typing import IO, Any

import ijson
import orjson

from evaluation_assets.core.text.exact_json import integer, loads
from evaluation_assets.core.text.python_source import literal
from evaluation_assets.core.text.well_formed import well_formed_json
from evaluation_assets.core.traces.formats.files.unpacking import LARGEST_RECORD, Metered

_DEEPEST_DOCUMENT = 500
_LEAST = 8
"""Minimum number of bytes counted per value: even a short value becomes an object in memory."""
_BLANKS = re.compile(r"[ \t\r\n]*")
_PRINTED = re.compile(rb"\s*\{'")
"""Start of an object as Python prints it."""
STARTS, ENDS = ("start_map", "start_array"), ("end_map", "end_array")


def loaded(line: bytes) -> Any:
    """Parse a JSON value. NaN and Infinity, which Python writes although JSON lacks them, become null.

    Lone surrogates become U+FFFD: programs that cut results in the middle of an emoji write them.

    Raises:
        ValueError: the text is not JSON, or is nested too deeply.
    """
    try:
        return loads(line)
    except orjson.JSONDecodeError:
        try:
            return orjson.loads(orjson.dumps(well_formed_json(json.loads(line, parse_int=integer))))
        except (TypeError, RecursionError) as problem:  # TypeError: nested too deeply for orjson
            raise ValueError(str(problem)) from problem


def documents(content: bytes) -> list[Any]:
    """Parse one JSON document, or several in a row, as Python does: with NaN, Infinity and integers of any size.

    Raises:
        ValueError: the content is not JSON.
        RecursionError: it is nested too deeply.
    """
    text = content.decode(json.detect_encoding(content), "surrogatepass")
    decoder, values, place = json.JSONDecoder(parse_int=integer), [], _after_blanks(text, 0)
    while place < len(text) or not values:
        value, end = decoder.raw_decode(text, place)
        values.append(value)
        place = _after_blanks(text, end)
    return values


def _after_blanks(text: str, place: int) -> int:
    blanks = _BLANKS.match(text, place)
    return place if blanks is None else blanks.end()


def as_json(value: Any) -> Any:
    """Convert a Python value to JSON types: string keys, lists for tuples, numbers of any size.

    Raises:
        ValueError: the value is nested too deeply.
        TypeError: the value contains a type that JSON lacks.
    """
    return loaded(json.dumps(value).encode())


def as_line(data: Any) -> bytes:
    """Serialise a parsed value; a placeholder if it is nested too deeply."""
    try:
        return orjson.dumps(data, default=str)
    except orjson.JSONEncodeError as problem:
        return str(problem).encode()


def value_of_line(line: bytes) -> Any:
    """Parse a line that is a JSON value, or an object as Python prints it.

    Raises:
        ValueError: the line is neither.
    """
    if not _PRINTED.match(line):
        return loaded(line)
    try:
        return as_json(literal(line.decode().strip()))
    except (TypeError, SyntaxError, MemoryError, RecursionError) as problem:
        raise ValueError(str(problem)) from problem


def starts_with_value(beginning: bytes) -> bool:
    """Whether the first line is a value."""
    try:
        value_of_line(beginning.lstrip().partition(b"\n")[0])
    except ValueError:
        return False
    return True


def are_lines(beginning: bytes) -> bool:
    """Whether the first line is a complete value and more lines follow."""
    return starts_with_value(beginning) and bool(beginning.lstrip().partition(b"\n")[2].strip())


def events_in(stream: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """Stream the events of a JSON document, or of several in a row, as OpenTelemetry's console exporter writes them.

    Limits the depth, since paths grow with every level and fill the memory.
    """
    depth, metered = 0, Metered(stream)
    for event, value in ijson.basic_parse(metered, use_float=True, multiple_values=True):
        metered.count = 0  # the parser buffers a string until it ends
        if event in STARTS:
            depth += 1
            if depth > _DEEPEST_DOCUMENT:
                raise ijson.JSONError(f"values are nested more than {_DEEPEST_DOCUMENT} levels deep")
        elif event in ENDS:
            depth -= 1
        yield event, value


class Oversized:
    """Marks a value that is too large to be built."""


_OVERSIZED = Oversized()


def values_at(stream: IO[bytes], places: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """Yield the values at these paths of a JSON document with their paths, one in memory at a time."""
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

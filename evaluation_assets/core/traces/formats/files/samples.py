"""Read the beginning of files for format detection."""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any
from zipfile import BadZipFile, ZipFile

import ijson
import pyarrow as pa

from evaluation_assets.core.traces.formats.base import SHOWN, DropFile, Record, Rejection, Sample, UnreadableDrop
from evaluation_assets.core.traces.formats.files.json_values import (
    ENDS,
    STARTS,
    are_lines,
    events_in,
    loaded,
    starts_with_value,
    value_of_line,
)
from evaluation_assets.core.traces.formats.files.opening import damaged, opened, read_text
from evaluation_assets.core.traces.formats.files.pages import page_in
from evaluation_assets.core.traces.formats.files.records import first_object, parquet_rows
from evaluation_assets.core.traces.formats.files.stored_rows import rows_in
from evaluation_assets.core.traces.formats.files.streamed import is_framed, unframed, whole_answers, within

_BEGINNING = 1 << 20
_LONGEST_CHARACTER = 4
"""Bytes."""

_SAMPLED = 20
_CUT_ESCAPE = re.compile(rb"\\(?:u[0-9A-Fa-f]{0,3})?$")
_HALF_PAIR = re.compile(rb"\\u[dD][89abAB][0-9A-Fa-f]{2}$")

OTHER_FORMAT = "the file is not in format"
"""How the rejection of a file begins that is read by another reader than that of its drop."""


def sample_of(file: DropFile) -> Sample:
    """Read the beginning of a file, at most one megabyte. The records of a page are those in it.

    Raises:
        UnreadableDrop: the file is damaged within that range.
    """
    whole = _sample_of(file)
    page = page_in(whole) if file.page else None
    return whole if page is None else page[1]


def _sample_of(file: DropFile) -> Sample:
    path = file.path
    try:
        with opened(path) as stream:
            magic = stream.peek(4)[:4]
            if magic == b"PAR1":
                rows = (row for record in parquet_rows(path, path.name) for row in rows_in(record.data))
                return Sample(records=tuple(islice(rows, _SAMPLED)))
            if magic == b"PK\x03\x04":
                with path.open("rb") as archive, ZipFile(archive) as unzipped:
                    return Sample(members=tuple(unzipped.namelist()))
            beginning = stream.read(_BEGINNING)
    except (EOFError, OSError, pa.ArrowException, BadZipFile) as problem:
        if isinstance(problem, FileNotFoundError | PermissionError):
            raise
        raise damaged(file.source, problem) from problem
    if _looks_like_utf_16(beginning[:SHOWN]):
        raise UnreadableDrop(f"{file.source} looks like UTF-16 or binary data. Convert it to UTF-8, or remove it.")
    records = [row for record in _first_records(beginning) for row in rows_in(record)[:_SAMPLED]]
    return Sample(records=tuple(map(within, whole_answers(records))), text=beginning.decode("utf-8", "replace"))


def with_first_record(file: DropFile, sample: Sample) -> Sample:
    """A sample that may end within its first record, with all of that record: what tells its format may come late.

    Raises:
        UnreadableDrop: the file is damaged within that record.
    """
    if len(sample.records) > 1 or len(sample.text) < _BEGINNING // _LONGEST_CHARACTER:
        return sample
    first = first_object(file)
    return sample if first is None else replace(sample, records=(first,))


def text_record(file: DropFile) -> Record | None:
    """A file of plain text as one record; `None` for a file of records.

    Raises:
        UnreadableDrop: the file is damaged.
    """
    if not sample_of(file).is_plain_text:
        return None
    text = read_text(file.path, file.source)
    return Record(file.source, 1, text, text.encode())


def own_files(files: Sequence[DropFile], detect: Callable[[Sample], bool], name: str) -> Iterator[DropFile | Rejection]:
    """The files in the format `name`; each other file of the drop becomes one rejection, also one that is damaged.

    A single-file drop is not checked again: its format was detected or given by the user.
    """
    for file in files:
        try:
            sample = sample_of(file) if len(files) > 1 else None
        except UnreadableDrop as problem:
            yield Rejection(file.source, 1, "not_this_format", str(problem), "")
            continue
        if sample is None or detect(sample) or detect(with_first_record(file, sample)):
            yield file
        else:
            yield Rejection(file.source, 1, "not_this_format", f"{OTHER_FORMAT} {name}", sample.text[:SHOWN])


def _looks_like_utf_16(beginning: bytes) -> bool:
    """Whether the bytes look like UTF-16: many zero bytes, or some after a byte order mark."""
    return beginning.count(0) * 4 > len(beginning) or (beginning[:2] in (b"\xff\xfe", b"\xfe\xff") and 0 in beginning)


def _first_records(beginning: bytes) -> tuple[Any, ...]:
    """The values of an array or of the lines; an incomplete first line may be the start of a long value."""
    if is_framed(beginning):
        return _values_of_lines(b"\n".join(map(unframed, beginning.split(b"\n", 50 * _SAMPLED))))
    if are_lines(beginning) or (starts_with_value(beginning) and not beginning.lstrip().startswith(b"[")):
        return _values_of_lines(beginning)
    documents, is_intact = _cut_documents(beginning)
    records = (item for whole in documents if whole for item in (whole if isinstance(whole, list) else [whole]))
    values = list(islice(records, _SAMPLED))
    is_array = beginning.lstrip().startswith(b"[")
    return tuple(values) if is_intact or is_array else (*_values_of_lines(beginning), *values)


def _values_of_lines(beginning: bytes) -> tuple[Any, ...]:
    values: list[Any] = []
    for line in beginning.split(b"\n", 50 * _SAMPLED)[: 50 * _SAMPLED]:
        with suppress(ValueError):
            values.append(value_of_line(line))
        if len(values) == _SAMPLED:
            break
    return tuple(values)


def _cut_documents(beginning: bytes) -> tuple[list[Any], bool]:
    """Parse a JSON value, or several in a row, whose end may be missing, and whether it is valid otherwise.

    A string that runs past the end of the sample is closed there.
    """
    if len(beginning) < _BEGINNING:
        with suppress(ValueError):
            return [loaded(beginning)], True
    else:
        whole = beginning.decode("utf-8", "ignore").encode()  # drop an incomplete character at the end
        beginning = _without_end(_without_end(whole, _CUT_ESCAPE), _HALF_PAIR) + b'"'
    builders: list[ijson.ObjectBuilder] = []
    is_document, depth = True, 0
    try:
        for event, value in events_in(io.BytesIO(beginning)):
            if depth == 0:
                builders.append(ijson.ObjectBuilder())
            depth += (event in STARTS) - (event in ENDS)
            builders[-1].event(event, value)
    except ijson.JSONError as problem:
        is_document = "premature EOF" in str(problem)
    except UnicodeDecodeError:
        is_document = False
    return [builder.value for builder in builders if hasattr(builder, "value")], is_document


def _without_end(text: bytes, escape: re.Pattern[bytes]) -> bytes:
    """A JSON text without an incomplete escape at its end; an escaped backslash does not start one."""
    match = escape.search(text, max(0, len(text) - 6))
    if match is None:
        return text
    before = text[: match.start()]
    backslashes = len(before) - len(before.rstrip(b"\\"))
    return text if backslashes % 2 else before

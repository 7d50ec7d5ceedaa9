"""What the results of tools hold, where they are JSON or printed by Python, whatever is put around them."""

import csv
import json
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from evaluation_assets.core.traces.formats.untyped import printed_value
from evaluation_assets.core.traces.trajectories.model import JsonObject, json_document
from evaluation_assets.core.traces.trajectories.wrapped_results import value_inside

_BEGINS = re.compile(r"[{\[]")
_PRINTED = re.compile(r"[\[\s]*(?:\{\s*)?'")
_HEADING = 80
"""Characters before a value, such as `Result:`."""

_LONGEST = 200_000
_DEEPEST = 3
_JSON = json.JSONDecoder()
_HTML_ROW = re.compile(r"<tr\b[^<>]{0,200}>((?:(?!<tr\b).)*?)</tr>", re.IGNORECASE | re.DOTALL)
_HTML_CELL = re.compile(r"<t[hd]\b[^<>]{0,200}>((?:(?!<t[hd]\b).)*?)</t[hd]>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]{1,300}>")
_ENCODED = re.compile(r"https?://[^\s\"'<>%]{0,2000}%[0-9A-Fa-f]{2}[^\s\"'<>]{0,2000}")
"""An address with percent-encoded characters, which may hold a quotation of its page."""

_MARKS = ("|", "\t", ";", ",")
_RULE = re.compile(r"[\s|:+-]+")
_CELL = re.compile(r"[-+$€£]?\d[\d.,]*")
_FEWEST_LINES = 2
_MOST_LINES = 500
_OTHER_LINES = 2
"""Lines beside a table, such as the number of its rows."""


def document_of(result: str) -> JsonObject | list[Any] | None:
    """The object or list that a result is, or is put around; `None` if it is none."""
    document = json_document(result)
    if document is None and len(result) <= _LONGEST:
        document = _printed(result)
    for _ in range(_DEEPEST):
        inner = value_inside(document)
        if isinstance(inner, str):
            inner = json_document(inner)
        if inner is None:
            break
        document = inner
    return document


def _printed(result: str) -> JsonObject | list[Any] | None:
    """A value below a heading or above a remark, or as Python prints it."""
    begins = _BEGINS.search(result, 0, _HEADING)
    if begins is None:
        return None
    try:
        value, _ = _JSON.raw_decode(result, begins.start())
    except (ValueError, RecursionError):
        is_printed = _PRINTED.match(result, begins.start()) is not None
        value = printed_value(result[begins.start() :].strip()) if is_printed else None
    is_record = isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], dict | list))
    return value if is_record else None


def table_of(result: str) -> list[JsonObject] | None:
    """The records of a table with a line of headings: CSV, or columns between bars or tabs."""
    if _HTML_ROW.search(result) is not None:
        result = "\n".join(
            "|".join(_TAG.sub(" ", cell).replace("|", "/").strip() or "-" for cell in _HTML_CELL.findall(row))
            for row in _HTML_ROW.findall(result[:_LONGEST])
        )
    lines = [line for line in result[:_LONGEST].splitlines() if line.strip() and _RULE.fullmatch(line) is None]
    mark = next((mark for mark in _MARKS if lines and mark in lines[0]), None)
    if mark is None or len(lines) < _FEWEST_LINES:
        return None
    lines = lines[:_MOST_LINES]
    if mark == "|":
        rows: list[Sequence[str]] = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    else:
        rows = _rows(lines, mark)
    if not rows:
        return None
    heads = rows[0]
    same = [row for row in rows[1:] if len(row) == len(heads)]
    if any(_CELL.fullmatch(head.strip()) for head in heads) or len(same) < max(1, len(rows) - 1 - _OTHER_LINES):
        return None
    return [dict(zip(heads, (cell.strip() for cell in row), strict=True)) for row in same]


def as_read(result: str) -> str:
    """A result as its values are read: addresses decoded, and the cells of a table apart. All lines stay."""
    if "%" in result:
        result = _ENCODED.sub(lambda found: " ".join(unquote(found.group()).splitlines()), result)
    return _cells_apart(result)


def _cells_apart(result: str) -> str:
    """A result with a space between the cells of a table of CSV: of `DE,12,30` no number is 12.30. All lines stay."""
    first = result[:_LONGEST].lstrip().partition("\n")[0]
    if "," not in first or first[:1] in ("{", "[") or any(mark in first for mark in _MARKS[:-1]):
        return result
    if table_of(result) is None:
        return result
    return "\n".join(map(" | ".join, _rows(result.splitlines(), ","))) or result


def _rows(lines: Sequence[str], mark: str) -> list[Sequence[str]]:
    """The cells of lines; none of lines that are no CSV."""
    try:
        return list(csv.reader(lines, delimiter=mark))
    except csv.Error:  # a cell without an end
        return []

"""Sums that a reader of a result makes at once: of one field over all records of a list, or over two neighbours."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from evaluation_assets.core.sections.findings.results import document_of

_FIGURE = re.compile(r"[$€£]?-?\d{1,12}(?:,\d{3})*(?:\.\d{1,4})?")
"""A number that is written as a text."""

_NO_DIGIT = re.compile(r"[^\d.-]")
_LONGEST_READ = 200_000
_DEEPEST = 12
_MOST_RECORDS = 200


def totals_in(result: str) -> Iterator[float]:
    """The sums of the lists of records in a result that is JSON."""
    if len(result) <= _LONGEST_READ:
        yield from _in_value(document_of(result), _DEEPEST)


def _in_value(value: Any, depth: int) -> Iterator[float]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, list) and 1 < len(value) <= _MOST_RECORDS:
        yield from _of_records([dict(_figures(item, "", depth)) for item in value if isinstance(item, dict)])
    if depth:
        for item in inner:
            yield from _in_value(item, depth - 1)


def _of_records(records: Sequence[dict[str, float]]) -> Iterator[float]:
    for name in dict.fromkeys(name for record in records for name in record):
        own = [record[name] for record in records if name in record]
        yield round(sum(own), 2)
        yield from (round(one + other, 2) for one, other in pairwise(own))


def _figures(record: dict[str, Any], path: str, depth: int) -> Iterator[tuple[str, float]]:
    """The numbers of a record by the path of their field, not those of lists in it."""
    for name, value in record.items():
        if isinstance(value, dict) and depth:
            yield from _figures(value, f"{path}{name}.", depth - 1)
        elif isinstance(value, str) and _FIGURE.fullmatch(value) is not None:
            yield f"{path}{name}", float(_NO_DIGIT.sub("", value))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{path}{name}", float(value)

"""Sums and shares that a reader of results makes at once: of one field over records, or over two neighbours."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from statistics import fmean
from typing import Any

from evaluation_assets.core.sections.findings.evidence.results import document_of, table_of
from evaluation_assets.core.sections.findings.evidence.values import money_in
from evaluation_assets.core.text.exact_json import is_number
from evaluation_assets.core.traces.trajectories.calls import inner

_FIGURE = re.compile(r"[$€£]?-?\d{1,12}(?:,\d{3})*(?:\.\d{1,4})?")
"""A number that is written as a text."""

_WORDS = re.compile(r"[^\W\d_]{4,20}(?: [^\W\d_]{4,20})?")
_NO_DIGIT = re.compile(r"[^\d.-]")
_LONGEST_READ = 200_000
_DEEPEST = 12
_MOST_RECORDS = 200
_FEW = 12
"""Records whose shares are read: of more, any percentage is one."""

_MOST_NUMBERS = 8
_PERCENT = 100.0

Record = dict[str, float]


def records_in(result: str) -> list[list[Record]]:
    """The lists of records in a result that is JSON or a table; of an object without a list, itself."""
    if len(result) > _LONGEST_READ:
        return []
    document = document_of(result)
    if document is None and (table := table_of(result)) is not None:
        return [_records(table)]
    lists = list(_lists(document, _DEEPEST))
    return lists or ([[dict(_figures(document, "", _DEEPEST))]] if isinstance(document, dict) else [])


def named_figures(result: str) -> Iterator[tuple[str, float]]:
    """The only figures of records within a result, each with a word of the record that says what it is of."""
    if len(result) <= _LONGEST_READ:
        yield from _named(document_of(result), _DEEPEST)


def _named(value: Any, depth: int) -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        figures = [each for each in value.values() if is_number(each)]
        if len(figures) == 1:
            words = (each.casefold().replace("_", " ") for each in value.values() if isinstance(each, str))
            yield from ((word, float(figures[0])) for word in words if _WORDS.fullmatch(word))
    if depth:
        for item in inner(value):
            yield from _named(item, depth - 1)


def totals_of(records: Sequence[Record]) -> Iterator[float]:
    """The sums of each field over all records, whatever their sign, and over two neighbours."""
    if 1 < len(records) <= _MOST_RECORDS:
        for own in _columns(records):
            yield abs(round(sum(own), 2))
            yield from (round(one + other, 2) for one, other in pairwise(own))


def differences_of(records: Sequence[Record]) -> Iterator[float]:
    """By how much few records differ from their neighbours in each field."""
    if 1 < len(records) <= _FEW:
        for own in _columns(records):
            yield from (abs(round(one - other, 2)) for one, other in pairwise(own))


def means_of(records: Sequence[Record]) -> Iterator[float]:
    """The mean of each field over all records, whatever its sign."""
    if 1 < len(records) <= _MOST_RECORDS:
        yield from (abs(fmean(own)) for own in _columns(records))


def shares_of(records: Sequence[Record]) -> Iterator[float]:
    """The percentages that few records have in the total of a field, and by which it differs in neighbours."""
    if 1 < len(records) <= _FEW:
        for own in _columns(records):
            total = sum(own)
            yield from (_PERCENT * one / total for one in own if total > 0)
            yield from (_PERCENT * abs(other / one - 1) for one, other in pairwise(own) if one > 0)


def sums_in_lines(text: str) -> Iterator[float]:
    """The sums of two amounts of money in one line of instructions: a price, and what is added to it."""
    for line in text.splitlines():
        numbers = list(islice(money_in(line), _MOST_NUMBERS))
        yield from (round(one + other, 2) for at, one in enumerate(numbers) for other in numbers[at + 1 :])


def _columns(records: Sequence[Record]) -> Iterator[list[float]]:
    for name in dict.fromkeys(name for record in records for name in record):
        yield [record[name] for record in records if name in record]


def _lists(value: Any, depth: int) -> Iterator[list[Record]]:
    if isinstance(value, list) and 0 < len(value) <= _MOST_RECORDS:
        records = _records(value)
        if records:
            yield records
    if depth:
        for item in inner(value):
            yield from _lists(item, depth - 1)


def _records(items: Sequence[Any]) -> list[Record]:
    return [dict(_figures(item, "", _DEEPEST)) for item in items if isinstance(item, dict)]


def _figures(record: dict[str, Any], path: str, depth: int) -> Iterator[tuple[str, float]]:
    """The numbers of a record by the path of their field, not those of lists in it."""
    for name, value in record.items():
        if isinstance(value, dict) and depth:
            yield from _figures(value, f"{path}{name}.", depth - 1)
        elif isinstance(value, str) and _FIGURE.fullmatch(value) is not None:
            yield f"{path}{name}", float(_NO_DIGIT.sub("", value))
        elif is_number(value):
            yield f"{path}{name}", float(value)

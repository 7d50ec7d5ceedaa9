"""Where the record that a call returns disagrees with its arguments: it has one field otherwise and others alike."""

import math
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from evaluation_assets.core.traces.trajectories.calls import inner
from evaluation_assets.core.traces.trajectories.model import JsonObject

_AGREEING = 2
"""Fields that agree, for each that does not: a result that has little in common with its call is about other things."""

_MOST_FIELDS = 200
_MOST_WORDS = 3
_DEEPEST = 6
_CENTS = 100
_LETTERS = str.maketrans({"ø": "o", "æ": "a", "œ": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})


class Field(NamedTuple):
    """A value of a call's arguments, and what the record has in its place."""

    name: str
    own: Any
    other: Any


def disputed(arguments: JsonObject, record: JsonObject, is_excused: Callable[[Field], bool]) -> list[Field]:
    """The fields that a record has otherwise, if most are as in the call. What is excused does not count."""
    pairs = list(islice(_pairs(arguments, record), _MOST_FIELDS))
    others = [field for field in pairs if not _is_same(field.own, field.other)]
    agreeing = len(pairs) - len(others)
    others = [field for field in others if not is_excused(field)]
    return others if agreeing >= _AGREEING * len(others) else []


def nested(document: Any, name: str) -> list[str]:
    """The values that a document has under a name, however deep."""
    return list(islice(_nested(document, name, _DEEPEST), _MOST_FIELDS))


def _nested(document: Any, name: str, depth: int) -> Iterator[str]:
    if isinstance(document, dict) and isinstance(value := document.get(name), str | int | float):
        yield str(value)
    for each in inner(document) if depth else ():
        yield from _nested(each, name, depth - 1)


def is_batch_of_more(arguments: JsonObject, document: Any) -> bool:
    """Whether a result has more lists of records than the only list of the call has texts to look for."""
    asked = [value for value in arguments.values() if isinstance(value, list)]
    if isinstance(document, dict) and len(document) == 1:
        (document,) = document.values()
    if len(asked) != 1 or not isinstance(document, list) or len(document) <= len(asked[0]) or not asked[0]:
        return False
    return all(isinstance(text, str) for text in asked[0]) and all(
        isinstance(answer, list) and answer and all(isinstance(record, dict) for record in answer)
        for answer in document
    )


def _pairs(own: JsonObject, record: JsonObject) -> Iterator[Field]:
    for name, value in own.items():
        other = record.get(name)
        if isinstance(value, list) and isinstance(other, list):
            yield from _pairs_of_lists(name, value, other)
        elif _are_comparable(value, other):
            yield Field(name, value, other)


def _pairs_of_lists(name: str, own: Sequence[Any], others: Sequence[Any]) -> Iterator[Field]:
    if len(own) != len(others):
        yield Field(name, own, others)
        others = [next((other for other in others if _has_all(other, one)), None) for one in own]
    for one, other in zip(own, others, strict=True):
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _pairs(one, other)
        elif _are_comparable(one, other):
            yield Field(name, one, other)


def _has_all(record: Any, part: Any) -> bool:
    """Whether a record of a list has all fields of one of the call."""
    if isinstance(record, dict) and isinstance(part, dict):
        return all(record.get(name) == value for name, value in part.items())
    return record == part


def _are_comparable(own: Any, other: Any) -> bool:
    if isinstance(own, bool) or isinstance(other, bool):
        return isinstance(own, bool) and isinstance(other, bool)
    if isinstance(own, str) and isinstance(other, str):
        return max(len(own.split()), len(other.split())) <= _MOST_WORDS
    return isinstance(own, int | float) and isinstance(other, int | float)


def _is_same(own: Any, other: Any) -> bool:
    """Whether two values are the same, but for how they are written: `cancel` and `cancelled`."""
    if isinstance(own, str) and isinstance(other, str):
        one, another = plain_letters(own), plain_letters(other)
        return one.startswith(another) or another.startswith(one)
    if isinstance(own, bool) or isinstance(other, bool) or not isinstance(own, int | float):
        return own == other
    return isinstance(other, int | float) and are_equal(own, other)


def are_equal(own: float, other: float) -> bool:
    """Whether two numbers are the same, or the same amount in cents."""
    return own == other or (own % 1 != 0 and math.isclose(own * _CENTS, other))


def plain_letters(text: str) -> str:
    """A text in Latin letters without marks, without spaces: `Müller` and `Mueller` are one name."""
    folded = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return "".join(filter(str.isalnum, folded)).replace("ae", "a").replace("oe", "o").replace("ue", "u")

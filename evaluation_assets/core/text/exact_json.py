"""JSON whose integers keep their digits: one that 64 bits cannot hold is an ID, and becomes a text."""

import json
import re
from typing import Any, TypeGuard

import orjson

_DIGITS = bytes(ord("0") if chr(code) in "0123456789" else ord(" ") for code in range(256))
_LONG = b"0" * 20
"""Digits of the shortest integer that may exceed 64 bits, after a translation by `_DIGITS`, which is fast."""
_MOST_DIGITS = 4000
"""More digits take Python long to read."""
_INTEGER = re.compile(rb"(?:^|[-:,\[\s])[1-9][0-9]{19,}(?:[\s,\]}]|$)")


def loads(data: bytes | str) -> Any:
    """Parse a JSON value, as orjson does, whose integers of more than 64 bits are texts and no floats.

    Raises:
        orjson.JSONDecodeError: the text is not JSON.
    """
    value = orjson.loads(data)
    raw = data.encode() if isinstance(data, str) else data
    if _LONG not in raw.translate(_DIGITS) or _INTEGER.search(raw) is None:
        return value
    try:
        return json.loads(raw, parse_int=integer)
    except RecursionError:
        return value


def integer(digits: str) -> int | str:
    """An integer, as its digits if 64 bits cannot hold it."""
    number = int(digits) if len(digits) <= len(_LONG) else 1 << 64
    return number if -(1 << 63) <= number < 1 << 64 else digits


def is_long_integer(value: Any) -> bool:
    """Whether a value is the digits of an integer that 64 bits cannot hold."""
    digits = value.removeprefix("-") if isinstance(value, str) else ""
    is_one = digits.isascii() and digits.isdigit() and not digits.startswith("0")
    return is_one and len(digits) <= _MOST_DIGITS and integer(value) == value


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether a value is a number of JSON, of which true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)

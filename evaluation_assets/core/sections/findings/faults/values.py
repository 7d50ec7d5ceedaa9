"""Values in texts, and others of the same type: numbers, dates, IDs, names."""

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from random import Random
from typing import Literal

ValueType = Literal["date", "ID", "number", "code", "name"]

_PATTERNS: dict[ValueType, str] = {
    "date": r"(?<!\d)(?:19|20)\d\d-[01]\d-[0-3]\d(?!\d)",
    "ID": r"(?<![\w-])(?!\d+(?:st|nd|rd|th)\b)(?=[\w-]*[A-Za-z])(?=[\w-]*\d)[A-Za-z0-9](?:[\w-]*[A-Za-z0-9])?(?![\w-])",
    "number": r"(?<![\w.,:])\d+(?:[.,:]\d+)*(?!\w)",
    "code": r"(?<![\w-])[A-Z]{3,5}(?![\w-])",
    "name": r"(?<!\w)[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*(?!\w)",
}
_ANY = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _PATTERNS.items()))
_FEWEST_DIGITS = 2
"""Single digits number lists and count things; they occur in every text."""

_ATTEMPTS = 20
_MOST_NAMES = 2000


def values_in(text: str) -> Iterator[tuple[ValueType, str]]:
    """The values in a text with their types."""
    for match in _ANY.finditer(text):
        value = match.group()
        type_: ValueType = next(name for name in _PATTERNS if name == match.lastgroup)
        if type_ != "number" or sum(map(str.isdigit, value)) >= _FEWEST_DIGITS:
            yield type_, value


def occurrences(text: str, value: str) -> Iterator[re.Match[str]]:
    """Where a text has a value that is not a part of a longer word or number."""
    return re.finditer(_whole(value), text)


def with_other(text: str, value: str, other: str) -> str:
    """The text with another value wherever it has this one."""
    return re.sub(_whole(value), lambda _: other, text)


def _whole(value: str) -> str:
    return rf"(?<![\w]){re.escape(value)}(?![\w]|[.,]\d)"


def has_value(text: str, value: str) -> bool:
    """Whether a text has the value; thousands may be separated."""
    return any(next(occurrences(text, each), None) for each in {value, value.replace(",", "")})


def other_value(type_: ValueType, value: str, random: Random, text: str) -> str | None:
    """Another value of the same type, which replaces one in a run with this text; `None` if there is none.

    A name stands in the middle of a sentence or in quotes somewhere: what only begins sentences is a word.

    Dates, IDs and numbers are such that the text does not have; names and codes are others that it has.
    """
    if type_ in ("name", "code"):
        return None if _is_common(type_, value, text) else _other_name(type_, value, random, text)
    for _ in range(_ATTEMPTS):
        changed = _CHANGES[type_](value, random)
        if changed is not None and changed != value and not has_value(text, changed):
            return changed
    return None


def _other_name(type_: ValueType, value: str, random: Random, text: str) -> str | None:
    names: dict[str, None] = {}
    for match in re.finditer(_PATTERNS[type_], text):
        name = match.group()
        if name not in value and value not in name and len(name.split()) == len(value.split()):
            names[name] = None
            if len(names) >= _MOST_NAMES:
                break
    alike = [name for name in names if type_ == "name" or len(name) == len(value)]
    random.shuffle(alike)
    return next((name for name in alike if not _is_common(type_, name, text)), None)


def _is_common(type_: ValueType, name: str, text: str) -> bool:
    """Whether it is a word at the start of a sentence, not a name: only there, or in lower case too."""
    return type_ == "name" and (
        re.search(rf"""(?:[\w,] |["']){re.escape(name)}(?!\w)""", text) is None
        or any(next(occurrences(text, word), None) for word in name.lower().split())
    )


def _other_date(value: str, random: Random) -> str | None:
    try:
        return (date.fromisoformat(value) + timedelta(days=random.choice((-1, 1)) * random.randint(2, 28))).isoformat()
    except (ValueError, OverflowError):
        return None


def _other_digits(value: str, random: Random) -> str | None:
    """The value with one digit changed; the first of a number stays if there is another, and none becomes 0."""
    places = [at for at, character in enumerate(value) if character in "0123456789"]
    at = places[-1] if ":" in value else random.choice(places[1:] or places)  # 10:30 is a time, and 10:80 is not
    return value[:at] + random.choice("123456789".replace(value[at], "")) + value[at + 1 :]


_CHANGES: dict[ValueType, Callable[[str, Random], str | None]] = {
    "date": _other_date,
    "ID": _other_digits,
    "number": _other_digits,
}

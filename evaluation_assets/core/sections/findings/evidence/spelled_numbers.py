"""Numbers that people write in English words: `three hundred and fifty`, `fifteen hundred`, `two dozen`."""

import re
from collections.abc import Iterator

_BELOW_TWENTY = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
    """
_UNITS = {word: number for number, word in enumerate(_BELOW_TWENTY.split())}
_TENS = {
    word: 10 * number
    for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_SMALL = _UNITS | _TENS
_POWERS = {"thousand": 1000, "grand": 1000, "million": 1_000_000}
_TIMES = {"hundred": 100, "dozen": 12}
_ANY = "|".join((*_SMALL, *_POWERS, *_TIMES))
_SPELLED = re.compile(rf"\b(?:a |(?=(?:{_ANY})\b))(?:{_ANY})(?:(?:[ -]|,? and | )(?:{_ANY}))*\b", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+")
_LONGEST = 120
_LEAST = 20


def spelled_numbers(text: str) -> Iterator[int]:
    """The numbers from 20 on that a text spells out."""
    for match in _SPELLED.finditer(text):
        if (
            match.end() - match.start() <= _LONGEST
            and (number := _number(_WORD.findall(match[0].casefold()))) >= _LEAST
        ):
            yield number


def _number(words: list[str]) -> int:
    total = group = 0
    for word in words:
        if word in _POWERS:
            total, group = total + max(group, 1) * _POWERS[word], 0
        elif word in _TIMES:
            group = max(group, 1) * _TIMES[word]
        else:
            group += _SMALL.get(word, 0)
    return total + group

"""Search a text for many regular expressions at once, trying only those that can match.

An alternation of a hundred patterns is tried pattern by pattern at each character. Most patterns contain words that
most texts do not: looking for these first is much cheaper, and changes no result.
"""

import importlib
import re
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from ahocorasick_rs import AhoCorasick

_parser: Any = importlib.import_module("re._parser")
"""Python's own parser of patterns; it has no public name."""

_MOST = 4
"""Texts that are kept apart as what a part of a pattern may match."""

_DOTTED_I = str.maketrans({"\u0130": "i", "\u0131": "i"})
"""Letters that `re.IGNORECASE` takes for an i, other than `str.casefold`."""

Texts = frozenset[str]
_EMPTY: Texts = frozenset({""})


class RequiredTexts:
    """Tells in one pass which of many patterns a text can match at all."""

    def __init__(self, patterns: Iterable[str]) -> None:
        needed = [required_texts(pattern) for pattern in patterns]
        self._always = {number for number, texts in enumerate(needed) if not texts}
        pairs = [(text, number) for number, texts in enumerate(needed) for text in texts]
        self._numbers = [number for _, number in pairs]
        self._needed = AhoCorasick([text for text, _ in pairs])

    def in_any(self, text: str) -> bool:
        """Whether a text contains what one of the patterns requires; if not, none matches any part of it."""
        return bool(self._always or self._needed.find_matches_as_indexes(_searchable(text)))

    def possible(self, text: str) -> set[int]:
        """The patterns, by number, of which a text has what they require."""
        contained = self._needed.find_matches_as_indexes(_searchable(text), overlapping=True)
        return self._always.union([self._numbers[place] for place, _, _ in contained])


class PatternSet:
    """Finds what an alternation of the patterns, `(?:first)|(?:second)|...`, would find.

    Patterns must not have named groups, nor refer to groups.
    """

    def __init__(self, patterns: Sequence[str], flags: re.RegexFlag = re.NOFLAG) -> None:
        self._patterns = [re.compile(pattern, flags) for pattern in patterns]
        self._required = RequiredTexts(patterns)

    def search(self, text: str) -> re.Match[str] | None:
        """The first match in a text; where several patterns match at the same place, that of the first one."""
        possible = sorted(self._required.possible(text))
        matches = [match for number in possible if (match := self._patterns[number].search(text)) is not None]
        return min(matches, key=re.Match.start, default=None)

    def matches(self, text: str) -> bool:
        """Whether there is a match in a text."""
        return any(self._patterns[number].search(text) is not None for number in self._required.possible(text))

    def may_match(self, text: str) -> bool:
        """Whether a text contains what one of the patterns requires; if not, none matches any part of it."""
        return self._required.in_any(text)


def _searchable(text: str) -> str:
    """A text with folded case, with something else in place of halves of characters, which patterns never require."""
    folded = folded_case(text)
    return folded if folded.isascii() else folded.encode("utf-8", "replace").decode()


def folded_case(text: str) -> str:
    """A text in which letters are equal if `re.IGNORECASE` matches one with the other."""
    return (text if text.isascii() else text.translate(_DOTTED_I)).casefold()


def required_texts(pattern: str) -> Texts:
    """Texts of which each match of a pattern contains at least one, with folded case; empty if that is not known."""
    _, required = _of_sequence(_parser.parse(pattern))
    return frozenset(map(folded_case, required))


def _of_sequence(items: Iterable[tuple[Any, Any]]) -> tuple[Texts | None, Texts]:
    """All texts that parts in a row may match, if they are few; and texts of which one is in each match."""
    whole, run, best = True, _EMPTY, Texts()
    for operation, argument in items:
        matched, required = _of_item(str(operation), argument)
        if matched is not None and len(run) * len(matched) <= _MOST:
            run = frozenset(before + after for before, after in product(run, matched))
            continue
        whole = False
        best = min(best, run, required, key=_commonness)
        run = _EMPTY if matched is None else matched
    return (run if whole else None), min(best, run, key=_commonness)


def _of_item(operation: str, argument: Any) -> tuple[Texts | None, Texts]:
    """The same of one part."""
    match operation:
        case "LITERAL":
            text = frozenset({chr(argument)})
            return text, text
        case "AT" | "ASSERT" | "ASSERT_NOT":
            return _EMPTY, Texts()
        case "IN" if all(str(kind) == "LITERAL" for kind, _ in argument) and len(argument) <= _MOST:
            texts = frozenset(chr(code) for _, code in argument)
            return texts, texts
        case "SUBPATTERN":
            return _of_sequence(argument[-1])
        case "BRANCH":
            return _of_branches([_of_sequence(branch) for branch in argument[1]])
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, repeated = argument
            matched, required = _of_sequence(repeated)
            if most == 1 and matched is not None:
                return matched if least else matched | _EMPTY, required if least else Texts()
            return None, required if least else Texts()
        case _:
            return None, Texts()


def _of_branches(branches: Sequence[tuple[Texts | None, Texts]]) -> tuple[Texts | None, Texts]:
    matched, required = Texts(), Texts()
    for texts, _ in branches:
        if texts is None or matched is None:
            matched = None
            break
        matched |= texts
    if matched is not None and len(matched) > _MOST:
        matched = None
    if all(needed for _, needed in branches):
        required = frozenset[str]().union(*(needed for _, needed in branches))
    return matched, required


def _commonness(texts: Texts) -> float:
    """Roughly how many texts contain one of these; infinite if they require nothing."""
    return sum(8.0 ** -len(text) for text in texts) if texts and "" not in texts else float("inf")

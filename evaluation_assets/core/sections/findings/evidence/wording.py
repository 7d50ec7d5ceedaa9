"""Names and figures that stand in the same words as others before: of a phrase that was repeated, one word is another.

Texts without spaces between words have no phrases to compare.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

_WORD = re.compile(r"\d(?:[\w.,:/-]*\w)?|[^\W\d_](?:[\w'’.-]*\w)?")
_PART = re.compile(r"[^\W_]+")
_SIGNS = "$€£¥#\\"
_INITIAL = 2
"""A full stop after so few letters ends no sentence."""

_LONGEST = 2
"""Words of a name."""

_FEWEST = 3

_MOST_PHRASES = 1_000_000
_LONGEST_READ = 2_000_000
_REMEMBERED = 20_000
"""Characters at the beginning of a text whose words around names and figures are remembered."""

Kind = Literal["name", "figure"]


class Word(NamedTuple):
    """A word at `text[start:end]`, and in lower case; what is no name and no figure has no `kind`."""

    form: str
    start: int
    end: int
    kind: Kind | None


@dataclass(frozen=True, slots=True)
class Other:
    """The name or figure at `text[start:end]` in words that only had `instead` in its place."""

    start: int
    end: int
    kind: Kind
    instead: str


class Wording:
    """What has been in which words so far."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._fillers: dict[tuple[str, ...], dict[str, Kind]] = {}
        self._unread: list[tuple[str, Collection[Kind]]] = []

    def add(self, text: str, kinds: Collection[Kind] = ("name", "figure")) -> None:
        """Read a text. Only words of these kinds are remembered with the words around them."""
        self._seen.update(part.casefold() for part in _PART.findall(text[:_LONGEST_READ]))
        self._unread.append((text[:_REMEMBERED], kinds))

    def _read(self) -> None:
        """Remember the words around names and figures of all texts so far; most runs never ask for them."""
        for text, kinds in self._unread:
            self._remember(text, kinds)
        self._unread.clear()

    def _remember(self, text: str, kinds: Collection[Kind]) -> None:
        if len(self._fillers) > _MOST_PHRASES:
            return
        for phrase in _phrases(text):
            for first, word in enumerate(phrase):
                if word.kind is None or word.kind not in kinds:
                    continue
                for last in range(first + 1, min(first + _LONGEST, len(phrase)) + 1):
                    if phrase[last - 1].kind != word.kind:
                        break
                    form = " ".join(each.form for each in phrase[first:last])
                    for around in _around(phrase, first, last):
                        self._fillers.setdefault(around, {})[form] = word.kind

    def new_in(self, text: str) -> Iterator[Other]:
        """Where a text has new names and figures in the place of another one."""
        for phrase in _phrases(text[:_REMEMBERED]):
            last = 0
            for first in range(len(phrase)):
                if first < last or not self._is_new(phrase[first]):
                    continue
                last = first + 1
                while last < min(first + _LONGEST, len(phrase)) and self._is_new(phrase[last]):
                    last += 1
                if (instead := self._instead(phrase, first, last)) is not None:
                    kind = phrase[first].kind
                    assert kind is not None
                    yield Other(phrase[first].start, phrase[last - 1].end, kind, instead)

    def _is_new(self, word: Word) -> bool:
        return word.kind is not None and not self._seen.issuperset(_PART.findall(word.form))

    def _instead(self, phrase: Sequence[Word], first: int, last: int) -> str | None:
        self._read()
        for around in _around(phrase, first, last):
            fillers = self._fillers.get(around, {})
            if len(fillers) == 1:
                ((instead, kind),) = fillers.items()
                own = phrase[first].form
                if kind == phrase[first].kind and instead not in own and own not in instead:
                    return instead
        return None


def _around(phrase: Sequence[Word], first: int, last: int) -> Iterator[tuple[str, ...]]:
    """The words around a piece of a phrase: three, or two names or figures. One of them has letters."""
    left, right = phrase[max(0, first - 3) : first], phrase[last : last + 3]
    for before, after in ((2, 1), (1, 2), (3, 0), (0, 3), (2, 0), (0, 2), (1, 1)):
        if len(left) < before or len(right) < after:
            continue
        words = [*left[len(left) - before :], *right[:after]]
        is_enough = len(words) > 2 or all(word.kind for word in words)
        if is_enough and any(word.kind != "figure" for word in words):
            yield (*(word.form for word in words[:before]), "_", *(word.form for word in words[before:]))


def _phrases(text: str) -> Iterator[list[Word]]:
    """The words of a text between marks of punctuation, where they are enough for one with two around it."""
    phrase: list[Word] = []
    for match in _WORD.finditer(text):
        word = match.group()
        if phrase:
            gap = text[phrase[-1].end : match.start()].strip(_SIGNS)
            is_initial = gap == ". " and len(phrase[-1].form) <= _INITIAL and phrase[-1].kind == "name"
            if gap != " " and not is_initial:
                if len(phrase) >= _FEWEST:
                    yield phrase
                phrase = []
        kind: Kind | None = "figure" if word[0].isdigit() else "name" if word[0].isupper() else None
        phrase.append(Word(word.casefold(), *match.span(), kind))
    if len(phrase) >= _FEWEST:
        yield phrase

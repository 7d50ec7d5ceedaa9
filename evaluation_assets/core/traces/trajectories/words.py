"""Words of a text in any language, to check whether one text uses another."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import product
from operator import concat, itemgetter
from string import ascii_lowercase, digits

_SHORTEST = 3
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(rf"[A-Za-zÀ-ɏͰ-ӿ]{{{_SHORTEST},}}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_LETTERS = bytes(code if code >= 128 or chr(code) in ascii_lowercase else ord(" ") for code in range(256))
_FIGURES = bytes(code if code >= 128 or chr(code) in digits + ".," else ord(" ") for code in range(256))
_STOP = frozenset(
    """
    the and for with that this from are was were has have had not you your can could will would what which who how when
    where why into onto than then them they their there here its our out use using used all any also been being but does
    did done each get got more most other some such only very about after before between over under please http https
    www com org html
    """.split()
)
_SHORT_OR_STOP = _STOP.union(
    "".join(letters) for size in range(1, _SHORTEST) for letters in product(ascii_lowercase, repeat=size)
)
_USED = 0.2
"""Share of a text's words from which it is written in their script, and not just names something in it."""

_BRIEF = 300
"""Characters of results that have nothing but a failure."""

_LONG, _TAKEN = 5, 4
"""Letters of words that texts do not share by chance, and how many of them show that one takes up the other."""

_REMEMBERED = 2048
"""Texts whose words are remembered: rules ask for those of the task and of each result again and again."""

_LIMIT = 20_000
"""Only the first characters of a text are read: a result of megabytes says no more about its use."""


def words(text: str) -> frozenset[str]:
    """Content words in lower case, numbers, and pairs of neighbouring characters for scripts without spaces."""
    return _words(text[:_LIMIT])


def words_of_pieces(text: str, pieces: Iterable[str]) -> frozenset[str]:
    """Words of a text that consists of these pieces, with line ends in between; those of pieces may be remembered."""
    return words(text) if len(text) > _LIMIT else frozenset[str]().union(*map(words, pieces))


@lru_cache(_REMEMBERED)
def _words(text: str) -> frozenset[str]:
    lower = text.lower()
    together = frozenset(_split(lower, _LETTERS))
    if lower.isascii():
        return together - _SHORT_OR_STOP | numbers(lower)
    in_ascii = frozenset(filter(str.isascii, together))
    return in_ascii - _SHORT_OR_STOP | _words_in_any(" ".join(together - in_ascii)) | numbers(lower)


def _words_in_any(lower: str) -> set[str]:
    together = set(_WORD.findall(lower))
    together -= _STOP
    words = {word for word in together if word[0] < "\u3040"}
    for word in together - words:
        words.update(map(concat, word, word[1:]) if len(word) > 1 else word)
    return words


def takes_from(text: str, call: str, result: str) -> bool:
    """Whether a text takes up what a long result says beside the failure of its call: words that the call has not.

    Short results have nothing but a failure.
    """
    if len(result) <= _BRIEF:
        return False
    shared = (words(text) & words(result)) - words(call)
    return sum(not word.isascii() or len(word) >= _LONG for word in shared) >= _TAKEN


def numbers(text: str) -> set[str]:
    """Numbers as they are written, with their dots and commas."""
    return set(_NUMBER.findall(" ".join(set(_split(text, _FIGURES)))))


def _split(text: str, kept: bytes) -> list[str]:
    """The parts of a text between what is not kept. Looking at those that are repeated only once saves much time."""
    return text.encode("utf-8", "surrogatepass").translate(kept).decode("utf-8", "surrogatepass").split()


def share(part: frozenset[str], whole: frozenset[str]) -> float | None:
    """Share of `part` that is in `whole`; `None` when `part` is empty."""
    return len(part & whole) / len(part) if part else None


class _ScriptsOfCharacters(dict[str, str | None]):
    """The script of each character that words begin with, found out once."""

    def __missing__(self, first: str) -> str | None:
        east_asian, between = first >= "\u3040", "\u0370" <= first <= "\u04ff"
        script = "east asian" if east_asian else "greek or cyrillic" if between else "latin"
        self[first] = None if first.isdigit() else script
        return self[first]


_SCRIPTS = _ScriptsOfCharacters()
_FIRST = itemgetter(0)


def count_scripts(of: AbstractSet[str]) -> dict[str, int]:
    """How many words are in each script. East Asian scripts, which are written together, are one; numbers have none."""
    if "".join(of).isascii():
        latin = sum(map(str.isalpha, of))
        return {"latin": latin} if latin else {}
    counts: dict[str, int] = {}
    for first, count in Counter(map(_FIRST, of)).items():
        if (script := _SCRIPTS[first]) is not None:
            counts[script] = counts.get(script, 0) + count
    return counts


def scripts(of: frozenset[str]) -> frozenset[str]:
    """The scripts a text is written in: those of at least a fifth of its words."""
    return main_scripts(count_scripts(of))


def main_scripts(counts: Mapping[str, int]) -> frozenset[str]:
    """The scripts of at least a fifth of the words, given how many are in each."""
    least = _USED * sum(counts.values())
    return frozenset(script for script, count in counts.items() if count >= least)


def are_comparable(part: frozenset[str], whole: frozenset[str]) -> bool:
    """Whether most words of `part` are in a script that `whole` is written in; else words say nothing about both.

    A whole without a word is written in any.
    """
    return are_written_in(part, scripts(whole))


def are_written_in(part: frozenset[str], known: frozenset[str]) -> bool:
    """Whether most words of `part` are in one of the `known` scripts; no script is any."""
    if not known:
        return True
    counts = count_scripts(part)
    return not counts or _count_in(counts, known) * 2 > sum(counts.values())


def comparable_share(part: frozenset[str], whole: frozenset[str]) -> float | None:
    """Share of `part` that is in `whole`, without missing words in scripts that `whole` is not written in.

    `None` when `part` is empty, or most of it cannot be compared.
    """
    return share_of_known(part, scripts(whole), part & whole)


def share_of_known(part: frozenset[str], known_scripts: frozenset[str], known: AbstractSet[str]) -> float | None:
    """As `comparable_share`, with a whole of which the scripts are known, and the words of `part` that it has."""
    if not are_written_in(part, known_scripts) or not part:
        return None
    missing = part - known
    counts = count_scripts(missing)
    compared = len(known) + len(missing) - sum(counts.values()) + _count_in(counts, known_scripts)
    return len(known) / compared if compared else None


def _count_in(counts: Mapping[str, int], known: frozenset[str]) -> int:
    return sum(counts.get(script, 0) for script in known)

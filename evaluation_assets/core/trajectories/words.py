"""Words of a text in any language, to check whether one text uses another."""

import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

_WORD = re.compile(r"[A-Za-zÀ-ɏͰ-ӿ]{3,}|\d+(?:[.,]\d+)*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_STOP = frozenset(
    """
    the and for with that this from are was were has have had not you your can could will would what which who how when
    where why into onto than then them they their there here its our out use using used all any also been being but does
    did done each get got more most other some such only very about after before between over under please http https
    www com org html
    """.split()
)
_USED = 0.2
"""Share of a text's words from which it is written in their script, and not just names something in it."""

_REMEMBERED = 2048
"""Texts whose words are remembered: rules ask for those of the task and of each result again and again."""

_LIMIT = 20_000
"""Only the first characters of a text are read: a result of megabytes says no more about its use."""


def words(text: str) -> frozenset[str]:
    """Content words in lower case, numbers, and pairs of neighbouring characters for scripts without spaces."""
    return _words(text[:_LIMIT])


@lru_cache(_REMEMBERED)
def _words(text: str) -> frozenset[str]:
    together = set(_WORD.findall(text.lower()))
    together -= _STOP
    found = {word for word in together if word[0] < "\u3040"}
    for word in together - found:
        found.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
    return frozenset(found)


def share(part: frozenset[str], whole: frozenset[str]) -> float | None:
    """Share of `part` that is in `whole`; `None` when `part` is empty."""
    return len(part & whole) / len(part) if part else None


def script_of(word: str) -> str | None:
    """The script of a word; `None` for a number. East Asian scripts, which are written together, are one."""
    return _SCRIPTS[word[:1]]


class _ScriptsOfCharacters(dict[str, str | None]):
    """The script of each character that words begin with, found out once."""

    def __missing__(self, first: str) -> str | None:
        east_asian, between = first >= "\u3040", "\u0370" <= first <= "\u04ff"
        script = "east asian" if east_asian else "greek or cyrillic" if between else "latin"
        self[first] = None if first.isdigit() else script
        return self[first]


_SCRIPTS = _ScriptsOfCharacters()


def scripts(of: frozenset[str]) -> frozenset[str]:
    """The scripts a text is written in: those of at least a fifth of its words."""
    found = Counter(map(_SCRIPTS.__getitem__, [word[:1] for word in of]))
    return main_scripts(Counter({script: count for script, count in found.items() if script is not None}))


def main_scripts(counts: Counter[str]) -> frozenset[str]:
    """The scripts of at least a fifth of the words, given how many are in each."""
    return frozenset(script for script, count in counts.items() if count >= _USED * counts.total())


def are_comparable(part: frozenset[str], whole: frozenset[str]) -> bool:
    """Whether most words of `part` are in a script that `whole` is written in; else words say nothing about both.

    A whole without a word is written in any.
    """
    return are_written_in(part, scripts(whole))


def are_written_in(part: frozenset[str], known: frozenset[str]) -> bool:
    """Whether most words of `part` are in one of the `known` scripts; no script is any."""
    if not known:
        return True
    judged = [script in known for word in part if (script := script_of(word)) is not None]
    return not judged or sum(judged) * 2 > len(judged)


def comparable_share(part: frozenset[str], whole: frozenset[str]) -> float | None:
    """Share of `part` that is in `whole`, without missing words in scripts that `whole` is not written in.

    `None` when `part` is empty, or most of it cannot be compared.
    """
    return share_of_known(part, scripts(whole), whole.__contains__)


def share_of_known(
    part: frozenset[str], known_scripts: frozenset[str], is_known: Callable[[str], bool]
) -> float | None:
    """As `comparable_share`, with a whole of which the scripts are known, and whether it has a word."""
    if not are_written_in(part, known_scripts) or not part:
        return None
    known = {word for word in part if is_known(word)}
    compared = sum(word in known or (script := script_of(word)) is None or script in known_scripts for word in part)
    return len(known) / compared if compared else None

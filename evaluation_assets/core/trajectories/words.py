"""Words of a text in any language, to see whether one text takes up another."""

import re

_WORD = re.compile(r"[A-Za-zÀ-ɏͰ-ӿ]{3,}|\d+(?:[.,]\d+)*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_STOP = frozenset(
    """
    the and for with that this from are was were has have had not you your can could will would what which who how when
    where why into onto than then them they their there here its our out use using used all any also been being but does
    did done each get got more most other some such only very about after before between over under please http https
    www com org html
    """.split()
)
_LIMIT = 20_000
"""Only the first characters of a text are read: a result of megabytes says no more about its use."""


def words(text: str) -> frozenset[str]:
    """Content words in lower case, numbers, and pairs of neighbouring characters for scripts without spaces."""
    found: set[str] = set()
    for match in _WORD.finditer(text[:_LIMIT].lower()):
        word = match.group()
        if word[0] >= "\u3040":
            found.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif word not in _STOP:
            found.add(word.rstrip(".,"))
    return frozenset(found)


def share(part: frozenset[str], whole: frozenset[str]) -> float | None:
    """Share of `part` that is in `whole`; `None` when `part` is empty."""
    return len(part & whole) / len(part) if part else None

"""Regular expressions and names with wildcards, as people write them in settings."""

from fnmatch import fnmatchcase
from functools import lru_cache

import regex

from evaluation_assets.core.suites.bounded import PATTERN_SECONDS, NotChecked

_FLAGS = {"i": regex.IGNORECASE, "m": regex.MULTILINE, "s": regex.DOTALL}


def is_written_as_pattern(text: str) -> bool:
    """Whether a text is written as `/regular expression/flags`."""
    return len(text) > 2 and text.startswith("/") and "/" in text[1:] and set(text.rsplit("/", 1)[1]) <= set(_FLAGS)


@lru_cache(maxsize=1024)
def regular_expression(text: str) -> regex.Pattern[str]:
    """A regular expression from `text` or `/text/flags`.

    Raises:
        ValueError: it is none.
    """
    body, flags = text, 0
    if is_written_as_pattern(text):
        body, letters = text[1:].rsplit("/", 1)
        for letter in letters:
            flags |= _FLAGS[letter]
    try:
        return regex.compile(body, flags)
    except regex.error as problem:
        raise ValueError(f"not a regular expression: {problem}") from None


def found_in(pattern: str, text: str) -> regex.Match[str] | None:
    """The first match of a regular expression in a text.

    Raises:
        NotChecked: it takes too long.
    """
    try:
        return regular_expression(pattern).search(text, timeout=PATTERN_SECONDS)
    except TimeoutError:
        raise _too_slow(pattern) from None


def all_in(pattern: str, text: str, limit: int) -> list[regex.Match[str]]:
    """The first matches of a regular expression in a text, at most `limit`.

    Raises:
        NotChecked: it takes too long.
    """
    matches: list[regex.Match[str]] = []
    try:
        for match in regular_expression(pattern).finditer(text, timeout=PATTERN_SECONDS):
            matches.append(match)
            if len(matches) == limit:
                break
    except TimeoutError:
        raise _too_slow(pattern) from None
    return matches


def has_name(pattern: str, name: str) -> bool:
    """Whether a name matches a pattern with `*`, or `/a regular expression/` found anywhere in it.

    Raises:
        NotChecked: the regular expression takes too long.
    """
    if is_written_as_pattern(pattern):
        return found_in(pattern, name) is not None
    return fnmatchcase(name, pattern)


def _too_slow(pattern: str) -> NotChecked:
    return NotChecked(f"the regular expression {pattern[:80]!r} takes longer than {PATTERN_SECONDS:g} s")

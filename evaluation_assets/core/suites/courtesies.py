"""Recognise courtesies: thanks, offers of more help, greetings and good wishes, which say nothing about a task.

Precise rather than complete: a sentence is a courtesy only if all of it is one. "Thank you, your refund is on its way."
says something.
"""

import re
from collections import deque
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from evaluation_assets.core.text.pattern_sets import RequiredTexts
from evaluation_assets.core.text.shipped_yaml import shipped_yaml

_LONGEST = 250
"""Characters of a sentence that may be nothing but polite."""

_REMEMBERED = 256
"""Texts that are remembered without courtesies: what an agent said is read for its words, repetitions and refusals."""

_SENTENCE_END = re.compile(
    r"[.!?…:*)\]\"”。！？\n<](?:(?<=[。！？\n])|(?<=<)/?\w{1,20}>|(?<![。！？\n<])(?<!\b(?:Mr|Ms|Dr)\.)(?<!\bMrs\.)\s+)"
)
"""Ends of sentences and lines, and tags that agents put around an answer. Few characters begin one: so it is fast."""

_NAME = r"(?: (?-i:[A-ZÀ-ÞА-Я])[\w'-]+\.?){1,3}"
_CALLED = re.compile(rf",{_NAME}(?=\W*$)")
_WORD = re.compile(r"[^\W_]+")


@lru_cache(_REMEMBERED)
def without_courtesies(text: str) -> str:
    """A text without the courtesies that it begins and ends with; empty if there is nothing else."""
    start: int | None = None
    is_shorter = False
    for first in _sentences(text, 0, len(text)):
        if not _is_courtesy(text[slice(*first)]):
            start = first[0]
            break
        is_shorter = True
    if start is None:
        return "" if is_shorter else text
    end = len(text)
    while (last := _last_sentence(text, start, end)) is not None:
        if not _is_courtesy(text[slice(*last)]):
            end = last[1]
            break
        end, is_shorter = last[0], True
    return text[start:end].strip() if is_shorter else text


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where sentences of a part of a text begin and end."""
    for each in _SENTENCE_END.finditer(text, start, end):
        stop = each.start() + (text[each.start()] != "<")
        if text[start:stop].strip():
            yield start, stop
        start = each.end()
    if text[start:end].strip():
        yield start, end


def _last_sentence(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The last sentence of a part of a text; `None` if it is too long to be a courtesy."""
    begin = max(start, end - 2 * _LONGEST)
    last = deque(_sentences(text, begin, end), 1)
    return None if not last or last[0][0] == begin > start else last[0]


def _is_courtesy(text: str) -> bool:
    sentence = text.strip().replace("\u2019", "'")
    if len(sentence) > _LONGEST or sentence.endswith((":", "：")):
        return False
    sentence = _CALLED.sub("", sentence)
    left: dict[str, str] = {}
    for number in sorted(_required().possible(sentence)):
        language, phrase = _phrases()[number]
        cut, polite = phrase.subn(" ", left.get(language, sentence))
        if polite:
            left[language] = cut
    return any(_is_filled(language, rest) for language, rest in left.items())


def _is_filled(language: str, rest: str) -> bool:
    """Whether what is beside the phrases of a sentence is nothing but fillers."""
    fillers = _fillers(language)
    if isinstance(fillers, re.Pattern):
        return _WORD.search(fillers.sub(" ", rest)) is None
    return fillers.issuperset(_WORD.findall(rest.lower()))


def _listed() -> dict[str, dict[str, Any]]:
    return shipped_yaml("evaluation_assets.core.suites", "courtesies.yaml")


def _patterns() -> Iterator[tuple[str, str]]:
    """Every phrase with its language."""
    return ((language, phrase) for language, own in _listed().items() for phrase in own["phrases"])


@cache
def _required() -> RequiredTexts:
    return RequiredTexts(phrase for _, phrase in _patterns())


@cache
def _phrases() -> list[tuple[str, re.Pattern[str]]]:
    return [(language, re.compile(f"(?:{phrase})(?:,?{_NAME})?", re.IGNORECASE)) for language, phrase in _patterns()]


@cache
def _fillers(language: str) -> frozenset[str] | re.Pattern[str]:
    own = _listed()[language]
    return re.compile(own["parts"]) if "parts" in own else frozenset(own["fillers"].split())

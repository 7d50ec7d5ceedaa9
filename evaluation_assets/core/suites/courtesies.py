"""Recognise courtesies: thanks, offers of more help, greetings and good wishes, which say nothing about a task.

Precise rather than complete: a sentence is a courtesy only if all of it is one. "Thank you, your refund is on its way."
says something.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any

from evaluation_assets.core.text.pattern_sets import RequiredTexts
from evaluation_assets.core.text.shipped_yaml import shipped_yaml

_LONGEST = 250
"""Characters of a sentence that may be nothing but polite."""

_SENTENCE_END = re.compile(r"(?<=[.!?…:*)\]\"”])(?<!\b(?:Mr|Ms|Dr)\.)(?<!\bMrs\.)\s+|(?<=[。！？])|\n|</?\w{1,20}>")
"""Ends of sentences and lines, and tags, which some agents put around an answer."""

_NAME = r"(?: (?-i:[A-ZÀ-ÞА-Я])[\w'-]+\.?){1,3}"
_CALLED = re.compile(rf",{_NAME}(?=\W*$)")
_WORD = re.compile(r"[^\W_]+")


def without_courtesies(text: str) -> str:
    """A text without the courtesies that it begins and ends with; empty if there is nothing else."""
    plain = text.replace("\u2019", "'")
    if not _required().in_any(plain):
        return text
    ends = chain.from_iterable(each.span() for each in _SENTENCE_END.finditer(plain))
    bounds = [0, *ends, len(plain)]
    pieces = zip(bounds[::2], bounds[1::2], strict=True)
    sentences = [(start, end) for start, end in pieces if plain[start:end].strip()]
    first, last = 0, len(sentences)
    while first < last and _is_courtesy(plain[slice(*sentences[first])].strip()):
        first += 1
    while first < last and _is_courtesy(plain[slice(*sentences[last - 1])].strip()):
        last -= 1
    if last - first == len(sentences):
        return text
    return text[sentences[first][0] : sentences[last - 1][1]].strip() if first < last else ""


def _is_courtesy(sentence: str) -> bool:
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

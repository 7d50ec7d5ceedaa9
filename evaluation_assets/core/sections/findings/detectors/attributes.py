"""[attributes] What agents take a user for, `as a Gold member`, where the record of the user has another such value.

The noun is that of a field, `member` of `membership`. Users or instructions speak of both values with it. If results
have several values in the field, the user is not known to have one of them.
"""

import re
from collections.abc import Iterator
from typing import Any

from evaluation_assets.core.sections.findings.detector import Detected, Detector, in_message
from evaluation_assets.core.sections.findings.evidence.course import Asked, Course, Message, PlacedStep, short_sentences
from evaluation_assets.core.sections.findings.evidence.cues import cues
from evaluation_assets.core.sections.findings.evidence.results import document_of
from evaluation_assets.core.traces.trajectories.model import Span

_KIND = re.compile(r"\W{0,3}([^\W\d_]{3,20})[\s-]([^\W\d_]{4,20})")
_VALUE = re.compile(r"[^\W\d_]{3,20}")
_NAME = re.compile(r"[A-Za-z][a-z]+|[A-Z]+")
_STEM = 4
"""Letters that the noun and a word of the field's name have in common: `Mitglied` is another word."""

_LONGEST_READ = 100_000
_DEEPEST = 3


def _detect(course: Course) -> Iterator[Detected]:
    fields: dict[str, set[str]] = {}
    heard: list[str] = list(course.instructions)
    for event in course.events:
        match event:
            case Asked(message=message):
                heard.append(message)
            case PlacedStep() if event.step.has_succeeded and len(event.result) <= _LONGEST_READ:
                _read(document_of(event.result), fields, _DEEPEST)
            case Message(text=text) if fields:
                for span, value, noun in _taken_for(text):
                    if _is_otherwise(value, noun, fields, heard):
                        yield in_message("contradicted_answer", event, span)
                        return
            case _:
                pass


def _read(document: Any, fields: dict[str, set[str]], depth: int) -> None:
    """Collect the single words in the fields of records, by the stems of the words of the field's name."""
    if isinstance(document, dict):
        for name, value in document.items():
            if isinstance(value, str) and _VALUE.fullmatch(value) is not None:
                for word in _NAME.findall(name):
                    fields.setdefault(word[:_STEM].casefold(), set()).add(value.casefold())
            elif depth:
                _read(value, fields, depth - 1)
    elif isinstance(document, list) and depth:
        for item in document:
            _read(item, fields, depth - 1)


def _taken_for(text: str) -> list[tuple[Span, str, str]]:
    """The sentences that say what a user is, with the two words that say it in either order."""
    taken: list[tuple[Span, str, str]] = []
    for span, sentence in short_sentences(text) if cues("you_are").matches(text) else ():
        said = cues("you_are").search(sentence)
        kind = _KIND.match(sentence, said.end()) if said is not None else None
        if said is not None and kind is not None and not _is_supposed(sentence, said.start()):
            taken += [(span, kind[1], kind[2]), (span, kind[2], kind[1])]
    return taken


def _is_otherwise(value: str, noun: str, fields: dict[str, set[str]], heard: list[str]) -> bool:
    """Whether the only value that records have in the field is another one."""
    known = fields.get(noun[:_STEM].casefold(), set())
    is_other = len(known) == 1 and value.casefold() not in known
    return is_other and all(_is_spoken_of(each, noun, heard) for each in (value, *known))


def _is_supposed(sentence: str, start: int) -> bool:
    before = sentence[:start]
    return "?" in sentence or cues("supposed").matches(before) or cues("hypothetical").matches(sentence)


def _is_spoken_of(value: str, noun: str, heard: list[str]) -> bool:
    """Whether a text has a value right before or after the noun: `gold members`, `membre Gold`."""
    near = re.compile(
        rf"\b{re.escape(value)}[\s-]{re.escape(noun)}|\b{re.escape(noun)}[\s-]{re.escape(value)}\b", re.IGNORECASE
    )
    return any(near.search(text) is not None for text in heard)


DETECTOR = Detector(name="attributes", version="1", kinds=("contradicted_answer",), detect=_detect)

"""[options] Options that a call takes in the place of the one that is spoken of before and after it.

An option is one of the words that calls and results of the run have in a field of this name. What the agent says next
does not name it, and names another one of the field, which the user or the agent named just before the call.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation_assets.core.sections.findings.detector import Detected, Detector, in_step
from evaluation_assets.core.sections.findings.evidence.course import Asked, Course, Message, PlacedStep
from evaluation_assets.core.sections.findings.evidence.effects import may_do_anything
from evaluation_assets.core.sections.findings.evidence.results import document_of
from evaluation_assets.core.suites.effects import changes_state
from evaluation_assets.core.traces.trajectories.model import Span

_OPTION = re.compile(r"[a-z]{3,20}(?:[_ -][a-z]{2,20}){0,3}")
_NO_OPTIONS = frozenset({"yes", "true", "false", "none", "null", "other"})
"""What is said of other things, too."""

_SEPARATORS = re.compile(r"[_\s-]+")
_WORD = re.compile(r"[^\W_]+")
_LONGEST_READ = 200_000
_LONGEST_SAID = 4_000
_MOST_OPTIONS = 12
"""A field with more words is no choice between options."""

_DEEPEST = 6


def _detect(course: Course) -> Iterator[Detected]:
    changing = [made for made in course.calls if changes_state(made.call.name) and not may_do_anything(made.call)]
    if not changing or not any(_options_of(made) for made in changing):
        return
    vocabulary: dict[str, set[str]] = {}
    for made in course.calls:
        _read(made.trajectory.arguments(made.call), vocabulary, _DEEPEST)
        if len(made.result) <= _LONGEST_READ:
            _read(document_of(made.result), vocabulary, _DEEPEST)
    around = _said_around(course)
    for made in changing:
        if made.step.has_succeeded and (span := _other_option(made, vocabulary, around[made.clip])) is not None:
            yield in_step("contradicted_argument", made, span)


def _other_option(made: PlacedStep, vocabulary: Mapping[str, set[str]], said: Sequence[str]) -> Span | None:
    """Where the option of a call is that nobody around it speaks of, but of another one."""
    before, following = "".join(said[:2]), "".join(said[2:])
    for name, option in _options_of(made):
        others = vocabulary.get(name, set()) - {option}
        if not others or len(others) >= _MOST_OPTIONS or _names(following, option):
            continue
        if any(_names(following, other) and _names(before, other) for other in others):
            start, end = made.call.raw
            start = max(start, made.trajectory.text.find(option, start, end))
            return start, min(end, start + len(option))
    return None


def _said_around(course: Course) -> list[list[str]]:
    """For each call the agent's last words, the user's, and the agent's next ones."""
    around: list[list[str]] = []
    asked = before = ""
    waiting: list[list[str]] = []
    for event in course.events:
        match event:
            case Asked():
                asked = event.message[-_LONGEST_SAID:]
                waiting = []
            case Message():
                before = event.text[:_LONGEST_SAID]
                for said in waiting:
                    said.append(_plain(before))
                waiting = []
            case PlacedStep() if event.step.call is not None:
                around.append([_plain(before), _plain(asked)])
                waiting.append(around[-1])
            case _:
                pass
    return around


def _options_of(made: PlacedStep) -> list[tuple[str, str]]:
    arguments = made.trajectory.arguments(made.call) or {}
    return [(name, value) for name, value in arguments.items() if _is_option(value)]


def _is_option(value: Any) -> bool:
    return isinstance(value, str) and _OPTION.fullmatch(value) is not None and value not in _NO_OPTIONS


def _read(document: Any, vocabulary: dict[str, set[str]], depth: int) -> None:
    """Collect the options of a document by the name of their field."""
    if isinstance(document, dict):
        for name, value in document.items():
            if _is_option(value):
                vocabulary.setdefault(name, set()).add(value)
            elif depth:
                _read(value, vocabulary, depth - 1)
    elif isinstance(document, list) and depth:
        for item in document:
            _read(item, vocabulary, depth - 1)


def _names(text: str, option: str) -> bool:
    return f" {_SEPARATORS.sub(' ', option)} " in text


def _plain(text: str) -> str:
    """A text as words with one space between them."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


DETECTOR = Detector(name="options", version="2", kinds=("contradicted_argument",), detect=_detect)

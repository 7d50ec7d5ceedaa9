"""[names] Names in what agents say, of two words or more, none of which is in anything before.

So are codes of letters alone, `reservation ID: HATHAT`, and names of one word that spell a name of the run otherwise.
Names and options in arguments that nothing else has are misspelled if they nearly are a word that comes again.
Only what follows a result is read: without tools, an agent speaks from what it knows.
"""

import re
from collections.abc import Iterator, Set
from string import ascii_lowercase

import orjson

from evaluation_assets.core.sections.findings.claim import Claim
from evaluation_assets.core.sections.findings.detector import Detected, Detector, claimed_in, in_message, in_step
from evaluation_assets.core.sections.findings.evidence.course import Asked, Course, Message, PlacedStep, quotation
from evaluation_assets.core.sections.findings.evidence.cues import cues
from evaluation_assets.core.sections.findings.evidence.effects import acts_on_pages, may_do_anything
from evaluation_assets.core.sections.findings.evidence.values import misreadings
from evaluation_assets.core.sections.findings.finding import Severity
from evaluation_assets.core.suites.effects import changes_state
from evaluation_assets.core.text.unspaced import UNSPACED
from evaluation_assets.core.traces.trajectories.calls import leaves
from evaluation_assets.core.traces.trajectories.model import Span

_NAME = re.compile(
    r"(?<=[a-zà-ÿа-яё,] )[A-ZÀ-ÖА-ЯЁ][a-zà-ÿа-яё]{3,}(?: (?:of |de |von |и )?[A-ZÀ-ÖА-ЯЁ][a-zà-ÿа-яё]{3,})+"
)
_ONE_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{4,30}(?![\w'’])")
_ENDING = 2
"""Letters at the end of a word that are others in another case or number."""

_CODE = re.compile(
    r"(?:\b(?:ID|[Cc]ode|[Nn]umber|[Rr]eference|PNR|[Nn]ummer|[Nn]uméro|[Nn]úmero|[Nn]umero|[Нн]омер)\b|[号號]|番号|번호)"
    r"\W{1,8}(?:is\W{1,5})?(?P<code>[A-Z]{5,12})(?![\w-])"
)
_LONGEST_ARGUMENT = 60
_LONGEST_QUERY = 500
_MOST_WORDS = 3
_SHORTEST, _SHORTEST_CODE = 6, 5
"""Shorter words differ from others by chance."""

_WORD = re.compile(r"[^\W\d_]{4,}")
_AFTER = 50_000
"""Characters after a call in which a word comes again."""

_LONGEST_READ = 2_000_000

_ABBREVIATED = re.compile(r"(?: [^\W\d_]+)?[*_]{0,3} ?\([*_]{0,3}([A-Z]{2,5})[*_]{0,3}\)")
"""An abbreviation in brackets behind a name, or behind one word more of it: `Wayne County Airport (DTW)`."""

_UPPER = re.compile(r"\b[A-Z]{2,5}\b")
_CHINESE = re.compile(rf"[{UNSPACED}]")
_OTHER_SCRIPT = re.compile(rf"[^\W\d_\u0000-\u024f{UNSPACED}]")
_LETTERS_OF_WORD = 3
"""Of other letters than Latin ones, Chinese ones stand for words. Names in Latin letters for what is mostly in others
are translated."""


def _detect(course: Course) -> Iterator[Detected | Claim]:
    given: set[str] = set()
    names: set[str] = set()
    has_result = False
    latin = others = 0

    def add(text: str) -> None:
        for word in _WORD.findall(text[:_LONGEST_READ]):
            given.add(word.casefold())
            if word[0].isupper():
                names.add(word.casefold())
        given.update(_UPPER.findall(text[:_LONGEST_READ]))

    add(course.trajectory.task)
    add(orjson.dumps(course.trajectory.agents).decode())
    for number, event in enumerate(course.events):
        match event:
            case Asked(message=message, knowledge=knowledge):
                add(message)
                add(knowledge)
            case Message(text=text):
                if has_result and number not in course.handed_on:
                    yield from _of_message(event, given, names, is_translated=others > latin)
                add(text)
            case PlacedStep():
                if event.step.call is not None:
                    if acts_on_pages(event.call) or not may_do_anything(event.call):
                        yield from _of_call(event, given)
                    add(event.arguments_text)
                if event.step.result is not None:
                    has_result = True
                    add(event.result)
                    other = _letters_of_others(event.result)
                    others += other
                    latin += len(event.result) - other


def _of_call(made: PlacedStep, given: set[str]) -> Iterator[Detected]:
    """Words that nothing else in the run has, and that spell one otherwise that comes again; of texts only names."""
    values = (value for value in leaves(made.trajectory.arguments(made.call)) if isinstance(value, str))
    for value in values:
        is_text = len(value) > _LONGEST_ARGUMENT or len(value.split()) > _MOST_WORDS
        for word in _WORD.findall(value[:_LONGEST_QUERY]):
            own = word.casefold()
            if (is_text and word[0].islower()) or len(own) < (_SHORTEST_CODE if word.isupper() else _SHORTEST):
                continue
            nearly = () if own in given else [other for other in _nearly(own, given) if other[-1] == own[-1]]
            if nearly and not _is_later(word, made) and any(_is_later(other, made) for other in nearly):
                severity = None if changes_state(made.call.name) else "LOW"
                yield in_step("contradicted_argument", made, made.span_of(word), severity)
                return


def _nearly(word: str, given: set[str]) -> list[str]:
    """The given words that a letter more, less or otherwise makes of a word."""
    more = (word[:at] + letter + word[at:] for at in range(len(word) + 1) for letter in ascii_lowercase)
    return sorted(given.intersection((*misreadings(word), *more)) - {word})


def _is_later(word: str, made: PlacedStep) -> bool:
    """Whether a word comes soon after a call."""
    later = re.compile(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", re.IGNORECASE)
    start = made.call.raw[1]
    return later.search(made.trajectory.text, start, start + _AFTER) is not None


def _of_message(
    message: Message, given: set[str], names: set[str], *, is_translated: bool
) -> Iterator[Detected | Claim]:
    text = message.text
    new: dict[Span, Severity | None] = {}
    if (new_name := _first_new_name(text, given, is_translated=is_translated)) is not None:
        new[new_name] = "LOW"
    for name in _ONE_NAME.finditer(text):
        if _is_misspelled(name.group().casefold(), given, names):
            new.setdefault(quotation(text, *name.span()), "LOW")
    for code in _CODE.finditer(text):
        if code["code"].casefold() not in given:
            new[quotation(text, *code.span("code"))] = None
    for span, severity in new.items():
        yield in_message("unsupported_answer", message, span, severity)
        yield claimed_in(message, span, "not_found")


def _is_misspelled(word: str, given: Set[str], names: set[str]) -> bool:
    """Whether a new name is a letter off another one, not at its end."""
    if word in given:
        return False
    return any(_stem(word, other) != _stem(other, word) for other in _nearly(word, names))


def _stem(word: str, other: str) -> str:
    """The beginning that both have when they only end otherwise."""
    return word[: max(len(word), len(other)) - _ENDING]


def _letters_of_others(text: str) -> int:
    """How many letters of other scripts than Latin a text has, in those of words."""
    return 0 if text.isascii() else len(_OTHER_SCRIPT.findall(text)) + _LETTERS_OF_WORD * len(_CHINESE.findall(text))


def _first_new_name(text: str, given: Set[str], *, is_translated: bool) -> tuple[int, int] | None:
    """Where the sentence with the first name is that has no word in common with what was given.

    Labels are none, nor are names written out whose abbreviation was given, and what an agent is going to do.
    """
    for name in _NAME.finditer(text):
        if is_translated and name[0][0] < "\u0250":
            continue
        if given.isdisjoint(word.casefold() for word in _WORD.findall(name.group())):
            abbreviated = _ABBREVIATED.match(text, name.end())
            if abbreviated is not None and abbreviated[1] in given:
                continue
            start, end = quotation(text, *name.span())
            sentence = text[start:end]
            if not (sentence.rstrip("*_ ").endswith(":") or cues("to_do").matches(sentence)):
                return start, end
    return None


DETECTOR = Detector(name="names", version="6", kinds=("unsupported_answer", "contradicted_argument"), detect=_detect)

"""[names] Names in what agents say, of two words or more, none of which is in anything before.

Only what follows a result is read: without tools, an agent speaks from what it knows.
"""

import re
from collections.abc import Iterator, Set

import orjson

from evaluation_assets.core.sections.findings.claim import Claim
from evaluation_assets.core.sections.findings.course import Asked, Course, Message, PlacedStep, quotation
from evaluation_assets.core.sections.findings.detector import Detected, Detector
from evaluation_assets.core.sections.findings.handed_on import HandedOn

_NAME = re.compile(
    r"(?<=[a-zà-ÿа-яё,] )[A-ZÀ-ÖА-ЯЁ][a-zà-ÿа-яё]{3,}(?: (?:of |de |von |и )?[A-ZÀ-ÖА-ЯЁ][a-zà-ÿа-яё]{3,})+"
)
_WORD = re.compile(r"[^\W\d_]{4,}")
_LONGEST_READ = 2_000_000


def _detect(course: Course) -> Iterator[Detected | Claim]:
    given: set[str] = set()
    handed_on = HandedOn(course)
    has_result = False

    def add(text: str) -> None:
        handed_on.add(text)
        given.update(word.casefold() for word in _WORD.findall(text[:_LONGEST_READ]))

    add(course.trajectory.task)
    add(orjson.dumps(course.trajectory.agents).decode())
    for event in course.events:
        match event:
            case Asked(message=message, knowledge=knowledge):
                add(message)
                add(knowledge)
            case Message(text=text):
                is_claim = has_result and not handed_on.is_handed_on(event)
                if is_claim and (new_name := _first_new_name(text, given)) is not None:
                    start, end = new_name
                    place, said = event.place(start, end), text[start:end]
                    yield Detected(kind="unsupported_answer", place=place, evidence=said, severity="LOW")
                    yield Claim(place=place, text=said, verdict="not_found")
                add(text)
            case PlacedStep():
                if event.step.call is not None:
                    add(event.trajectory.piece(event.step.call.raw))
                if event.step.result is not None:
                    has_result = True
                    add(event.result)


def _first_new_name(text: str, given: Set[str]) -> tuple[int, int] | None:
    """Where the sentence with the first name is that has no word in common with what was given; labels are none."""
    for name in _NAME.finditer(text):
        if given.isdisjoint(word.casefold() for word in _WORD.findall(name.group())):
            start, end = quotation(text, *name.span())
            if not text[start:end].rstrip("*_ ").endswith(":"):
                return start, end
    return None


DETECTOR = Detector(name="names", version="2", kinds=("unsupported_answer",), detect=_detect)

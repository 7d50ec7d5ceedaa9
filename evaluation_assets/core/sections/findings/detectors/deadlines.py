"""[deadlines] What an agent says happened within hours or days of now, and happened longer ago.

Now is the day that instructions call today. The date is in the sentence, or else that at which results say something
was created, booked or ordered: that of what the sentence names by its code, else each of them. All have to be too old.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta

from evaluation_assets.core.sections.findings.claim import Claim
from evaluation_assets.core.sections.findings.detector import Detected, Detector, claimed_in, in_message
from evaluation_assets.core.sections.findings.evidence.course import Course, Message, PlacedStep, short_sentences
from evaluation_assets.core.sections.findings.evidence.cues import cues
from evaluation_assets.core.sections.findings.evidence.resolved import todays
from evaluation_assets.core.sections.findings.evidence.values import date_of, values_in

_PERIOD = re.compile(r"(\d{1,3})[ -](hour|day)")
_STARTED = re.compile(
    r"[\"']\w*(?:creat|book|order|purchas|placed|issued|opened)\w*[\"']\s*:\s*[\"'](\d{4}-\d\d-\d\d)", re.IGNORECASE
)
"""The field of a record that says when it came to be."""

_ENDS_OF_CONDITIONS = (",", ";", " or", " and")
_DAY = timedelta(days=1)
_LONGEST_READ = 100_000


def _detect(course: Course) -> Iterator[Detected | Claim]:
    days = todays(course.instructions)
    if len(days) != 1:
        return
    (today,) = days
    started: list[tuple[str, set[date]]] = []
    for event in course.events:
        match event:
            case PlacedStep() if event.step.has_succeeded and len(event.result) <= _LONGEST_READ:
                dates = set(_dates(_STARTED.findall(event.result)))
                if dates:
                    started.append((event.result, dates))
            case Message(text=text) if cues("within").may_match(text):
                yield from _of_message(event, today, started)
            case _:
                pass


def _of_message(message: Message, today: date, started: list[tuple[str, set[date]]]) -> Iterator[Detected | Claim]:
    for span, sentence in short_sentences(message.text):
        said = cues("within").search(sentence)
        if said is None or "?" in sentence or sentence.endswith(_ENDS_OF_CONDITIONS):
            continue
        period = _PERIOD.search(said.group())
        if period is None or cues("if_within").matches(sentence[: said.end()]):
            continue
        clause = sentence[sentence.rfind(";", 0, said.start()) + 1 :]
        values = list(values_in(clause))
        named = {form for value in values if value.kind == "date" for form in value.forms[:1]}
        codes = [
            clause[value.start : value.end]
            for value in values
            if value.kind == "code" and value.end <= said.end() - len(sentence) + len(clause)
        ]
        about = [dates for result, dates in started if any(code in result for code in codes)]
        dates = set(_dates(f"{today.year}-{form}" if form.count("-") == 1 else form for form in named))
        dates = dates or {each for own in about or (own for _, own in started) for each in own}
        if not dates:
            continue
        length = timedelta(**{f"{period[2]}s": int(period[1])})
        ages = [today - each for each in dates]
        if all(age - _DAY >= length for age in ages):  # the hour of neither is known
            yield claimed_in(message, span, "contradicted")
            yield in_message("contradicted_answer", message, span)
        elif all(age + _DAY <= length for age in ages):
            yield claimed_in(message, span, "supported")


def _dates(forms: Iterator[str] | list[str]) -> Iterator[date]:
    for form in forms:
        with suppress(ValueError):
            yield date_of(form)


DETECTOR = Detector(name="deadlines", version="1", kinds=("contradicted_answer",), detect=_detect)

"""Dates and times that come to given ones: counted from them, in another time zone, or of a length in seconds."""

import re
from contextlib import suppress

from evaluation_assets.core.sections.findings.evidence.course import quotation
from evaluation_assets.core.sections.findings.evidence.given import Given
from evaluation_assets.core.sections.findings.evidence.resolved import moved, spans_in
from evaluation_assets.core.sections.findings.evidence.values import Value, values_in

_ZONE = re.compile(
    r"\b(?:UTC|GMT|[A-Z]{2,3}T|(?i:local time|ortszeit|heure locale|hora local|ora locale)|in [A-Z]\w+)\b"
)
_LENGTH = re.compile(r"(?P<h>\d+)[:h](?P<m>\d\d)(?::(?P<s>\d\d))?")


def is_counted(value: Value, text: str, given: Given) -> bool:
    """Whether a date is a given one and a span that its sentence names: `six months after it is July 20`."""
    start, end = quotation(text, value.start, value.end)
    for number, unit in spans_in(text[start:end]):
        for day in given.dates():
            with suppress(ValueError, OverflowError):
                for counted in (moved(day, number, unit), moved(day, -number, unit)):
                    month_and_day = f"{counted.month}-{counted.day}"
                    if month_and_day in value.forms or f"{counted.year}-{month_and_day}" in value.forms:
                        return True
    return False


def is_length(value: Value, text: str, given: Given) -> bool:
    """Whether what looks like a time is a number of seconds or minutes that was given: `1:02:05` of 3725."""
    written = _LENGTH.fullmatch(text, value.start, value.end)
    if written is None:
        return False
    minutes = int(written["h"]) * 60 + int(written["m"])
    lengths = (minutes, minutes * 60 + int(written["s"] or 0))
    return any(given.holds(Value("number", (str(length),), 0, 0)) for length in lengths)


def is_local(value: Value, text: str, given: Given) -> bool:
    """Whether a time is a given one of its sentence, which names a place or a time zone, by whole hours."""
    start, end = quotation(text, value.start, value.end)
    sentence = text[start:end]
    minutes = value.forms[0].partition(":")[2]
    return _ZONE.search(sentence) is not None and any(
        other.kind == "time" and other.forms[0].endswith(f":{minutes}") and given.holds(other)
        for other in values_in(sentence)
        if other.start + start != value.start
    )

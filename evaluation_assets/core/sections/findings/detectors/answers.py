"""[answers] Figures, dates and codes in what agents say that nothing before supports.

What agents compute is support enough: products, sums and differences of figures that are close by. So is a later
result that has the figure. Only what follows a result is read: without tools, an agent speaks from what it knows.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from decimal import Decimal

from evaluation_assets.core.sections.findings.claim import Claim, ClaimVerdict
from evaluation_assets.core.sections.findings.course import Asked, Course, Message, PlacedStep, quotation
from evaluation_assets.core.sections.findings.detector import Detected, Detector
from evaluation_assets.core.sections.findings.given import Given
from evaluation_assets.core.sections.findings.values import Value, values_in

_LEAST = 20
"""Smaller numbers are counts, list items and ratings."""

_CLOSE_BY = 60
"""Numbers that a figure may be computed from."""

_RESULTS = 2
"""Results before a message whose numbers are close by."""

_READ = 20_000
"""Characters of a result that figures are computed from."""

_UNITS = (24, 60, 100, 1000, 1024, 3600)
"""Between units of time, size and money."""

_TIMES = (*range(2, 10), *_UNITS)

_MEASURE = re.compile(
    r"\s?(?:(?P<celsius>°\s?C\b|degrees C)|(?P<fahrenheit>°\s?F\b|degrees F)|(?P<kg>kg\b|kilogram)"
    r"|(?P<lb>lbs?\b|pounds?\b)|(?P<km>km\b|kilomet)|(?P<mi>mi\b|miles?\b)|(?P<cm>cm\b)|(?P<inch>in\b|inch)"
    r"|(?P<m>m\b|met(?:er|re))|(?P<ft>ft\b|feet\b))"
)
_CONVERSIONS = {
    "celsius": (5 / 9, -160 / 9), "fahrenheit": (1.8, 32.0), "kg": (0.45359, 0.0), "lb": (2.20462, 0.0),
    "km": (1.60934, 0.0), "mi": (0.62137, 0.0), "cm": (2.54, 0.0), "inch": (0.3937, 0.0), "m": (0.3048, 0.0),
    "ft": (3.28084, 0.0),
}  # fmt: skip
"""Factor and offset from the other unit of the same measure."""

_CONVERTED = 0.005
_CENT = 0.011
_FEWEST_DIGITS = 2
_ASKS = "?？"
"""Questions propose values of their own."""

_KINDS: Mapping[ClaimVerdict, str] = {"contradicted": "contradicted_answer", "not_found": "unsupported_answer"}

_RANGE = re.compile(r"\d\s?[-–—]\s?$")
_SUM = re.compile(r"\d[\s\\$€£]*[+=]")


def _detect(course: Course) -> Iterator[Detected | Claim]:
    given = Given.at_start(course.trajectory)
    asked: list[float] = []
    results: deque[list[float]] = deque(maxlen=_RESULTS)
    has_result = False
    last = _last_results(course)
    for event in course.events:
        match event:
            case Asked(message=message, knowledge=knowledge):
                given.add(message)
                given.add(knowledge)
                asked = _numbers(message)
            case Message():
                if has_result:
                    yield from _of_message(event, given, asked, results, last)
                given.add(event.text)
            case PlacedStep():
                if event.step.call is not None:
                    given.add(event.trajectory.piece(event.step.call.raw))
                if event.step.result is not None:
                    has_result = True
                    given.add(event.result)
                    results.append(_numbers(event.result[:_READ]))


def _of_message(
    message: Message,
    given: Given,
    asked: Sequence[float],
    results: Sequence[Sequence[float]],
    last: Mapping[tuple[str, str], int],
) -> Iterator[Detected | Claim]:
    values = list(values_in(message.text))
    checked = [value for value in values if _may_be_checked(message.text, value)]
    unsupported = [value for value in checked if not given.holds(value) and not _follows(value, message, last)]
    if unsupported:
        own = [float(form) for value in values if value.kind == "number" for form in value.forms]
        known = dict.fromkeys((*own, *asked, *(number for result in results for number in result)))
        close_by = [*known][:_CLOSE_BY]
        sums = _sums_of_lines(message.text, values)
        unsupported = [
            value
            for value in unsupported
            if value.kind != "number"
            or not (_is_computed(value, close_by, sums) or _is_converted(value, message.text, close_by))
        ]
    wrong = {value.start for value in unsupported}
    proposed: set[tuple[str, ...]] = set()
    said: set[tuple[str, ...]] = set()
    for value in checked:
        start, end = quotation(message.text, value.start, value.end)
        is_wrong = value.start in wrong
        if is_wrong and message.text[end - 1] in _ASKS:
            proposed.add(value.forms)
        if message.text[end - 1] in _ASKS or (is_wrong and value.forms in proposed):
            continue
        verdict: ClaimVerdict = "supported"
        if is_wrong:
            verdict = "contradicted" if given.holds_nearly(value) else "not_found"
        claim = Claim(place=message.place(start, end), text=message.text[start:end], verdict=verdict)
        yield claim
        if is_wrong and value.forms not in said:
            said.add(value.forms)
            yield Detected(kind=_KINDS[verdict], place=claim.place, evidence=claim.text)


def _last_results(course: Course) -> dict[tuple[str, str], int]:
    """The last result that has a value, by kind and form."""
    return {
        (value.kind, form): placed.order
        for placed in course.calls
        for value in values_in(placed.result)
        for form in value.forms
    }


def _follows(value: Value, message: Message, last: Mapping[tuple[str, str], int]) -> bool:
    """Whether a result after a message has a value of it: the agent computed it, and it came out so."""
    return any(last.get((value.kind, form), -1) >= message.order for form in value.forms)


def _may_be_checked(text: str, value: Value) -> bool:
    if value.kind != "number":
        return True
    return float(value.forms[0]) >= _LEAST and _RANGE.search(text, max(0, value.start - 3), value.start) is None


def _is_computed(value: Value, close_by: Sequence[float], sums: Set[int]) -> bool:
    own = {float(form) for form in value.forms}
    others = [number for number in close_by if number not in own]
    return any(_is_result(figure, others) for figure in own) or value.start in sums


def _is_result(figure: float, numbers: Sequence[float]) -> bool:
    """Whether a figure is one of the numbers rounded or in another unit, a multiple of it, or a sum or difference."""
    others = set(numbers)
    for number in others:
        if number > 1 and any(abs(number * times - figure) < _CENT for times in _TIMES):
            return True
        if any(figure * times == number for times in _UNITS) or _is_rounded(figure, number):
            return True
        if number > 1 and (round(figure - number, 2) in others or round(figure + number, 2) in others):
            return True
    return False


def _is_rounded(figure: float, number: float) -> bool:
    """Whether a figure is a number with fewer digits, at least two of them, rounded or cut."""
    short = Decimal(repr(figure)).normalize()
    digits, exponent = short.as_tuple()[1:]
    if len(digits) < _FEWEST_DIGITS or not isinstance(exponent, int):
        return False
    rest, step = Decimal(repr(number)) - short, Decimal(1).scaleb(exponent)
    return abs(rest) * 2 <= step or (exponent <= 0 and 0 < rest < step)


def _is_converted(value: Value, text: str, numbers: Sequence[float]) -> bool:
    """Whether a figure with a unit is one of the numbers in another one."""
    found = _MEASURE.match(text, value.end)
    if found is None or found.lastgroup is None:
        return False
    factor, offset = _CONVERSIONS[found.lastgroup]
    figure = float(value.forms[0])
    return any(abs(number * factor + offset - figure) <= max(0.5, figure * _CONVERTED) for number in numbers)


def _sums_of_lines(text: str, values: Sequence[Value]) -> set[int]:
    """Where figures begin that are the sum of the last numbers before them, in a line that adds numbers."""
    found: set[int] = set()
    line_end, total, sign = -1, 0, None
    totals: set[int] = set()
    for value in values:
        if value.kind != "number":
            continue
        if value.start > line_end:
            line_start = text.rfind("\n", 0, value.start) + 1
            line_end = text.find("\n", value.start)
            line_end = len(text) if line_end < 0 else line_end
            sign, total, totals = _SUM.search(text, line_start, line_end), 0, set()
        cents = round(float(value.forms[0]) * 100)
        if (
            sign is not None
            and sign.end() <= value.start
            and not totals.isdisjoint(range(total - cents - 1, total - cents + 2))
        ):
            found.add(value.start)
        totals.add(total)
        total += cents
    return found


def _numbers(text: str) -> list[float]:
    found = (value for value in values_in(text) if value.kind == "number")
    return [float(form) for value in found for form in (value.forms[0], *value.parts)]


DETECTOR = Detector(name="answers", version="3", kinds=("contradicted_answer", "unsupported_answer"), detect=_detect)

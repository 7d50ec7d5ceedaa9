"""[answers] Figures, dates and codes in what agents say that nothing before supports.

What agents compute is support enough: products, sums and differences of figures that are close by, and are supported
themselves. So is a later result that has the figure. Only what follows a result is read: without tools, an agent speaks
from what it knows. A message that hands on a page or a record is a result of a tool that was not recorded.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import islice

from evaluation_assets.core.sections.findings.claim import VERDICTS, Claim, ClaimVerdict
from evaluation_assets.core.sections.findings.course import Asked, Course, Message, PlacedStep, quotation
from evaluation_assets.core.sections.findings.detector import Detected, Detector
from evaluation_assets.core.sections.findings.effects import may_do_anything
from evaluation_assets.core.sections.findings.given import Given
from evaluation_assets.core.sections.findings.totals import totals_in
from evaluation_assets.core.sections.findings.values import Value, values_in
from evaluation_assets.core.traces.trajectories.model import Span

_LEAST = 20
"""Smaller numbers are counts, list items and ratings."""

_CLOSE_BY = 60
"""Numbers that a figure may be computed from."""

_RESULTS = 2
"""Results before a message whose numbers are close by."""

_READ = 20_000
"""Characters of a result that figures are computed from."""

_STEPS = 3
"""Figures may be computed from figures that are computed themselves, so many times."""

_NEXT_DAY = re.compile(r"\d\s?\+1\b")
"""How results say that a time is one of the next day."""

_UNITS = frozenset({24, 60, 100, 1000, 1024, 3600})
"""Between units of time, size and money."""

_TIMES = _UNITS.union(range(2, 10))

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
_TINY = 1e-9
_PERCENT = re.compile(r"\s?[%％]|\s?per\s?cent\b|\s?Prozent\b")
_FEWEST_DIGITS = 2
_ASKS = "?？"
"""Questions propose values of their own."""

_KINDS: Mapping[ClaimVerdict, str] = {"contradicted": "contradicted_answer", "not_found": "unsupported_answer"}

_FILE = re.compile(r"\.[A-Za-z]\w{0,4}\b")
"""The end of the name of a file: agents name theirs as they like."""

_DURATION = re.compile(
    r"\*{0,3}[ -]?(?:(?:business|working|calendar) )?(?P<unit>hour|day|minute|week|month|year|stunde|tag|woche|monat"
    r"|jahr|heure|jour|semaine|mois|hora|d[ií]a|semana|小时|分钟|天|个工作日)",
    re.IGNORECASE,
)
_GIVEN_DURATION = re.compile(rf"\d{_DURATION.pattern}", re.IGNORECASE)
_RANGE = re.compile(r"\d\s?[-–—]\s?$")
_SUM = re.compile(r"\d[\s\\$€£]*[+=]")
_PRODUCT = re.compile(r"[×*/÷·^²]|\bx\b|\\(?:times|cdot|d?frac|div)\b|times\b")
_MOST_FACTORS = _MOST_ITEMS = 12
_LABELS = 8
"""Labels of lines, `Price:`, whose figures are added up."""

_CLOSE_ENOUGH = 0.006
"""Relative difference of a product that was written with few digits."""


def _detect(course: Course) -> Iterator[Detected | Claim]:
    asked: list[float] = []
    results = _Results(course)
    for number, event in enumerate(course.events):
        match event:
            case Asked():
                asked = _numbers(event.message)
            case Message() if results.is_any and number not in course.handed_on:
                given = course.texts.given_to(number, also=("argument",))
                yield from _of_message(event, given, results, asked, has_codes=not course.edits_files)
            case PlacedStep() if event.step.result is not None:
                results.add(event.result)
            case _:
                pass


class _Results:
    """The results up to a message, and the last one of each value. They are read when the first figure is missing."""

    def __init__(self, course: Course) -> None:
        self.is_any = False
        self._course = course
        self._unread: list[str] = []
        self._close_by: deque[str] = deque(maxlen=_RESULTS)
        self._totals: set[float] = set()
        self._has_next_day = False

    def add(self, result: str) -> None:
        """Add the next result."""
        self.is_any = True
        self._unread.append(result)
        self._close_by.appendleft(result[:_READ])

    def support(self, value: Value, message: Message, given: Given) -> bool:
        """Whether one after the message has a value, one before comes to it, or says that it is of the next day."""
        for result in self._unread:
            self._has_next_day = self._has_next_day or _NEXT_DAY.search(result) is not None
            self._totals.update(totals_in(result))
        self._unread.clear()
        return (
            any(self._last.get((value.kind, form), -1) >= message.order for form in value.forms)
            or (self._has_next_day and given.holds_day_before(value))
            or (value.kind == "number" and not self._totals.isdisjoint(map(float, value.forms)))
        )

    def numbers(self) -> Iterator[float]:
        """The numbers in the last ones."""
        return (each for result in self._close_by for each in _numbers(result))

    def have_any(self, unit: str) -> bool:
        """Whether users, instructions or results have a duration in this unit, such as `24 hours`.

        If none has, an agent speaks of a policy that was not recorded.
        """
        return unit.casefold() in self._units

    @cached_property
    def _units(self) -> set[str]:
        trajectory = self._course.trajectory
        told = [trajectory.task, *(agent.role or "" for agent in trajectory.agents)]
        told += [agent.description or "" for agent in trajectory.agents]
        for turn in trajectory.turns:
            told += [turn.user_message or "", turn.knowledge or ""]
        told += [placed.result for placed in self._course.calls]
        return {match["unit"].casefold() for text in told for match in _GIVEN_DURATION.finditer(text)}

    @cached_property
    def _last(self) -> dict[tuple[str, str], int]:
        """The last result that has a value, by kind and form. Code that prints what it was given has found nothing."""
        last: dict[tuple[str, str], int] = {}
        for placed in self._course.calls:
            written: set[str] = set()
            if may_do_anything(placed.call):
                written.update(form for value in values_in(placed.arguments_text) for form in value.forms)
            for value in values_in(placed.result):
                if written.isdisjoint(value.forms):
                    last.update(((value.kind, form), placed.order) for form in value.forms)
        return last


def _of_message(
    message: Message, given: Given, results: _Results, asked: Sequence[float], *, has_codes: bool
) -> Iterator[Detected | Claim]:
    values = [value for value in values_in(message.text) if has_codes or value.kind != "code"]
    unsupported: Sequence[Value] = [
        value
        for value in values
        if _may_be_checked(message.text, value, results)
        and not given.holds(value)
        and not results.support(value, message, given)
    ]
    if unsupported:
        unsupported = _not_computed(message.text, values, unsupported, (*asked, *results.numbers()))
    wrong = {value.start for value in unsupported}
    proposed: set[tuple[str, ...]] = set()
    said: set[tuple[str, ...]] = set()
    new: dict[Span, ClaimVerdict] = {}
    for value in values:
        if not _may_be_checked(message.text, value, results):
            continue
        start, end = quotation(message.text, value.start, value.end)
        is_wrong = value.start in wrong
        if is_wrong and message.text[end - 1] in _ASKS:
            proposed.add(value.forms)
        if message.text[end - 1] in _ASKS or (is_wrong and value.forms in proposed):
            continue
        verdict: ClaimVerdict = "supported"
        if is_wrong:
            verdict = "contradicted" if given.holds_nearly(value) else "not_found"
            if value.forms not in said:
                said.add(value.forms)
                is_graver = VERDICTS.index(verdict) > VERDICTS.index(new.get((start, end), "supported"))
                new[start, end] = verdict if is_graver else new[start, end]
        yield Claim(place=message.place(start, end), text=message.text[start:end], verdict=verdict)
    for (start, end), verdict in new.items():
        yield Detected(kind=_KINDS[verdict], place=message.place(start, end), evidence=message.text[start:end])


def _not_computed(
    text: str, values: Sequence[Value], unsupported: Sequence[Value], others: Sequence[float]
) -> Sequence[Value]:
    """The values that are no results of figures close by. What is not supported supports nothing."""
    in_lines = _sums_of_lines(text, values) | _products_of_lines(text, values) | _sums_of_items(text, values)
    for _ in range(_STEPS):
        wrong = {value.forms for value in unsupported}
        figures = [value.forms for value in values if value.kind == "number" and value.forms not in wrong]
        known = dict.fromkeys((*(float(form) for forms in figures for form in forms), *others))
        close_by, ordered = [*known][:_CLOSE_BY], sorted(known)
        computed: dict[tuple[str, ...], int] = {}
        for value in unsupported:
            if value.kind == "number" and (
                value.start in in_lines
                or _is_computed(value, close_by, ordered)
                or _is_converted(value, text, close_by)
                or _is_share(value, text, values, wrong)
            ):
                computed.setdefault(value.forms, value.start)
        unsupported = [value for value in unsupported if value.start < computed.get(value.forms, len(text))]
        if not computed:
            break
    return unsupported


def _may_be_checked(text: str, value: Value, results: _Results) -> bool:
    if value.kind != "number":
        return value.kind != "code" or _FILE.match(text, value.end) is None
    if float(value.forms[0]) < _LEAST or _RANGE.search(text, max(0, value.start - 3), value.start) is not None:
        return False
    duration = _DURATION.match(text, value.end)
    return duration is None or results.have_any(duration["unit"])


def _is_computed(value: Value, close_by: Sequence[float], ordered: Sequence[float]) -> bool:
    own = {float(form) for form in value.forms}
    others = [number for number in close_by if number not in own]
    return any(_is_result(figure, others) or _is_one_rounded(figure, ordered) for figure in own)


def _is_result(figure: float, numbers: Sequence[float]) -> bool:
    """Whether a figure is one of the numbers in another unit, its multiple or square, or a sum or difference."""
    others = set(numbers)
    for number in others:
        times = round(figure / number) if number > 1 else 0
        if (times in _TIMES or times == number) and abs(number * times - figure) < _CENT:
            return True
        if figure > 0 and number / figure in _UNITS:
            return True
        if number > 1 and (round(figure - number, 2) in others or round(figure + number, 2) in others):
            return True
    return False


def _is_one_rounded(figure: float, ordered: Sequence[float]) -> bool:
    """Whether a figure is one of the ordered numbers with fewer digits, at least two of them, rounded or cut."""
    digits, exponent = Decimal(repr(figure)).normalize().as_tuple()[1:]
    if len(digits) < _FEWEST_DIGITS or not isinstance(exponent, int):
        return False
    step = 10.0**exponent
    most = figure + (step if exponent <= 0 else step / 2)
    at = bisect_left(ordered, figure - step / 2)
    return at < len(ordered) and ordered[at] < most


def _is_converted(value: Value, text: str, numbers: Sequence[float]) -> bool:
    """Whether a figure with a unit is one of the numbers in another one."""
    match = _MEASURE.match(text, value.end)
    if match is None or match.lastgroup is None:
        return False
    factor, offset = _CONVERSIONS[match.lastgroup]
    figure = float(value.forms[0])
    return any(abs(number * factor + offset - figure) <= max(0.5, figure * _CONVERTED) for number in numbers)


def _start(value: Value) -> int:
    return value.start


def _is_share(value: Value, text: str, values: Sequence[Value], wrong: Collection[tuple[str, ...]]) -> bool:
    """Whether a percentage is the share, or the change, of two figures in its line: `45 of 180 (25%)`."""
    if _PERCENT.match(text, value.end) is None:
        return False
    start, end = text.rfind("\n", 0, value.start) + 1, text.find("\n", value.end)
    first, last = (bisect_left(values, at, key=_start) for at in (start, len(text) if end < 0 else end))
    line = (
        other
        for other in (values[at] for at in range(first, last))
        if other.kind == "number" and other.forms not in wrong
    )
    figures = [float(other.forms[0]) for other in islice(line, _MOST_FACTORS)]
    exponent = Decimal(value.forms[0]).as_tuple().exponent
    share, least = float(value.forms[0]), 10.0**exponent / 2 + _TINY if isinstance(exponent, int) else 0.0
    ratios = (100 * one / other for one in figures for other in figures if other > 0)
    return any(abs(each - share) <= least or abs(abs(each - 100) - share) <= least for each in ratios)


def _sums_of_lines(text: str, values: Sequence[Value]) -> set[int]:
    """Where figures begin that are the sum of the last numbers before them, in a line that adds numbers."""
    sums: set[int] = set()
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
            sums.add(value.start)
        totals.add(total)
        total += cents
    return sums


def _sums_of_items(text: str, values: Sequence[Value]) -> set[int]:
    """Where figures begin that are the sum of the last figures of the lines before them: of all, or of one label."""
    line_sums: set[int] = set()
    sums: dict[str, list[int]] = {}
    line_end, cents, label = -1, None, ""
    for value in values:
        if value.kind != "number":
            continue
        if value.start > line_end:
            if cents is not None:
                for name in {label, ""}:
                    sums[name] = [cents, *(cents + each for each in sums.pop(name, ())[:_MOST_ITEMS])]
                if len(sums) > _LABELS:
                    del sums[next(iter(sums))]
            line_end = text.find("\n", value.start)
            line_end = len(text) if line_end < 0 else line_end
            label = text[text.rfind("\n", 0, value.start) + 1 : value.start].partition(":")[0].strip(" *-•").casefold()
        cents = round(float(value.forms[0]) * 100)
        if any(abs(cents - each) <= 1 for own in sums.values() for each in own[1:]):
            line_sums.add(value.start)
    return line_sums


def _products_of_lines(text: str, values: Sequence[Value]) -> set[int]:
    """Where figures begin that are the product or quotient of two before them, in a line that multiplies or divides."""
    products: set[int] = set()
    line_end, sign = -1, None
    factors: list[float] = []
    for value in values:
        if value.kind != "number":
            continue
        if value.start > line_end:
            line_end = text.find("\n", value.start)
            line_end = len(text) if line_end < 0 else line_end
            factors = []
            sign = _PRODUCT.search(text, text.rfind("\n", 0, value.start) + 1, line_end)
        figure = float(value.forms[0])
        if sign is not None and sign.start() < value.start and _is_product(figure, factors[-_MOST_FACTORS:]):
            products.add(value.start)
        factors.append(figure)
    return products


def _is_product(figure: float, factors: Sequence[float]) -> bool:
    least = abs(figure) * _CLOSE_ENOUGH
    return any(
        abs(one * other - figure) <= least or (other > 0 and abs(one / other - figure) <= least)
        for place, one in enumerate(factors)
        for other in (*factors[:place], *factors[place + 1 :])
    )


def _numbers(text: str) -> list[float]:
    numbers = (value for value in values_in(text) if value.kind == "number")
    return [float(form) for value in numbers for form in (value.forms[0], *value.parts)]


DETECTOR = Detector(name="answers", version="7", kinds=("contradicted_answer", "unsupported_answer"), detect=_detect)

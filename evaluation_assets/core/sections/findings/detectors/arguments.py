"""[arguments] Dates, times and codes in arguments that nobody gave, or that the user's latest words contradict.

Lookups may be of the day before or after a given one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from evaluation_assets.core.sections.findings.course import Asked, Course, PlacedStep
from evaluation_assets.core.sections.findings.detector import Detected, Detector
from evaluation_assets.core.sections.findings.effects import may_do_anything
from evaluation_assets.core.sections.findings.given import Given
from evaluation_assets.core.sections.findings.values import Value, misreadings, values_in
from evaluation_assets.core.suites.effects import changes_state
from evaluation_assets.core.traces.trajectories.calls import leaves
from evaluation_assets.core.traces.trajectories.model import JsonObject, Span

_LONGEST = 60
"""Longer values, and those of many words, are text: searches, notes, code."""

_MOST_WORDS = 3
_LETTER, _DIGIT = re.compile(r"[^\W\d_]"), re.compile(r"\d")
_FEWEST_DIGITS = 5
"""Plain numbers with fewer digits may be amounts and counts, which are computed."""

_FEWEST_DIGITS_OF_ANOTHER = 2
_DATE_LIKE = re.compile(r"\d{1,5}-\d{1,3}-\d{1,3}")
_AFTER = 10_000
"""Characters after a call in which the number that was meant comes again."""

_SHORTEST_MISREAD = 6
"""Shorter codes in a text differ from others by chance."""

_MOST_MISSES = 20
"""Values of a call that are looked for in vain: each search reads all of its arguments."""


def _detect(course: Course) -> Iterator[Detected]:
    named: dict[str, set[str]] = {}
    for number, event in enumerate(course.events):
        if isinstance(event, Asked):
            named = _by_shape(value.forms[0] for value in values_in(event.message) if value.kind == "code")
        elif isinstance(event, PlacedStep) and event.step.call is not None and _is_checked(event, course):
            given = course.texts.given_to(number)
            yield from _of_call(event, given, named)
            yield from _of_figures(event, given, course.texts.given_to(len(course.events)))


def _is_checked(made: PlacedStep, course: Course) -> bool:
    return not may_do_anything(made.call) and (changes_state(made.call.name) or not course.edits_files)


def _of_call(made: PlacedStep, given: Given, named: Mapping[str, set[str]]) -> Iterator[Detected]:
    values = [checked for text in _texts(made.trajectory.arguments(made.call)) for checked in _checked(text, given)]
    codes = {value.forms[0] for value, _ in values if value.kind == "code"}
    said: set[tuple[str, str]] = set()
    searched = _Searched(made)
    for value, text in values:
        if not given.holds(value):
            if not changes_state(made.call.name) and given.holds_neighbour(value):
                continue
            kind = "unsupported_argument"
        elif value.kind == "code" and changes_state(made.call.name) and _contradicts(value.forms[0], codes, named):
            kind = "contradicted_argument"
        else:
            continue
        if (kind, text) in said:
            continue
        said.add((kind, text))
        span = searched.span_of(text)
        yield Detected(
            kind=kind,
            place=made.place(span),
            evidence=made.trajectory.piece(span),
            severity=None if changes_state(made.call.name) else "LOW",
        )


def _checked(text: str, given: Given) -> Iterator[tuple[Value, str]]:
    """Values with the whole text as evidence: a part of a secret would not be known as one.

    Of longer texts only codes, with themselves as evidence, that may be a misreading of one that was given.
    """
    if len(text) > _LONGEST or len(text.split()) > _MOST_WORDS:
        for value in values_in(text):
            is_long = value.kind == "code" and value.end - value.start >= _SHORTEST_MISREAD
            if is_long and not given.holds(value) and given.holds_nearly(value):
                yield value, text[value.start : value.end]
    else:
        for value in values_in(text):
            if value.kind != "number" or value.end - value.start >= _FEWEST_DIGITS:
                yield value, text


def _of_figures(made: PlacedStep, given: Given, said: Given) -> Iterator[Detected]:
    """Numbers with a sign that nobody gave, dates with a digit too few, and numbers in the place of another one.

    Such a number is in no text of the run, while one that is nearly the same was given before and is said again later.
    """
    arguments = made.trajectory.arguments(made.call) if made.step.has_succeeded else None
    for value in leaves(arguments):
        written = str(value).strip()
        if isinstance(value, bool):
            continue
        if isinstance(value, int | float) and value < 0:
            is_wrong = _has_other_sign(made, written, given)
        elif isinstance(value, str):
            is_wrong = _DATE_LIKE.fullmatch(written) is not None and _is_misread_date(written, given)
        else:
            is_wrong = isinstance(value, int | float) and _is_in_place_of_another(made, written, given, said)
        if is_wrong:
            span = _Searched(made).span_of(written)
            yield Detected(kind="contradicted_argument", place=made.place(span), evidence=made.trajectory.piece(span))
            return


def _has_other_sign(made: PlacedStep, written: str, given: Given) -> bool:
    numbers = [value for value in values_in(written[1:]) if value.kind == "number"]
    return bool(numbers) and given.holds(numbers[0]) and written not in made.trajectory.text[: made.call.raw[0]]


def _is_misread_date(written: str, given: Given) -> bool:
    if any(value.kind == "date" for value in values_in(written)):
        return False
    dates = (value for other in misreadings(written) for value in values_in(other) if value.kind == "date")
    return any(given.holds(value) for value in dates)


def _is_in_place_of_another(made: PlacedStep, written: str, given: Given, said: Given) -> bool:
    values = list(values_in(written))
    if not changes_state(made.call.name) or len(values) != 1 or len(written) < _FEWEST_DIGITS_OF_ANOTHER:
        return False
    if values[0].kind != "number" or said.holds(values[0]):
        return False
    form = values[0].forms[0]
    others = {other for other in misreadings(form) if len(other) == len(form)} | _near(form)
    return any(
        given.holds(Value("number", (other,), 0, 0))
        and re.compile(rf"(?<![\d.,]){re.escape(other)}(?![\d])").search(
            made.trajectory.text, made.call.raw[1], made.call.raw[1] + _AFTER
        )
        for other in sorted(others)
    )


def _near(form: str) -> set[str]:
    """One more or less, and multiples by powers of ten."""
    number = Decimal(form)
    others = (number + 1, number - 1, *(number.scaleb(power) for power in (-3, -2, -1, 1, 2, 3)))
    return {form for other in others for value in values_in(f"{abs(other):f}") for form in value.forms}


class _Searched:
    """Where the arguments of a call have values, which are looked for in their order."""

    def __init__(self, made: PlacedStep) -> None:
        self._made = made
        self._from = made.call.raw[0]
        self._misses = 0

    def span_of(self, text: str) -> Span:
        """Where a value is; all arguments if they have it in another form, such as with escaped letters."""
        if self._misses < _MOST_MISSES:
            at = self._made.trajectory.text.find(text, self._from, self._made.call.raw[1])
            if at >= 0:
                self._from = at + len(text)
                return at, self._from
            self._misses += 1
        return self._made.arguments_span


def _contradicts(code: str, codes: set[str], named: Mapping[str, set[str]]) -> bool:
    """Whether the user named exactly one code of this shape, and the call has another one in its place."""
    alike = named.get(_shape(code), ())
    return len(alike) == 1 and codes.isdisjoint(alike)


def _by_shape(codes: Iterable[str]) -> dict[str, set[str]]:
    by_shape: dict[str, set[str]] = {}
    for code in codes:
        by_shape.setdefault(_shape(code), set()).add(code)
    return by_shape


def _shape(code: str) -> str:
    return _DIGIT.sub("9", _LETTER.sub("a", code))


def _texts(arguments: JsonObject | None) -> Iterator[str]:
    """The texts and whole numbers of arguments."""
    for value in leaves(arguments):
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            yield str(value).strip()


DETECTOR = Detector(
    name="arguments", version="6", kinds=("unsupported_argument", "contradicted_argument"), detect=_detect
)

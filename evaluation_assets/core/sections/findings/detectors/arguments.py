"""[arguments] Dates, times and codes in arguments that nobody gave, or that the user's latest words contradict.

Lookups may be of the day before or after a given one, and of any range. Words may give a day or a time: `tomorrow`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from evaluation_assets.core.sections.findings.detector import Detected, Detector, in_step
from evaluation_assets.core.sections.findings.evidence.course import Asked, Course, PlacedStep
from evaluation_assets.core.sections.findings.evidence.effects import may_do_anything
from evaluation_assets.core.sections.findings.evidence.given import Given
from evaluation_assets.core.sections.findings.evidence.values import ADDRESS, Value, misreadings, values_in
from evaluation_assets.core.suites.effects import changes_state
from evaluation_assets.core.traces.trajectories.calls import leaves
from evaluation_assets.core.traces.trajectories.model import Span

_LONGEST = 60
"""Longer values, and those of many words, are text: searches, notes, code."""

_MOST_WORDS = 3
_BOUND = re.compile(
    r"from|to$|start|end|since|until|till|before|after|begin|min|max|earliest|latest|desde|hasta|von|bis|ab$|window|range",
    re.IGNORECASE,
)
"""Fields that bound what is looked up: agents choose the range."""

_END = re.compile(r"end|to$|until|till|bis|hasta|fin", re.IGNORECASE)
_OF_BIRTH = re.compile(r"birth|dob|geb|nac", re.IGNORECASE)
_EXPRESSION = re.compile(r"(?=.*\d\s*[-+*/^])(?!\d{1,4}-\d{1,2}-\d{1,4}$)[\d.,\s()+*/^%-]{3,300}")
"""Sums and products: their numbers may be computed, or be the factor of a unit."""

_PART = re.compile(r"[._+-]")
_MISTYPED = 2
_BEFORE = 200_000
"""Characters before a call in which addresses are looked for."""

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
            given = course.texts.given_to(number, also=("words", "unknown_day"))
            yield from _of_call(event, given, named)
            yield from _of_figures(event, given, course.texts.given_to(len(course.events)))
            yield from _of_addresses(event)


def _is_checked(made: PlacedStep, course: Course) -> bool:
    return not may_do_anything(made.call) and (changes_state(made.call.name) or not course.edits_files)


def _of_call(made: PlacedStep, given: Given, named: Mapping[str, set[str]]) -> Iterator[Detected]:
    changes = changes_state(made.call.name)
    values = [
        (name, value, evidence)
        for name, text in _texts("", made.trajectory.arguments(made.call))
        for value, evidence in _checked(text, given)
        if not _is_chosen(name, value, changes=changes)
    ]
    codes = {value.forms[0] for _, value, _ in values if value.kind == "code"}
    said: set[tuple[str, str]] = set()
    searched = _Searched(made)
    for name, value, text in values:
        if not given.holds(value):
            if not changes and _OF_BIRTH.search(name) is None and given.holds_neighbour(value):
                continue
            kind = "unsupported_argument"
        elif value.kind == "code" and changes and _contradicts(value.forms[0], codes, named):
            kind = "contradicted_argument"
        else:
            continue
        if (kind, text) in said:
            continue
        said.add((kind, text))
        yield in_step(kind, made, searched.span_of(text), None if changes else "LOW")


def _is_chosen(name: str, value: Value, *, changes: bool) -> bool:
    """Whether an agent may choose a value: a bound of what it looks up, or the time at which something ends."""
    if changes:
        return value.kind == "time" and _END.search(name) is not None
    return value.kind in ("date", "time") and _BOUND.search(name) is not None


def _checked(text: str, given: Given) -> Iterator[tuple[Value, str]]:
    """Values with the whole text as evidence: a part of a secret would not be known as one.

    Of longer texts only codes and long numbers, with themselves as evidence, that may be misread from given ones.
    """
    if _EXPRESSION.fullmatch(text) is not None:
        for value in values_in(text):
            if value.end - value.start >= _FEWEST_DIGITS and not given.holds(value) and given.holds_nearly(value):
                yield value, text
    elif len(text) > _LONGEST or len(text.split()) > _MOST_WORDS:
        for value in values_in(text):
            shortest = {"code": _SHORTEST_MISREAD, "number": _FEWEST_DIGITS}.get(value.kind)
            is_long = shortest is not None and value.end - value.start >= shortest
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
            yield in_step("contradicted_argument", made, _Searched(made).span_of(written))
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
    meant = {other for other in others if given.holds(Value("number", (other,), 0, 0))}
    following = values_in(made.trajectory.text[made.call.raw[1] : made.call.raw[1] + _AFTER]) if meant else ()
    return any(not meant.isdisjoint(value.forms) for value in following if value.kind == "number")


def _near(form: str) -> set[str]:
    """One more or less, and multiples by powers of ten."""
    number = Decimal(form)
    others = (number + 1, number - 1, *(number.scaleb(power) for power in (-3, -2, -1, 1, 2, 3)))
    return {form for other in others for value in values_in(f"{abs(other):f}") for form in value.forms}


def _of_addresses(made: PlacedStep) -> Iterator[Detected]:
    """E-mail addresses that nothing had before, while one that is nearly the same was given."""
    text = made.trajectory.text
    own = dict.fromkeys(ADDRESS.findall(made.arguments_text)) if "@" in made.arguments_text else {}
    if not own or not changes_state(made.call.name):
        return
    before = text[max(0, made.call.raw[0] - _BEFORE) : made.call.raw[0]].casefold()
    known = set(ADDRESS.findall(before))
    for address in own:
        if address.casefold() not in before and any(_are_nearly(address.casefold(), other) for other in known):
            yield in_step("contradicted_argument", made, made.span_of(address))
            return


def _are_nearly(address: str, other: str) -> bool:
    """Whether two addresses differ in one part of their name, or in one or two letters."""
    if len(address) == len(other) and sum(one != two for one, two in zip(address, other, strict=True)) <= _MISTYPED:
        return True
    if address in set(misreadings(other)):
        return True
    (name, _, host), (other_name, _, other_host) = address.partition("@"), other.partition("@")
    parts, others = _PART.split(name), _PART.split(other_name)
    is_renamed = len(parts) == len(others) > 1 and sum(one != two for one, two in zip(parts, others, strict=True)) == 1
    return host == other_host and is_renamed


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


def _texts(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """The texts and whole numbers of arguments, with the name of their field."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(key, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(name, inner)
    elif isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        yield name, str(value).strip()


DETECTOR = Detector(
    name="arguments", version="9", kinds=("unsupported_argument", "contradicted_argument"), detect=_detect
)

"""[answers] Figures, dates and codes in what agents say that nothing before supports.

What agents compute is support enough: products, sums and differences of figures that are close by, and are supported
themselves. So is a later result that has the figure. Only what follows a result is read: without tools, an agent speaks
from what it knows. A message that hands on a page or a record is a result of a tool that was not recorded.

So are figures and codes that nothing has, one character off one that the agent thought just before, result or not.
"""

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from functools import cached_property

from evaluation_assets.core.sections.findings.claim import VERDICTS, Claim, ClaimVerdict
from evaluation_assets.core.sections.findings.detector import Detected, Detector, claimed_in, in_message
from evaluation_assets.core.sections.findings.evidence.computed import is_one_rounded, is_percentage_of, not_computed
from evaluation_assets.core.sections.findings.evidence.course import Asked, Course, Message, PlacedStep, quotation
from evaluation_assets.core.sections.findings.evidence.cues import cues
from evaluation_assets.core.sections.findings.evidence.effects import may_do_anything
from evaluation_assets.core.sections.findings.evidence.given import Given, Texts
from evaluation_assets.core.sections.findings.evidence.results import as_read
from evaluation_assets.core.sections.findings.evidence.totals import (
    Record,
    differences_of,
    means_of,
    named_figures,
    records_in,
    shares_of,
    sums_in_lines,
    totals_of,
)
from evaluation_assets.core.sections.findings.evidence.values import Value, currency_beside, misreadings, values_in
from evaluation_assets.core.suites.effects import changes_state, has_known_verb
from evaluation_assets.core.traces.trajectories.model import Span

_LEAST = 20
"""Smaller numbers are counts, list items and ratings, unless they are amounts of money with cents."""

_FEWEST_DIGITS = 2
"""Fewer digits before `million` are a rough figure."""

_RESULTS = 2
"""Results before a message whose numbers are close by."""

_READ = 20_000
"""Characters of a result that figures are computed from."""

_NEXT_DAY = re.compile(r"\d\s?\+1\b")
"""How results say that a time is one of the next day."""

_ASKS = "?？"
"""Questions propose values of their own, and so do requests where other agents hear them."""

_THOUGHTS = 3
"""Steps up to a message whose last thought it is compared with."""

_SHORTEST_SLIP = 3
"""Shorter figures and codes differ from others by chance."""

_COUNTED = re.compile(r"[^\W\d]+-?\d{1,2}")
"""Names with a number: the next one is another thing."""

_KINDS: Mapping[ClaimVerdict, str] = {"contradicted": "contradicted_answer", "not_found": "unsupported_answer"}

_FILE = re.compile(r"\.[A-Za-z]\w{0,4}\b")
"""The end of the name of a file: agents name theirs as they like."""

_DURATION = re.compile(
    r"\*{0,3}[ -]?(?:(?:business|working|calendar) )?(?P<unit>hour|day|min(?:ute|\b)|week|month|year|stunde|tag|woche"
    r"|monat|jahr|heure|jour|semaine|mois|hora|d[ií]a|semana|小时|分钟|天|个工作日)",
    re.IGNORECASE,
)
_MEAN = re.compile(r"\b(?:average|avg|mean|durchschnitt|moyenne|promedio|media|média|средн)|平均|평균", re.IGNORECASE)
_WITH_OFFSET = re.compile(r"\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)\b")
_ZONE = re.compile(
    r"\b(?:UTC|GMT|[A-Z]{2,3}T|(?i:local time|ortszeit|heure locale|hora local|ora locale)|in [A-Z]\w+)\b"
)
_LENGTH = re.compile(r"(?P<h>\d+)[:h](?P<m>\d\d)(?::(?P<s>\d\d))?")
_LONGEST_SPAN = 2_000
_DAY_UNITS = frozenset({"day", "tag", "jour", "día", "dia", "天"})
_EXAMPLE = re.compile(
    r"\b(?:e\.\s?g\.|for (?:example|instance)|such as|in the form(?:at)?|format|looks? like|z\.\s?B\.|zum Beispiel"
    r"|beispielsweise|p\. ?ej\.|por ejemplo|par exemple|ad esempio|por exemplo|например|ví dụ)[^.?!\n]{0,20}$"
    r"|(?:例如|比如|例えば|예를 들어|예:)[^。？！\n]{0,10}$",
    re.IGNORECASE,
)
_BEFORE = 50
"""Characters before a value that may call it an example."""

_GIVEN_DURATION = re.compile(rf"\d{_DURATION.pattern}", re.IGNORECASE)
_DAY_OF_MONTH = re.compile(r"\s?[日일号號]")
_ON_THE = re.compile(r"\b(?:am|vom|zum|le|du|au|el|del|al|il|dal|día|dia)\s$", re.IGNORECASE)
_LAST_DAY = 31
"""Days of a month that follow an article: `le 27`."""

_RANGE = re.compile(r"\d\s?[-–—]\s?$")


def _detect(course: Course) -> Iterator[Detected | Claim]:
    asked: list[float] = []
    results = _Results(course)
    for number, event in enumerate(course.events):
        match event:
            case Asked():
                asked = _numbers(event.message)
            case Message() if number not in course.handed_on:
                known = course.texts.given_to(number, also=("argument", "words", "thought"))
                slips = _otherwise_than_thought(event, course, known, results)
                if results.is_any or slips:
                    given = course.texts.given_to(number, also=("argument", "words"))
                    yield from _of_message(event, given, results, asked, slips, course)
            case PlacedStep() if event.step.result is not None:
                results.add(event.call.name if event.step.call is not None else "", event.result)
            case _:
                pass


class _Results:
    """The results up to a message, and the last one of each value. They are read when the first figure is missing."""

    def __init__(self, course: Course) -> None:
        self.is_any = False
        self._course = course
        self._unread: list[tuple[str, str]] = []
        self._of_tools: dict[str, list[Record]] = {}
        self._shares: list[float] = []
        self._differences: list[float] = []
        self._means: list[float] = []
        self._named: dict[str, set[float]] = {}
        self._close_by: deque[str] = deque(maxlen=_RESULTS)
        self._totals = {total for text in course.instructions for total in sums_in_lines(text)}
        self._has_next_day = self._has_zone = False

    def add(self, tool: str, result: str) -> None:
        """Add the next result."""
        self.is_any = True
        self._unread.append((tool, result))
        self._close_by.appendleft(as_read(result[:_READ]))

    def support(self, value: Value, message: Message, given: Given) -> bool:
        """Whether one after the message has a value, one before comes to it, or says that it is of the next day.

        So has a date that a later call is given which changes something: what was proposed is checked there.
        """
        self._read()
        return (
            any(self._last.get((value.kind, form), -1) >= message.order for form in value.forms)
            or any(self._last_done.get(form, -1) >= message.order for form in value.forms)
            or (self._has_next_day and given.holds_day_before(value))
            or (value.kind == "time" and _is_length(value, message.text, given))
            or (value.kind == "time" and self._has_zone and _is_local(value, message.text, given))
            or (value.kind == "number" and not self._totals.isdisjoint(map(float, value.forms)))
            or (value.kind == "number" and self._comes_to(value, message.text))
            or (value.kind == "number" and is_percentage_of(self._shares, value, message.text))
            or (value.kind == "number" and _is_between_dates(value, message.text, given))
        )

    def _comes_to(self, value: Value, text: str) -> bool:
        """Whether records differ by a figure in thousands or millions, or have one as their mean that is called so."""
        figure, is_scaled = max(map(float, value.forms)), len(value.forms) > 1 and len(value.forms[0]) >= _SHORTEST_SLIP
        return (is_scaled and is_one_rounded(figure, self._differences)) or (
            _MEAN.search(text) is not None and is_one_rounded(figure, self._means)
        )

    def _read(self) -> None:
        """Read new results: the totals of each, and over all results of a tool."""
        for tool, result in self._unread:
            self._has_next_day = self._has_next_day or _NEXT_DAY.search(result) is not None
            self._has_zone = self._has_zone or _WITH_OFFSET.search(result) is not None
            for name, figure in named_figures(result):
                self._named.setdefault(name, set()).add(figure)
            for records in records_in(result):
                self._totals.update(totals_of(records))
                self._shares += shares_of(records)
                self._differences = sorted((*self._differences, *differences_of(records)))
                self._means = sorted((*self._means, *means_of(records)))
                so_far = self._of_tools.setdefault(tool, [])
                so_far += records
                self._totals.update(totals_of(so_far))
        self._unread.clear()

    def numbers(self) -> Iterator[float]:
        """The numbers in the last ones."""
        return (each for result in self._close_by for each in _numbers(result))

    def left_of_named(self, text: str, values: Sequence[Value], wrong: Sequence[Value]) -> set[float]:
        """What is left of the only figure of a record that a text names, `certificate`, after one of its amounts."""
        said = text.casefold() if self._named else ""
        named = {each for name, figures in self._named.items() if name in said for each in figures}
        if not named:
            return set()
        starts = {each.start for each in wrong}
        others = (each for each in values if each.kind == "number" and each.start not in starts)
        amounts = {float(each.forms[0]) for each in others if currency_beside(text, each) is not None}
        return {round(figure - amount, 2) for figure in named for amount in amounts}

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
    def _last_done(self) -> dict[str, int]:
        """The last call that changes something and is given a date, by its forms with and without the year."""
        return {
            written: made.order
            for made in self._course.calls
            if not (
                may_do_anything(made.call) or (has_known_verb(made.call.name) and not changes_state(made.call.name))
            )
            for value in values_in(made.arguments_text)
            if value.kind == "date"
            for form in value.forms
            for written in (form, form.partition("-")[2])
        }

    @cached_property
    def _last(self) -> dict[tuple[str, str], int]:
        """The last result that has a value, by kind and form. Code that prints what it was given has found nothing."""
        last: dict[tuple[str, str], int] = {}
        for placed in self._course.calls:
            written: set[str] = set()
            if may_do_anything(placed.call):
                written.update(form for value in values_in(placed.arguments_text) for form in value.forms)
            for value in values_in(as_read(placed.result)):
                if written.isdisjoint(value.forms):
                    last.update(((value.kind, form), placed.order) for form in value.forms)
        return last


def _of_message(
    message: Message, given: Given, results: _Results, asked: Sequence[float], slips: Collection[int], course: Course
) -> Iterator[Detected | Claim]:
    is_heard = len(course.trajectory.agents) > 1
    values = [value for value in values_in(message.text) if value.kind != "code" or not course.edits_files]
    if not results.is_any:
        values = [value for value in values if value.start in slips]
    unsupported: Sequence[Value] = [
        value
        for value in values
        if _may_be_checked(message.text, value, results)
        and not given.holds(value)
        and not results.support(value, message, given)
    ]
    if unsupported:
        unsupported = not_computed(message.text, values, unsupported, (*asked, *results.numbers()))
        left = results.left_of_named(message.text, values, unsupported)
        unsupported = [
            value for value in unsupported if value.kind != "number" or left.isdisjoint(map(float, value.forms))
        ]
    wrong = {*slips, *(value.start for value in unsupported)}
    proposed: set[tuple[str, ...]] = set()
    said: set[tuple[str, ...]] = set()
    new: dict[Span, ClaimVerdict] = {}
    for value in values:
        if value.start not in slips and not _may_be_checked(message.text, value, results):
            continue
        start, end = quotation(message.text, value.start, value.end)
        is_wrong = value.start in wrong
        asks = message.text[end - 1] in _ASKS or (is_heard and cues("request").matches(message.text[start:end]))
        if is_wrong and asks:
            proposed.add(value.forms)
        if asks or (is_wrong and value.forms in proposed):
            continue
        verdict: ClaimVerdict = "supported"
        if is_wrong:
            verdict = "contradicted" if value.start in slips or given.holds_nearly(value) else "not_found"
            if value.forms not in said:
                said.add(value.forms)
                is_graver = VERDICTS.index(verdict) > VERDICTS.index(new.get((start, end), "supported"))
                new[start, end] = verdict if is_graver else new[start, end]
        yield claimed_in(message, (start, end), verdict)
    for span, verdict in new.items():
        yield in_message(_KINDS[verdict], message, span)


def _otherwise_than_thought(message: Message, course: Course, given: Given, results: _Results) -> set[int]:
    """Where figures, codes and dates begin that nothing has, one character off one of the last thought.

    The message lacks what was thought, and does not compute the figure from the thought.
    """
    last = message.order + (message.step is not None)
    thoughts = [course.trajectory.piece(made.step.thought) for made in course.steps[max(0, last - _THOUGHTS) : last]]
    thought = next(filter(None, reversed(thoughts)), "")
    if not thought:
        return set()
    values = list(values_in(message.text))
    said = {form for value in values for form in value.forms}
    texts = Texts()
    texts.add(thought)
    meant, own = {form for value in values_in(thought) for form in value.forms} - said, texts.given_to(0)
    numbers = _numbers(thought)
    slips = [
        value
        for value in values
        if len(value.forms[0]) >= _SHORTEST_SLIP
        and not (given.holds(value) or own.holds(value))
        and any(_is_slip(value, other, numbers) for other in misreadings(value.forms[0]) if other in meant)
        and not results.support(value, message, given)
    ]
    return {value.start for value in not_computed(message.text, values, slips, numbers)} if slips else set()


def _is_slip(value: Value, meant: str, numbers: Sequence[float]) -> bool:
    """Whether one character is another, and does not count on, round, or add the years of a number that was thought."""
    form = value.forms[0]
    if value.kind == "time" or len(form) != len(meant):
        return False
    if value.kind == "date":
        (year, _, day), (other_year, _, other_day) = form.partition("-"), meant.partition("-")
        years = abs(int(year) - int(other_year)) if "-" in day and day == other_day else 0
        return years > 1 and years not in numbers
    if value.kind == "code":
        return _COUNTED.fullmatch(form) is None
    places = len(form.partition(".")[2])
    return not places or abs(Decimal(form) - Decimal(meant)) > Decimal(10) ** -places


def _is_length(value: Value, text: str, given: Given) -> bool:
    """Whether what looks like a time is a number of seconds or minutes that was given: `1:02:05` of 3725."""
    written = _LENGTH.fullmatch(text, value.start, value.end)
    if written is None:
        return False
    minutes = int(written["h"]) * 60 + int(written["m"])
    lengths = (minutes, minutes * 60 + int(written["s"] or 0))
    return any(given.holds(Value("number", (str(length),), 0, 0)) for length in lengths)


def _is_local(value: Value, text: str, given: Given) -> bool:
    """Whether a time is a given one of its sentence, which names a place or a time zone, by whole hours."""
    start, end = quotation(text, value.start, value.end)
    sentence = text[start:end]
    minutes = value.forms[0].partition(":")[2]
    return _ZONE.search(sentence) is not None and any(
        other.kind == "time" and other.forms[0].endswith(f":{minutes}") and given.holds(other)
        for other in values_in(sentence)
        if other.start + start != value.start
    )


def _is_between_dates(value: Value, text: str, given: Given) -> bool:
    """Whether a number of days is that between two dates that were given."""
    duration = _DURATION.match(text, value.end)
    if duration is None or duration["unit"].casefold() not in _DAY_UNITS:
        return False
    if not value.forms[0].isdecimal() or int(value.forms[0]) > _LONGEST_SPAN:
        return False
    dates, span = set(given.dates()), timedelta(days=int(value.forms[0]))
    return any(first + span in dates for first in dates)


def _is_example(text: str, value: Value) -> bool:
    """Whether a value only shows what such a value looks like."""
    return _EXAMPLE.search(text, max(0, value.start - _BEFORE), value.start) is not None


def _may_be_checked(text: str, value: Value, results: _Results) -> bool:
    if _is_example(text, value):
        return False
    if value.kind != "number":
        return value.kind != "code" or _FILE.match(text, value.end) is None
    is_rough = len(value.forms[0].strip("0.")) < _FEWEST_DIGITS  # `half a million, or 0.5 million`
    figure = float(value.forms[0]) if is_rough else max(map(float, value.forms))
    is_small = figure < _LEAST and not (float(value.forms[0]) % 1 and currency_beside(text, value))
    if is_small or _RANGE.search(text, max(0, value.start - 3), value.start) is not None:
        return False
    is_day = float(value.forms[0]) <= _LAST_DAY and _ON_THE.search(text, max(0, value.start - 5), value.start)
    if is_day or _DAY_OF_MONTH.match(text, value.end) is not None:
        return False
    duration = _DURATION.match(text, value.end)
    return duration is None or results.have_any(duration["unit"])


def _numbers(text: str) -> list[float]:
    numbers = (value for value in values_in(text) if value.kind == "number")
    return [float(form) for value in numbers for form in (*value.forms, *value.parts)]


DETECTOR = Detector(name="answers", version="13", kinds=("contradicted_answer", "unsupported_answer"), detect=_detect)

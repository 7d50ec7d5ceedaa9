"""What was given up to a point of a run: the values that messages, instructions and results hold."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Literal, get_args

from evaluation_assets.core.sections.findings.evidence.cues import cues
from evaluation_assets.core.sections.findings.evidence.loose_days import loose_days
from evaluation_assets.core.sections.findings.evidence.resolved import (
    Distance,
    counted_in,
    days_meant,
    minutes_in,
    moved,
    speaks_of_days,
    stays_in,
    times_meant,
)
from evaluation_assets.core.sections.findings.evidence.spelled_numbers import spelled_numbers
from evaluation_assets.core.sections.findings.evidence.values import Value, date_of, misreadings, values_in

_DIGITS = re.compile(r"\d+")
_PARTS = re.compile(r"[-_]")
_SEPARATORS = re.compile(r"[-_#]")
_AMOUNT = re.compile(r"(?<![\w.,])\d{2,15}(?=[^\W\d_]{1,3}\b)")
"""Numbers with a unit, such as `42mm`."""

_LAST_DIGITS = 4
"""By so many digits at their end, cards and accounts are named."""

_LONGEST_MISREAD = 40
_MOST_DATES = 40
_MOST_STAYS = 4
_MOST_SPANS = 8
_DAY = 24 * 60
"""Minutes of a day."""

_YEAR = re.compile(r"^\d{4}-(?=\d)")
_COMPACT = re.compile(r"((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
_SECONDS = re.compile(r"1\d{9}(?:\.\d+)?")
_OFFSETS = (-12 * 3600, 14 * 3600)
"""The earliest and the latest local time, in seconds from UTC."""


_ANY = "any"
"""Stands for all dates: words speak of days, and nothing tells which day was today."""

_JOINED = re.compile(r"[^\s.()/\-]+(?:[\s.()/\-]{1,2}[^\s.()/\-]+)*")
_JOINT = re.compile(r"[\s.()/\-]+")
_MOST_JOINED = 8
_FEWEST_JOINED, _MOST_SYMBOLS = 5, 34
_LONGEST_TOLD = 4_000
_TAIL = 9
"""By so many digits at their end telephone numbers are the same, with or without the code of a country."""

Writer = Literal["said", "argument", "thought", "words", "unknown_day"]
"""Where a text stands: in what anybody said or a result has, in the arguments of a call, or in a thought.

`words` are dates and times that words stand for, such as `tomorrow`, and codes and numbers that were told in pieces.
`unknown_day` is any date, from words on if nothing tells what day it was when they were said, any time if users leave
it open, and the days and times that they count from others.
"""

_Index = Literal["date", "time", "number", "code", "day", "bare_day", "dated_day", "month", "tail", "calendar"]

_WRITERS: tuple[Writer, ...] = get_args(Writer)


class Texts:
    """An index of the values in the texts of a run, with the number of the event from which on each is known."""

    def __init__(self) -> None:
        self._known: dict[Writer, dict[_Index, dict[str, int]]] = {
            writer: {index: {} for index in get_args(_Index)} for writer in _WRITERS
        }
        self._stays: set[int] = set()
        self._spans: dict[Distance, int] = {}
        self._minutes: dict[int, int] = {}
        self._added: set[tuple[Writer, str]] = set()

    def add(self, text: str, known_from: int = 0, writer: Writer = "said") -> None:
        """Add a text. Texts are added in the order of the run, so one that comes again adds nothing."""
        if self._is_again(writer, text):
            return
        known = self._known[writer]
        for index, forms in _forms_of(text):
            first = known[index]
            for form in forms:
                first.setdefault(form, known_from)

    def add_days(self, text: str, known_from: int, todays: Collection[date]) -> None:
        """Add the days that the words of a text stand for, if one of these days was today."""
        known = self._known["words"]
        loose = [*islice(loose_days(text[:_LONGEST_TOLD]), _MOST_DATES)]
        for form in loose:
            known["date" if form.count("-") == 2 else "bare_day"].setdefault(form, known_from)
            known["day"].setdefault(_YEAR.sub("", form), known_from)
        named = [
            *_dates_in(text, loose, todays),
            *(day for today in todays for day in days_meant(text, today, ends=False)),
        ]
        for day in named[:_MOST_DATES]:
            known["calendar"].setdefault(_form_of(day), known_from)
        self._stays.update(islice(stays_in(text), _MOST_STAYS))
        days = [day for today in todays for day in days_meant(text, today)]
        days += [
            date_of(form) + timedelta(days=nights)
            for form in islice(known["calendar"] if self._stays else (), _MOST_DATES)
            for nights in self._stays
        ]
        for day in days:
            known["date"].setdefault(_form_of(day), known_from)
            known["day"].setdefault(f"{day.month}-{day.day}", known_from)
        if not todays and speaks_of_days(text):
            for index in ("date", "day"):
                self._known["unknown_day"][index].setdefault(_ANY, known_from)

    def add_told(self, text: str, known_from: int) -> None:
        """Add the times that the words of a user stand for, spans to count by, and numbers and codes in pieces."""
        if self._is_again("words", text):
            return
        known = self._known["words"]
        times = [*times_meant(text)]
        for time in times:
            known["time"].setdefault(time, known_from)
        told = text[:_LONGEST_TOLD]
        if not times and cues("open_time").matches(told) and all(value.kind != "time" for value in values_in(told)):
            self._known["unknown_day"]["time"].setdefault(_ANY, known_from)
        for span in islice(counted_in(told), _MOST_SPANS):
            self._spans.setdefault(span, known_from)
        for minutes in islice(minutes_in(told), _MOST_SPANS):
            self._minutes.setdefault(minutes, known_from)
        for number in islice(spelled_numbers(told), _MOST_SPANS):
            known["number"].setdefault(str(number), known_from)
        for joined in _joined(text):
            known["code"].setdefault(joined, known_from)
            if joined.isdecimal():
                known["number"].setdefault(_number(joined), known_from)
                if len(joined) >= _TAIL:
                    known["tail"].setdefault(joined[-_TAIL:], known_from)

    def _is_again(self, writer: Writer, text: str) -> bool:
        size = len(self._added)
        self._added.add((writer, text))
        return len(self._added) == size

    def given_to(self, event: int, *, also: Collection[Writer] = ()) -> "Given":
        """What was said before an event of the run, by its number, and in other texts if these count too."""
        counts = "unknown_day" in also
        return Given(
            [self._known[writer] for writer in ("said", *also)],
            event,
            self._spans if counts else {},
            self._minutes if counts else {},
        )


class Given:
    """The values that were given up to an event."""

    def __init__(
        self,
        known: Sequence[Mapping[_Index, Mapping[str, int]]],
        until: int,
        spans: Mapping[Distance, int],
        minutes: Mapping[int, int],
    ) -> None:
        self._known = known
        self._until = until
        self._spans = [span for span, first in spans.items() if first <= until]
        self._minutes = [each for each, first in minutes.items() if first <= until]

    def holds(self, value: Value) -> bool:
        """Whether a text has the value, in any notation."""
        if value.kind == "date":
            return any(self._has_date(form) or self._is_counted(form) for form in value.forms)
        if value.kind == "time" and (self._has("time", _ANY) or any(map(self._is_minutes_on, value.forms))):
            return True
        if self._has_any(value.kind, value.forms) or self._has_any("tail", _tails(value)):
            return True
        if value.parts and all(self._has("number", part) for part in value.parts):
            return True
        if value.kind == "code" and self._has_any("code", (_SEPARATORS.sub("", form) for form in value.forms)):
            return True
        return value.kind == "code" and any(
            self._has_parts(form) and not self._has_any("code", misreadings(form)) for form in value.forms
        )

    def holds_nearly(self, value: Value) -> bool:
        """Whether a text has what may have been misread as the value: also dates of the month, times of the day."""
        if value.kind == "date":
            return any(
                self._has("month", _month_of(form)) or self._has("day", _YEAR.sub("", form)) for form in value.forms
            )
        if value.kind == "time":
            return any(first <= self._until for known in self._known for first in islice(known["time"].values(), 1))
        return any(
            self._has_any(value.kind, misreadings(form)) for form in value.forms if len(form) <= _LONGEST_MISREAD
        )

    def holds_day_before(self, value: Value) -> bool:
        """Whether the day before a date was given."""
        return value.kind == "date" and self._has_any(
            "date", (_form_of(before) for form in value.forms for before in [*_neighbours(form)][:1])
        )

    def holds_neighbour(self, value: Value) -> bool:
        """Whether the day before or after a date was given."""
        return value.kind == "date" and self._has_any(
            "date", (_form_of(other) for form in value.forms for other in _neighbours(form))
        )

    def dates(self) -> Iterator[date]:
        """The first dates that texts have, with the year that is meant, and days such as `tomorrow`."""
        for dated in (self._known[0]["date"], *(known["calendar"] for known in self._known)):
            for form, first in islice(dated.items(), _MOST_DATES):
                if first <= self._until and form.count("-") == 2:
                    with suppress(ValueError):
                        yield date_of(form)

    def _is_counted(self, form: str) -> bool:
        """Whether a date is so many days, weeks or months before or after one that was given."""
        day = _YEAR.sub("", form)
        for number, unit in self._spans:
            for sign in (-1, 1):
                with suppress(ValueError, OverflowError):
                    if day == form:
                        counted = (moved(each, sign * number, unit) for each in self.dates())
                        if any(f"{each.month}-{each.day}" == day for each in counted):
                            return True
                    elif self._is_named(_form_of(moved(date_of(form), sign * number, unit))):
                        return True
        return False

    def _is_named(self, form: str) -> bool:
        """Whether a text has a date, or a word that stands for one day."""
        named = (self._known[0]["date"], *(known["calendar"] for known in self._known))
        return any(form in dates and dates[form] <= self._until for dates in named)

    def _is_minutes_on(self, form: str) -> bool:
        """Whether a time is so many minutes before or after one that was given."""
        hour, _, minute = form.partition(":")
        at = int(hour) * 60 + int(minute)
        others = (divmod((at + sign * each) % _DAY, 60) for each in self._minutes for sign in (-1, 1))
        return self._has_any("time", (f"{hour}:{minute:02}" for hour, minute in others))

    def _has(self, index: _Index, form: str) -> bool:
        return any(form in known[index] and known[index][form] <= self._until for known in self._known)

    def _has_any(self, index: _Index, forms: Iterable[str]) -> bool:
        return any(self._has(index, form) for form in forms)

    def _has_parts(self, code: str) -> bool:
        """Whether each part of a code with a digit was given by itself."""
        parts = [part for part in _PARTS.split(code) if _DIGITS.search(part)]
        return all(
            self._has("code", part) or (part.isdecimal() and self._has("number", _number(part))) for part in parts
        )

    def _has_date(self, form: str) -> bool:
        day = _YEAR.sub("", form)
        if day == form:
            return self._has("day", day) or self._has("day", _ANY)
        return (
            self._has("date", form)
            or self._has("date", _ANY)
            or (self._has("bare_day", day) and not self._has("dated_day", day))
        )


def _dates_in(text: str, loose: Iterable[str], todays: Collection[date]) -> Iterator[date]:
    """The dates in a text; one without a year is of this year, of the last one or of the next."""
    written = (form for value in values_in(text[:_LONGEST_TOLD]) if value.kind == "date" for form in value.forms)
    for form in (*written, *loose):
        years = [""] if form.count("-") == 2 else [f"{today.year + n}-" for today in todays for n in (-1, 0, 1)]
        for year in years:
            with suppress(ValueError):
                yield date_of(f"{year}{form}")


def _tails(value: Value) -> Iterator[str]:
    yield from (form[-_TAIL:] for form in value.forms if form.isdecimal() and len(form) >= _TAIL)


def _joined(text: str) -> Iterator[str]:
    """Codes and numbers that a text has in pieces: `1Z 999 AA1`, `0351 912 345`."""
    for run in _JOINED.finditer(text[:_LONGEST_TOLD]):
        pieces = _JOINT.split(run.group().strip("+#,;:!?"))
        for first in range(len(pieces)):
            joined = ""
            for piece in pieces[first : first + _MOST_JOINED]:
                piece = piece.strip(",;:!?+#").casefold()
                if not piece.isalnum() or (not piece.isascii()) or (len(piece) > 3 and piece.isalpha()):
                    break
                joined += piece
                if len(joined) > _MOST_SYMBOLS:
                    break
                if len(joined) >= _FEWEST_JOINED and len(joined) > len(piece) and _DIGITS.search(joined):
                    yield joined


def _forms_of(text: str) -> Iterator[tuple[_Index, Iterable[str]]]:
    """The forms by which the values of a text are found."""
    yield "number", map(_number, _AMOUNT.findall(text))
    for value in values_in(text):
        yield value.kind, value.forms
        yield "number", value.parts
        for form in value.forms:
            if value.kind == "number":
                yield "date", _dates(form)
            elif value.kind == "date":
                yield from _of_date(form)
            elif value.kind == "code":
                yield "code", _pieces(form)
                yield "number", _numbers(form)
                joined = _SEPARATORS.sub("", form)
                yield "number", (_number(joined),) if joined.isdecimal() else ()


def _of_date(form: str) -> Iterator[tuple[_Index, Iterable[str]]]:
    day = _YEAR.sub("", form)
    yield "day", (day,)
    yield "month", (_month_of(form), _month_of(day))
    if day == form:
        yield "bare_day", (day,)
    else:
        yield "number", (form[:4],)
        yield "dated_day", (day,)


def _numbers(code: str) -> Iterator[str]:
    """The numbers in a code, and their last digits."""
    for digits in _DIGITS.findall(code):
        yield _number(digits)
        if len(digits) > _LAST_DIGITS:
            yield _number(digits[-_LAST_DIGITS:])


def _dates(number: str) -> Iterator[str]:
    """The dates that a number may stand for: `20260305`, or seconds since 1970 anywhere on earth."""
    if (match := _COMPACT.fullmatch(number)) is not None:
        yield f"{match[1]}-{int(match[2])}-{int(match[3])}"
    elif _SECONDS.fullmatch(number) is not None:
        for offset in _OFFSETS:
            day = datetime.fromtimestamp(float(number) + offset, UTC)
            yield _form_of(day)


def _neighbours(form: str) -> Iterator[date]:
    """The day before and the day after a date with its year."""
    if form.count("-") == 2:
        with suppress(ValueError, OverflowError):
            day = date_of(form)
            yield day - timedelta(days=1)
            yield day + timedelta(days=1)


def _form_of(day: date) -> str:
    return f"{day.year}-{day.month}-{day.day}"


def _month_of(form: str) -> str:
    return form.rpartition("-")[0]


def _number(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _pieces(code: str) -> Iterator[str]:
    parts = _PARTS.split(code)
    if len(parts) > 1:
        yield from parts
        yield "".join(parts)

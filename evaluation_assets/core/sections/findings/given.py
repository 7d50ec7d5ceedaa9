"""What was given up to a point of a run: the values that messages, instructions and results hold."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta

import orjson

from evaluation_assets.core.sections.findings.values import Value, ValueKind, misreadings, values_in
from evaluation_assets.core.traces.trajectories.model import Trajectory

_DIGITS = re.compile(r"\d+")
_PARTS = re.compile(r"[-_]")
_AMOUNT = re.compile(r"(?<![\w.,])\d{2,15}(?=[^\W\d_]{1,3}\b)")
"""Numbers with a unit, such as `42mm`."""

_LAST_DIGITS = 4
"""By so many digits at their end, cards and accounts are named."""

_LONGEST_MISREAD = 40
_YEAR = re.compile(r"^\d{4}-(?=\d)")
_COMPACT = re.compile(r"((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
_SECONDS = re.compile(r"1\d{9}(?:\.\d+)?")
_OFFSETS = (-12 * 3600, 14 * 3600)
"""The earliest and the latest local time, in seconds from UTC."""


class Given:
    """An index of values. Texts are indexed at the next lookup, each once."""

    def __init__(self) -> None:
        self._unread: list[str] = []
        self._forms: dict[ValueKind, set[str]] = {"date": set(), "time": set(), "number": set(), "code": set()}
        self._days: set[str] = set()
        self._bare_days: set[str] = set()
        self._months: set[str] = set()

    @classmethod
    def at_start(cls, trajectory: Trajectory) -> "Given":
        """What is given before the first turn: the task, and what agents are told and have."""
        given = cls()
        given.add(trajectory.task)
        given.add(orjson.dumps(trajectory.agents).decode())
        return given

    def add(self, text: str) -> None:
        """Add a text."""
        self._unread.append(text)

    def holds(self, value: Value) -> bool:
        """Whether a text has the value, in any notation."""
        self._read()
        if value.kind == "date":
            return any(self._has_date(form) for form in value.forms)
        if not self._forms[value.kind].isdisjoint(value.forms):
            return True
        if value.parts and self._forms["number"].issuperset(value.parts):
            return True
        return value.kind == "code" and any(self._has_parts(form) for form in value.forms)

    def holds_nearly(self, value: Value) -> bool:
        """Whether a text has what may have been misread as the value: also dates of the month, times of the day."""
        self._read()
        known = self._forms[value.kind]
        if value.kind == "date":
            return any(_month_of(form) in self._months or _YEAR.sub("", form) in self._days for form in value.forms)
        if value.kind == "time":
            return bool(known)
        return any(not known.isdisjoint(misreadings(form)) for form in value.forms if len(form) <= _LONGEST_MISREAD)

    def holds_day_before(self, value: Value) -> bool:
        """Whether the day before a date was given."""
        self._read()
        return value.kind == "date" and any(
            f"{before.year}-{before.month}-{before.day}" in self._forms["date"]
            for form in value.forms
            for before in [*_neighbours(form)][:1]
        )

    def holds_neighbour(self, value: Value) -> bool:
        """Whether the day before or after a date was given."""
        self._read()
        return value.kind == "date" and any(
            f"{other.year}-{other.month}-{other.day}" in self._forms["date"]
            for form in value.forms
            for other in _neighbours(form)
        )

    def _has_parts(self, code: str) -> bool:
        """Whether each part of a code with a digit was given by itself."""
        parts = [part for part in _PARTS.split(code) if _DIGITS.search(part)]
        return all(
            part in self._forms["code"] or (part.isdecimal() and _number(part) in self._forms["number"])
            for part in parts
        )

    def _has_date(self, form: str) -> bool:
        day = _YEAR.sub("", form)
        return form in self._forms["date"] or day in (self._days if day == form else self._bare_days)

    def _read(self) -> None:
        for text in self._unread:
            self._forms["number"].update(_number(amount) for amount in _AMOUNT.findall(text))
            for value in values_in(text):
                self._forms[value.kind].update(value.forms)
                self._forms["number"].update(value.parts)
                if value.kind == "number":
                    for form in value.forms:
                        self._forms["date"].update(_dates(form))
                elif value.kind == "date":
                    for form in value.forms:
                        day = _YEAR.sub("", form)
                        self._days.add(day)
                        self._months.update((_month_of(form), _month_of(day)))
                        if day == form:
                            self._bare_days.add(day)
                        else:
                            self._forms["number"].add(form[:4])
                elif value.kind == "code":
                    for form in value.forms:
                        self._forms["code"].update(_pieces(form))
                        for digits in _DIGITS.findall(form):
                            self._forms["number"].add(_number(digits))
                            if len(digits) > _LAST_DIGITS:
                                self._forms["number"].add(_number(digits[-_LAST_DIGITS:]))
        self._unread.clear()


def _dates(number: str) -> Iterator[str]:
    """The dates that a number may stand for: `20260305`, or seconds since 1970 anywhere on earth."""
    if (match := _COMPACT.fullmatch(number)) is not None:
        yield f"{match[1]}-{int(match[2])}-{int(match[3])}"
    elif _SECONDS.fullmatch(number) is not None:
        for offset in _OFFSETS:
            day = datetime.fromtimestamp(float(number) + offset, UTC)
            yield f"{day.year}-{day.month}-{day.day}"


def _neighbours(form: str) -> Iterator[date]:
    """The day before and the day after a date with its year."""
    if form.count("-") == 2:
        with suppress(ValueError, OverflowError):
            day = date(*map(int, form.split("-")))
            yield day - timedelta(days=1)
            yield day + timedelta(days=1)


def _month_of(form: str) -> str:
    return form.rpartition("-")[0]


def _number(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _pieces(code: str) -> Iterator[str]:
    parts = _PARTS.split(code)
    if len(parts) > 1:
        yield from parts
        yield "".join(parts)

"""Values in texts that can be compared: dates, times, numbers and codes, whatever their notation or language."""

import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from evaluation_assets.core.text.unspaced import UNSPACED

ValueKind = Literal["date", "time", "number", "code"]

_MONTHS = (
    "jan|januar|jänner|january|janv|janvier|ene|enero|janeiro|gennaio|gen|янв\\w*",
    "feb|februar|february|févr?|février|febrero|fev|fevereiro|febbraio|фев\\w*",
    "mar|march|märz|mars|marzo|março|мар\\w*",
    "apr|april|avr|avril|abr|abril|aprile|апр\\w*",
    "may|mai|mayo|maio|maggio|mag|мая|май",
    "jun|june|juni|juin|junio|junho|giugno|giu|июн\\w*",
    "jul|july|juli|juil|juillet|julio|julho|luglio|lug|июл\\w*",
    "aug|august|août|agosto|ago|авг\\w*",
    "sep|sept|september|septembre|septiembre|setembro|settembre|set|сен\\w*",
    "oct|october|okt|oktober|octobre|octubre|out|outubro|ottobre|ott|окт\\w*",
    "nov|november|novembre|noviembre|novembro|ноя\\w*",
    "dec|december|dez|dezember|déc|décembre|dic|diciembre|dezembro|dicembre|дек\\w*",
)
_MONTH = re.compile("|".join(f"(?P<m{number}>{names})" for number, names in enumerate(_MONTHS, 1)), re.IGNORECASE)
_ANY_MONTH = "|".join(_MONTHS)
_WORDS = {"set", "out", "ago", "mag", "gen"}
"""Months elsewhere, words in English: before a number they are no month, `set 20 alarms`."""

MONTH_NAMES = "|".join(name for names in _MONTHS for name in names.split("|") if len(name) > 3) + "|(?-i:May)"
"""The names of months that are no other words for the most part."""

_MONTH_BEFORE = "|".join(name for names in _MONTHS for name in names.split("|") if name not in _WORDS)
_BOLD = r"\*{0,3}"
"""Marks of bold and italic text."""

_LETTER = rf"[^\W{UNSPACED}]"
"""A letter or digit that a code may go on with: in scripts without spaces, words stand right beside it."""

_SPACED = r"\d{1,3}(?:[ \u2009]\d{3}){1,4}(?!\d)(?:[.,]\d+)?"
_VALUE = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=\dT))(?=[#\w-]{0,60}?\d|[^\W\d_]{3,12}\.?\*{0,3}\s\*{0,3}\d)(?:"
    r"(?P<iso>(?<!\d)(?P<y>[12]\d{3})(?P<sep>[-/.])(?P<mo>\d{1,2})(?P=sep)(?P<d>\d{1,2})(?!\d))"
    r"|(?P<numeric>(?<![\d.,])(?P<a>\d{1,2})(?P<sep2>[-/.])(?P<b>\d{1,2})(?P=sep2)(?P<y2>\d{4}|\d{2})(?![\d.,]*\d))"
    r"|(?P<cjk>(?:(?P<y3>\d{4})\s?[年년]\s?)?(?P<mo3>\d{1,2})\s?[月월]\s?(?P<d3>\d{1,2})\s?[日일号])"
    rf"|(?P<before>\b(?P<name4>{_MONTH_BEFORE})\b\.?{_BOLD}[ \t\u00a0\u202f]{_BOLD}"
    rf"(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:{_BOLD},?{_BOLD}\s{_BOLD}(?P<y4>[12]\d{{3}}))?)"
    rf"|(?P<after>(?<![\w.,-])(?P<d5>\d{{1,2}})(?:st|nd|rd|th|\.|er|º)?{_BOLD}(?:\s(?:de|of))?\s{_BOLD}"
    rf"(?P<name5>{_ANY_MONTH})\b(?!\sof\b)\.?(?:{_BOLD},?{_BOLD}\s(?:de\s)?{_BOLD}(?P<y5>[12]\d{{3}}))?)"
    r"|(?P<time>(?<![\d:])(?<!\d\+)(?<!T\d\d:\d\d-)(?<!T\d\d:\d\d:\d\d-)(?P<h>[0-2]?\d)(?::|h|\s?[点點時시]\s?|\.(?=\d\d\sUhr))(?P<mi>[0-5]\d)(?::[0-5]\d)?(?![\d:])"
    r"(?:\s?(?P<half>[ap])\.?m\b)?)"
    r"|(?P<hour>(?<![\d:.,])(?P<h2>1[0-2]|0?[1-9])\s?(?P<half2>[ap])\.?m\b)"
    r"|(?P<grouped>(?<![\w-])(?:[A-Z]{2}\d\d(?:\s[A-Z0-9]{4}){2,7}(?:\s[A-Z0-9]{1,3})?|\d{4}(?:\s\d{4}){2,4})(?![\w-]))"
    rf"|(?P<code>(?<!{_LETTER})(?<!-)#?(?=[A-Za-z_#-]*\d)(?=[\d_#-]*[A-Za-z])[A-Za-z0-9]{{1,40}}(?:[-_][A-Za-z0-9]{{1,40}}){{0,8}}(?!{_LETTER})(?!-))"
    rf"|(?P<digits>(?<!{_LETTER})(?<![.,-])(?!\d{{1,5}}-\d{{1,2}}-\d{{1,2}}(?![\d-]))(?:\d{{2,12}}(?:-\d{{2,12}}){{2,6}}|\d{{2,3}}-\d{{4,12}})(?!{_LETTER})(?!-))"
    rf"|(?P<number>(?<![^\W{UNSPACED}])(?:{_SPACED}|\d+[万萬만]\d{{1,4}}|\d+(?:[.,'\u202f\u00a0]\d+)*)(?!\d)))",
    re.IGNORECASE,
)
_MAY_HOLD = re.compile(r"\d")
_DIGITS = {zero + digit: str(digit) for zero in (0x660, 0x6F0, 0x966, 0xFF10) for digit in range(10)}
"""Arabic, Persian, Devanagari and full-width digits."""

_THOUSANDS = re.compile(r"\d{1,3}(?:[.,'\u202f\u00a0]\d{3})+")
_WELL_FORMED = re.compile(r"\d+(?:[.,]\d+)?|(?:\d{1,3}(?:[.,'\u202f\u00a0]\d{2,3})+(?:[.,]\d+)?)|\d+(?:\.\d+){2,}")
"""Numbers; else commas stand between them, as in a line of a table: `1284300.50,2310`."""

_DERIVED = re.compile(
    r"\d+(?:st|nd|rd|th|am|pm|k|m|b|x|s|h|d|g|kg|mb|gb|tb|ms|min|hrs?|px|pt|em|km|cm|mm|usd|eur|lbs?|oz|ft|in)"
    r"|[a-z]{1,3}\d{1,2}|\d{1,2}h(?:\d\d)?-\d{1,2}h(?:\d\d)?|\d[a-z]|\d+d?-?(?-i:[a-z]+)",
    re.IGNORECASE,
)
"""Amounts with a unit, ordinals and names of versions look like codes, and are written as one likes."""

_TEN_THOUSANDS = re.compile(r"(\d+)[万萬만](\d{1,4})")
_SPACES = re.compile(r"[ \u2009]")
_PERCENT = re.compile(r"\s?(?:[%％]|per\s?cent\b|prozent\b|pour cent\b|por ciento\b)", re.IGNORECASE)
_SCALE = re.compile(
    r"\s?(?:(?P<s3>thousand|k\b|tsd\b|tausend|mille?\b|mil\b|тыс|千)|(?P<s4>[万萬만])|(?P<s6>million|mio\b|millón|milhão|млн|백만)"
    r"|(?P<s8>[億亿억])|(?P<s9>billion|bn\b|milliard|mrd\b|млрд))",
    re.IGNORECASE,
)
_MONEY = r"[$€£¥₹₽]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|[Ee]uros?)\b"
_MONEY_BEFORE = re.compile(rf"(?:{_MONEY})\s?$")
_MONEY_AFTER = re.compile(rf"\s?(?:{_MONEY})")
ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
"""An address of e-mail."""

_LONGEST_READ = 2_000_000
_LONGEST_NUMBER = 30


@dataclass(frozen=True, slots=True)
class Value:
    """A value at `text[start:end]`. Values with a common form are equal.

    A number has several forms if its separators have several meanings, or if it is a share or a multiple: `25.5%` is
    0.255, too, and `2 million` is 2000000. `parts` are the numbers that its spaces or commas separate, if they do not
    group digits.
    """

    kind: ValueKind
    forms: tuple[str, ...]
    start: int
    end: int
    parts: tuple[str, ...] = ()


def values_in(text: str) -> Iterator[Value]:
    """The values in a text, in order."""
    return iter(_values(text))


@lru_cache(maxsize=8)  # a message is read several times in a row
def _values(text: str) -> tuple[Value, ...]:
    if _MAY_HOLD.search(text) is None:
        return ()
    found = (_value(match) for match in _VALUE.finditer(_unescaped(text[:_LONGEST_READ])))
    return tuple(value for value in found if value is not None)


def _unescaped(text: str) -> str:
    """A text of the same length without the ends of lines and tabs that JSON has in texts: a number may follow them."""
    for escape in ("\\n", "\\r", "\\t") if "\\" in text else ():
        text = text.replace(escape, "  ")
    return text if text.isascii() else text.translate(_DIGITS)


def _value(match: re.Match[str]) -> Value | None:
    start, end = match.span()
    match match.lastgroup:
        case _ if match["iso"]:
            return _date(start, end, (match["y"], match["mo"], match["d"]))
        case _ if match["numeric"]:
            year = match["y2"] if len(match["y2"]) == 4 else f"20{match['y2']}"
            return _date(start, end, (year, match["a"], match["b"]), (year, match["b"], match["a"]))
        case _ if match["cjk"]:
            return _date(start, end, (match["y3"], match["mo3"], match["d3"]))
        case _ if match["before"]:
            return _date(start, end, (match["y4"], month_of(match["name4"]), match["d4"]))
        case _ if match["after"]:
            return _date(start, end, (match["y5"], month_of(match["name5"]), match["d5"]))
        case _ if match["time"]:
            return Value("time", _times(int(match["h"]), match["mi"], match["half"]), start, end)
        case _ if match["hour"]:
            return Value("time", _times(int(match["h2"]), "00", match["half2"]), start, end)
        case _ if match["code"]:
            written = match.group()
            if _DERIVED.fullmatch(written):
                return None
            return Value("code", (written.lstrip("#").casefold(),), start, end)
        case _ if match["digits"]:
            return Value("code", (match.group(),), start, end)
        case _ if match["grouped"]:
            parts = match.group().split()
            joined = "".join(parts).casefold()
            return Value("number" if joined.isdecimal() else "code", (joined,), start, end, _plains(parts))
        case _:
            return _amount(match) if end - start <= _LONGEST_NUMBER else None


def _amount(match: re.Match[str]) -> Value:
    start, end = match.span()
    if both := _TEN_THOUSANDS.fullmatch(match.group()):
        return Value("number", (str(int(both[1]) * 10_000 + int(both[2])),), start, end)
    parts = _SPACES.split(match.group())
    forms = _numbers("".join(parts))
    if scale := _SCALE.match(match.string, end):
        power = int((scale.lastgroup or "")[1:])
        forms += tuple(_shifted(form, power) for form in forms)
    elif _PERCENT.match(match.string, end):
        forms += tuple(_shifted(form, -2) for form in forms)
    if len(parts) == 1 and _WELL_FORMED.fullmatch(parts[0]) is None:
        parts = parts[0].split(",")
    return Value("number", forms, start, end, _plains(parts) if len(parts) > 1 else ())


def _plains(parts: Sequence[str]) -> tuple[str, ...]:
    """Each part as a number by itself; parts of codes are none."""
    return tuple(form for part in parts if part[:1].isdecimal() for form in _numbers(part)[:1])


def _shifted(form: str, power: int) -> str:
    """A number times a power of ten."""
    return _plain(f"{Decimal(form).scaleb(power):f}")


def _date(start: int, end: int, *readings: tuple[str | None, str, str]) -> Value | None:
    forms: list[str] = []
    for year, month, day in readings:
        if 1 <= int(month) <= 12 and 1 <= int(day) <= 31:
            forms.append(f"{int(month)}-{int(day)}" if year is None else f"{year}-{int(month)}-{int(day)}")
    return Value("date", tuple(forms), start, end) if forms else None


def date_of(form: str) -> date:
    """The date of a form with its year, `2026-3-1`.

    Raises:
        ValueError: there is no such day.
    """
    year, month, day = map(int, form.split("-"))
    return date(year, month, day)


def month_of(name: str) -> str:
    """The number of the month with this name, 0 for another word."""
    match = _MONTH.fullmatch(name)
    return "0" if match is None or match.lastgroup is None else match.lastgroup[1:]


def _times(hour: int, minute: str, half: str | None) -> tuple[str, ...]:
    """A time without `am` or `pm` may be of either half of the day."""
    if half is None:
        return tuple(f"{each}:{minute}" for each in {hour, hour + 12 if hour <= 12 else hour - 12})
    return (f"{hour % 12 + (12 if half.lower() == 'p' else 0)}:{minute}",)


def _numbers(written: str) -> tuple[str, ...]:
    """The forms of a number: 1,234 is 1234 or 1.234; 10.50 is 10.5."""
    forms: dict[str, None] = {}
    if _THOUSANDS.fullmatch(written) and not written.startswith("0"):
        forms[_plain(re.sub(r"\D", "", written))] = None
    whole, separator, part = written, "", ""
    for mark in ".,":
        if written.count(mark) == 1 and written.rfind(mark) > max(map(written.rfind, set(".,'\u202f\u00a0") - {mark})):
            whole, separator, part = written.partition(mark)
    digits = re.sub(r"\D", "", whole)
    forms[_plain(f"{digits}.{part}" if separator else digits)] = None
    return tuple(forms)


def _plain(digits: str) -> str:
    whole, point, part = digits.partition(".")
    part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (point + part if part else "")


def money_in(text: str) -> Iterator[float]:
    """The amounts of money in a text, those beside the sign or code of a currency."""
    for value in values_in(text):
        if value.kind == "number" and currency_beside(text, value) is not None:
            yield float(value.forms[0])


def currency_beside(text: str, value: Value) -> str | None:
    """The sign or code of a currency before or after a value."""
    before = _MONEY_BEFORE.search(text, max(0, value.start - 4), value.start)
    match = before or _MONEY_AFTER.match(text, value.end)
    return None if match is None else match.group().strip().casefold()


def misreadings(form: str) -> Iterator[str]:
    """Forms that differ in one character, or in the order of two neighbours."""
    for place, character in enumerate(form):
        others = string.digits if character.isdigit() else string.ascii_lowercase if character.isalpha() else ""
        yield from (form[:place] + other + form[place + 1 :] for other in others if other != character)
        yield form[:place] + form[place + 1 :]
        if form[place + 1 : place + 2] not in ("", character):
            yield form[:place] + form[place + 1] + character + form[place + 2 :]
    for place in range(len(form) + 1):
        yield from (form[:place] + digit + form[place:] for digit in string.digits)

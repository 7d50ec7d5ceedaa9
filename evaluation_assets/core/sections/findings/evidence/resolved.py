"""The dates and times that words stand for: `tomorrow`, `next Wednesday`, `in August`, `half past three`.

Words are read in the languages of the cues. They are resolved from the day that the instructions name as today; a word
may stand for several days: `Friday` is the last one, the next, or the one after it.
"""

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, timedelta

from evaluation_assets.core.sections.findings.evidence.values import MONTH_NAMES, date_of, month_of, values_in
from evaluation_assets.core.text.pattern_sets import RequiredTexts

_TODAY = re.compile(
    r"\b(?:today|current(?:ly)?|now|time|date|heute|jetzt|aktuell\w*|uhrzeit|datum|hoy|ahora|fecha|hora|aujourd['’]hui"
    r"|maintenant|oggi|adesso|hoje|agora|data|сегодня|сейчас|hôm nay)\b"
    r"|今日|本日|今天|现在|当前|現在|오늘|현재|اليوم|الآن",
    re.IGNORECASE,
)
"""Words beside the day that instructions call today."""

_DAYS: tuple[tuple[int, re.Pattern[str]], ...] = tuple(
    (offset, re.compile(words, re.IGNORECASE))
    for offset, words in (
        (
            2,
            r"\b(?:day after tomorrow|übermorgen|pasado mañana|après-demain|dopodomani|depois de amanhã|послезавтра"
            r"|ngày kia)\b|明後日|あさって|后天|後天|모레|بعد غد",
        ),
        (
            1,
            r"(?<!after )\b(?:tomorrow|morgen|demain|domani|amanhã|завтра|ngày mai)\b|(?<!pasado )(?<!la )\bmañana\b"
            r"|明日|明天|내일|(?<!بعد )غد",
        ),
        (
            0,
            r"\b(?:today|tonight|now|this (?:morning|afternoon|evening)|heute|jetzt|hoy|esta (?:tarde|noche|mañana)"
            r"|aujourd['’]hui|ce soir|oggi|stasera|hoje|сегодня|hôm nay)\b|今日|本日|今天|今晚|今夜|오늘|اليوم|الآن",
        ),
        (-1, r"(?<!before )\b(?:yesterday|last night|gestern|ayer|ieri|ontem|вчера|hôm qua)\b|昨日|昨天|어제|أمس"),
        (-2, r"\b(?:day before yesterday|vorgestern|anteayer|avant-hier|позавчера|hôm kia)\b|一昨日|前天|그저께"),
    )
)
_OTHER_DAYS = (
    *(pattern for offset, pattern in _DAYS if offset),
    re.compile(
        r"\b(?:today|tonight|this (?:morning|afternoon|evening)|heute|esta (?:tarde|noche)|ce soir|oggi|stasera|hoje)\b"
        r"|今日|本日|今天|今晚|今夜|오늘",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:this|next|last|past|coming|previous|diese[mrns]?|nächste[mrns]?|letzte[mrns]?|kommende[mrns]?"
        r"|est[ae]|próxim[ao]|pasad[ao]|prochaine?|dernière?|prossim[ao]|scors[ao]) "
        r"(?:week|weekend|month|quarter|year|woche|wochenende|monat|quartal|jahr|semana|mes|trimestre|año|semaine|mois"
        r"|settimana|mese|anno|mês|ano)s?\b|[今先来去本上下这昨明](?:週|周|月|年|个月)",
        re.IGNORECASE,
    ),
)
_WEEKDAYS = tuple(
    re.compile(words)
    for words in (
        r"(?i:\b(?:mondays?|montags?|lunes|lundi|lunedì|segunda-feira|понедельник\w*)\b)|\bMon\b|月曜|(?:星期|周|週)一|월요일",
        r"(?i:\b(?:tuesdays?|dienstags?|martes|mardi|martedì|terça-feira|вторник\w*)\b)|\bTue\b|火曜|(?:星期|周|週)二|화요일",
        r"(?i:\b(?:wednesdays?|mittwochs?|miércoles|mercredi|mercoledì|quarta-feira|сред[ауеы])\b)|\bWed\b|水曜"
        r"|(?:星期|周|週)三|수요일",
        r"(?i:\b(?:thursdays?|donnerstags?|jueves|jeudi|giovedì|quinta-feira|четверг\w*)\b)|\bThu\b|木曜|(?:星期|周|週)四"
        r"|목요일",
        r"(?i:\b(?:fridays?|freitags?|viernes|vendredi|venerdì|sexta-feira|пятниц\w*)\b)|\bFri\b|金曜|(?:星期|周|週)五|금요일",
        r"(?i:\b(?:saturdays?|samstags?|sonnabends?|sábados?|samedi|sabato|суббот\w*)\b)|\bSat\b|土曜|(?:星期|周|週)六|토요일",
        r"(?i:\b(?:sundays?|sonntags?|domingos?|dimanche|domenica|воскресень\w*)\b)|\bSun\b|日曜|(?:星期|周|週)[日天]|일요일",
    )
)
_SPEAKS_OF_DAYS = (*_WEEKDAYS, *_OTHER_DAYS)
_NEEDED_FOR_DAYS = RequiredTexts(pattern.pattern for pattern in _SPEAKS_OF_DAYS)
_UNIT_WORDS = {
    "day": r"days?|tag(?:e|en)?|días?|jours?|giorn[oi]|dias?|日間|天|일|ngày|дн\w+|день",
    "week": r"weeks?|wochen?|semanas?|semaines?|settiman[ae]|週間|周|週|星期|주|tuần|недел\w+",
    "month": r"months?|monate?n?|mes(?:es)?|mois|mes[ei]|mês|か月|ヶ月|个月|個月|개월|tháng|месяц\w*",
    "year": r"years?|jahre?n?|años?|ans?|années?|ann[oi]|anos?|年間|년|năm|год\w*|лет",
}
_AMOUNTS = (
    ("a", "an", "one", "ein", "eine", "einem", "einer", "einen", "un", "una", "une", "uma", "一", "일", "한"),
    ("two", "zwei", "dos", "deux", "due", "dois", "duas", "两", "二"),
    ("three", "drei", "tres", "trois", "tre", "três", "三"),
    ("four", "vier", "cuatro", "quatre", "quattro", "quatro", "四"),
    ("five", "fünf", "cinco", "cinq", "cinque", "五"),
    ("six", "sechs", "seis", "sei", "六"),
    ("seven", "sieben", "siete", "sept", "sette", "sete", "七"),
    ("eight", "acht", "ocho", "huit", "otto", "oito", "八"),
    ("nine", "neun", "nueve", "neuf", "nove", "九"),
    ("ten", "zehn", "diez", "dix", "dieci", "dez", "十"),
)
_AMOUNT_OF = {word: number for number, words in enumerate(_AMOUNTS, 1) for word in words}
_SPAN = re.compile(
    r"(?<![\w.,])(?:(?<=in )|(?<=by )|(?<=for )|(?<=within )|(?<=after )"
    r"|(?!an? (?:day|week|month|year)\b(?! (?:later|earlier|before|after|ago|from|longer|more|or))))"
    rf"(?P<n>\d{{1,3}}|{'|'.join(sorted(_AMOUNT_OF, key=len, reverse=True))})[ -]?"
    rf"(?:more |business |working |calendar |weitere |full )?"
    rf"(?:{'|'.join(f'(?P<{unit}>{words})' for unit, words in _UNIT_WORDS.items())})"
    rf"(?![a-zäöüß])|(?P<fortnight>\bfortnight|\bvierzehn tage)",
    re.IGNORECASE,
)
"""So many days, weeks, months or years. `$40 a day` and `once a week` are rates."""

_STAY = re.compile(
    rf"(?<![\w.,])(?:(?<=for )|(?!an? night))"
    rf"(?P<n>\d{{1,2}}|{'|'.join(sorted(_AMOUNT_OF, key=len, reverse=True))}) ?(?:more )?"
    r"(?:nights?\b|nächte?\b|noches?\b|nuits?\b|nott[ei]\b|noites?\b|ноч\w+|đêm\b|박|泊|晚)",
    re.IGNORECASE,
)
"""Nights to stay. `$132 a night` is a price."""

_ANOTHER_DAY = re.compile(
    r"\b(?:(?:following|next|previous) day|day (?:later|earlier|after(?! tomorrow)|before(?! yesterday))"
    r"|(?:tag|vortag) (?:danach|davor|später)|folgetag|lendemain|veille|día (?:siguiente|anterior|después|antes))\b"
    r"|翌日|第二天|前日|다음 날",
    re.IGNORECASE,
)
_MINUTES = re.compile(
    rf"(?<![\w.,:])(?:(?P<half>half an|halbe|halben|media|demi)"
    rf"|(?P<n>\d{{1,3}}|{'|'.join(sorted(_AMOUNT_OF, key=len, reverse=True))}))[ -]?(?:more |weitere )?"
    r"(?:min(?:ute|uto)?[ns]?\b|minuti\b|minutos\b|分(?:钟|間)?|분"
    r"|(?P<hour>hours?\b|hrs?\b|h\b|stunden?\b|std\b|heures?\b|horas?\b|or[ae]\b|小时|小時|時間|시간))",
    re.IGNORECASE,
)
_PERIODS = re.compile(
    "|".join(
        (
            r"(?P<week>\bweek(?:s|end)?\b|\bwoche(?:n|nende)?\b|\bsemana\b|\bsemaine\b|\bsettimana\b"
            r"|週(?!間)|周末|本周|上周|下周|这周|이번 주|다음 주|недел)",
            r"(?P<month>\bmonths?\b|\bmonat(?:s|e|en)?\b|\bmes\b|\bmois\b|\bmese\b|\bmês\b|今月|先月|来月|个月|本月|上月"
            r"|下月|이번 달|다음 달|지난달|месяц)",
            r"(?P<quarter>\bquarters?\b|\bQ[1-4]\b|\bquartals?\b|\btrimestre\b|季度|四半期|분기|квартал)",
            r"(?P<year>\byears?\b|\bjahre?s?\b|\baños?\b|\ban(?:née)?s?\b|\banno\b|\banos?\b|今年|去年"
            r"|明年|来年|昨年|올해|작년|내년|год)",
        )
    ),
    re.IGNORECASE,
)
_NAMED_MONTH = re.compile(
    rf"(?<![\w-])(?<!\d )(?<!\d[.º] )(?<!(?:st|nd|rd|th|er) )(?<!\d (?:of|de) )(?:{MONTH_NAMES})"
    r"(?![\w-])(?!\.? \d{1,2}(?!\d))"
    r"(?:,? (?:of |de )?(?P<y>[12]\d{3}))?",
    re.IGNORECASE,
)
_CJK_MONTH = re.compile(r"(?:(?P<y>[12]\d{3})\s?[年년]\s?)?(?P<m>1[0-2]|[1-9])\s?[月월](?!\s?\d)")
_OF_A_MONTH = rf"(?!\.?\s(?:of |de )?(?:{MONTH_NAMES})\b)"
_ORDINAL = re.compile(
    rf"(?<![\w.,])(?P<d>\d{{1,2}})(?:st|nd|rd|th|er|º|[日号號일](?!間)){_OF_A_MONTH}|\b(?:am|zum|vom|bis|den|dem|día|le|il|dia"
    rf"|of the) (?P<d2>\d{{1,2}})\b(?![.,:]\d){_OF_A_MONTH}"
    rf"|\b(?:days?|tag|lunes|martes|jueves|viernes) (?P<d3>\d{{1,2}})\b(?![.,:]\d){_OF_A_MONTH}",
    re.IGNORECASE,
)
"""Days that are called by their number. One with its month is a date."""

Distance = tuple[int, str]
"""A number and its unit: `day`, `week`, `month` or `year`."""

_MOST_SPAN = 1000
_LONGEST = 20_000

_HOURS = (
    *_AMOUNTS[:10],
    ("eleven", "elf", "once", "onze", "undici"),
    ("twelve", "zwölf", "doce", "douze", "dodici", "doze"),
)
_HOUR_OF = {word: number for number, words in enumerate(_HOURS, 1) for word in words if len(word) > 2}
_HOUR = rf"(?:\d{{1,2}}|{'|'.join(sorted(_HOUR_OF, key=len, reverse=True))})"
_TIMES = re.compile(
    "|".join(
        (
            r"\b(?P<noon>noon|midday|mittags?|mediodía|midi|mezzogiorno|meio-dia|полдень)\b|(?P<cjk_noon>正午|中午|정오)",
            r"\b(?P<midnight>midnight|mitternacht|medianoche|minuit|mezzanotte|meia-noite)\b|(?P<cjk_midnight>午夜|자정)",
            rf"\bhalf (?:past )?(?P<half>{_HOUR})\b",
            rf"\bhalb (?P<before_half>{_HOUR})\b",
            rf"\b(?:quarter past|viertel nach) (?P<quarter>{_HOUR})\b|\b(?P<y_quarter>{_HOUR}) y cuarto\b",
            rf"\b(?:quarter to|viertel vor) (?P<to_quarter>{_HOUR})\b|\b(?P<y_half>{_HOUR}) y media\b",
            rf"\b(?:at|by|until|till|til|around|about|from|to|between|and|before|after|um|bis|ab|gegen|von|vor|nach"
            rf"|a las?|las|à|às|alle|ore|в|lúc) (?P<at>{_HOUR})\b(?![.,:/-]\d)",
            rf"\b(?P<clock>{_HOUR})(?: o['’]?clock| ?uhr\b| ?heures?\b| ?h\b| in the (?:morning|afternoon|evening)"
            r"|(?: ?am| ?pm)\b)",
            rf"(?P<cjk>{_HOUR}) ?[时時시点點]",
            rf"\b(?P<eve>{_HOUR}) (?:tonight|tomorrow|today|this evening|sharp|works|is (?:better|fine|good))",
        )
    ),
    re.IGNORECASE,
)


def todays(instructions: Iterable[str]) -> list[date]:
    """The days that instructions call today, or all days that they name if they call none so."""
    named: list[date] = []
    called: list[date] = []
    for text in instructions:
        text = text[:_LONGEST]
        for value in values_in(text):
            if value.kind != "date" or value.forms[0].count("-") != 2:
                continue
            for form in value.forms[:1]:
                with suppress(ValueError):
                    day = date_of(form)
                    named.append(day)
                    line = max(text.rfind("\n", 0, value.start), text.rfind(". ", 0, value.start), value.start - 60)
                    if _TODAY.search(text, max(0, line), min(len(text), value.end + 20)) is not None:
                        called.append(day)
    return list(dict.fromkeys(called or named))


def days_meant(text: str, today: date, *, ends: bool = True) -> Iterator[date]:
    """The days that a text may speak of by words, if it was said on this day; also the ends of its periods."""
    text = text[:_LONGEST]
    for offset, pattern in _DAYS:
        if pattern.search(text) is not None:
            yield today + timedelta(days=offset)
    for weekday, pattern in enumerate(_WEEKDAYS):
        if pattern.search(text) is not None:
            first = today - timedelta(days=7) + timedelta(days=(weekday - today.weekday()) % 7)
            yield from (first + timedelta(weeks=week) for week in range(4))
    with suppress(OverflowError, ValueError):
        if ends:
            yield from _spans(text, today)
            yield from _periods(text, today)
            yield from _named_months(text, today)
        yield from _ordinals(text, today)


def stays_in(text: str) -> Iterator[int]:
    """For how many nights, or days, a text asks."""
    return (_amount(match["n"]) for match in _STAY.finditer(text[:_LONGEST]))


def spans_in(text: str) -> Iterator[Distance]:
    """The spans of days, weeks, months and years that a text has in words or figures."""
    for match in _SPAN.finditer(text[:_LONGEST]):
        if match.lastgroup == "fortnight":
            yield 2, "week"
        elif (number := _amount(match["n"])) <= _MOST_SPAN:
            yield number, match.lastgroup or ""


def counted_in(text: str) -> Iterator[Distance]:
    """The spans by which a user counts from a day that is given elsewhere; also nights, and `the following day`."""
    yield from spans_in(text)
    yield from ((nights, "day") for nights in stays_in(text))
    if _ANOTHER_DAY.search(text[:_LONGEST]) is not None:
        yield 1, "day"


def minutes_in(text: str) -> Iterator[int]:
    """The spans of minutes and hours that a text has, in minutes."""
    for match in _MINUTES.finditer(text[:_LONGEST]):
        unit = 60 if match["hour"] else 1
        yield unit // 2 if match["half"] else unit * _amount(match["n"])


def moved(day: date, number: int, unit: str) -> date:
    """The day so many days, weeks, months or years after another one.

    Raises:
        OverflowError, ValueError: there is no such day.
    """
    if unit in ("day", "week"):
        return day + timedelta(days=number * (7 if unit == "week" else 1))
    return _months_on(day, number * (12 if unit == "year" else 1))


def _amount(written: str) -> int:
    return int(written) if written.isdecimal() else _AMOUNT_OF[written.casefold()]


def weekdays_named(text: str) -> Iterator[int]:
    """The days of the week that a text names, from 0 for Monday."""
    return (weekday for weekday, pattern in enumerate(_WEEKDAYS) if pattern.search(text[:_LONGEST]) is not None)


def speaks_of_days(text: str) -> bool:
    """Whether a text speaks of days by words that only who knows what day it is understands."""
    text = text[:_LONGEST]
    return any(_SPEAKS_OF_DAYS[number].search(text) is not None for number in _NEEDED_FOR_DAYS.possible(text))


def times_meant(text: str) -> Iterator[str]:
    """The times of the day that a text may speak of by words, as hours and minutes."""
    for match in _TIMES.finditer(text[:_LONGEST]):
        name = match.lastgroup or ""
        if name.endswith("noon"):
            yield "12:00"
        elif name.endswith("midnight"):
            yield from ("0:00", "24:00", "23:59")
        else:
            word = match[name].casefold()
            hour = int(word) if word.isdecimal() else _HOUR_OF[word]
            minutes = {"half": 30, "before_half": -30, "y_half": 30, "quarter": 15, "y_quarter": 15, "to_quarter": -15}
            if hour <= 24:
                whole, minute = divmod(hour * 60 + minutes.get(name, 0), 60)
                yield from (f"{each % 24}:{minute:02}" for each in {whole, whole + 12})


def _spans(text: str, today: date) -> Iterator[date]:
    """So many days, weeks, months or years before and after today."""
    for number, unit in spans_in(text):
        for sign in (-1, 1):
            day = moved(today, sign * number, unit)
            yield from (day, day - timedelta(days=1), day + timedelta(days=1)) if unit in ("month", "year") else (day,)


def _periods(text: str, today: date) -> Iterator[date]:
    """The first and last days of the weeks, months, quarters and years around today."""
    units = {match.lastgroup for match in _PERIODS.finditer(text)}
    if "week" in units:
        monday = today - timedelta(days=today.weekday())
        yield from (monday + timedelta(days=7 * week + day) for week in (-1, 0, 1, 2) for day in (0, 4, 5, 6))
    if "month" in units:
        for month in range(-2, 3):
            yield from _ends_of(_months_on(today.replace(day=1), month), 1)
        yield from (today - timedelta(days=30), today + timedelta(days=30), _months_on(today, -1), _months_on(today, 1))
    if "quarter" in units:
        first = today.replace(month=(today.month - 1) // 3 * 3 + 1, day=1)
        for quarter in range(-4, 5):
            yield from _ends_of(_months_on(first, 3 * quarter), 3)
    if "year" in units:
        for year in range(-2, 2):
            yield from _ends_of(date(today.year + year, 1, 1), 12)
        yield from (_months_on(today, -12), _months_on(today, 12))


def _named_months(text: str, today: date) -> Iterator[date]:
    """The first and last days of months that are named."""
    named = [(match["y"], month_of(match.group().split()[0].rstrip(",."))) for match in _NAMED_MONTH.finditer(text)]
    named += [(match["y"], match["m"]) for match in _CJK_MONTH.finditer(text)]
    for year, month in named:
        if 1 <= int(month) <= 12:
            years = (int(year),) if year else (today.year - 1, today.year, today.year + 1)
            for each in years:
                yield from _ends_of(date(each, int(month), 1), 1)


def _ordinals(text: str, today: date) -> Iterator[date]:
    """The days of the months around today that are called by their number."""
    for match in _ORDINAL.finditer(text):
        day = int(match[match.lastgroup or ""])
        for month in range(-1, 3):
            first = _months_on(today.replace(day=1), month)
            if 1 <= day <= monthrange(first.year, first.month)[1]:
                yield first.replace(day=day)


def _ends_of(first: date, months: int) -> Iterator[date]:
    following = _months_on(first, months)
    yield from (first, following - timedelta(days=1), following)


def _months_on(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))

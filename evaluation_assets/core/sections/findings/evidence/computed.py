"""Figures that come to others: in another unit, as a sum, product or share of figures that are close by."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from itertools import islice

from evaluation_assets.core.sections.findings.evidence.values import Value, currency_beside

_CLOSE_BY = 60
"""Numbers that a figure may be computed from."""

_STEPS = 3
"""Figures may be computed from figures that are computed themselves, so many times."""

_UNITS = frozenset({24, 60, 100, 1000, 1024, 3600})
"""Between units of time, size and money."""

_PARTS = range(2, 10)
_TIMES = _UNITS.union(_PARTS, (12,))

_MEASURE = re.compile(
    r"\s?(?:(?P<celsius>°\s?C\b|degrees C)|(?P<fahrenheit>°\s?F\b|degrees F)|(?P<kg>kg\b|kilogram)"
    r"|(?P<lb>lbs?\b|pounds?\b)|(?P<km>km\b|kilomet)|(?P<mi>mi\b|miles?\b)|(?P<cm>cm\b)|(?P<inch>in\b|inch)"
    r"|(?P<m>m\b|met(?:er|re))|(?P<ft>ft\b|feet\b))"
)
_TO = re.compile(r"\s?(?:to|and|bis|und|y|a|à|et|-|–|—)\s?[-−]?\d+(?:[.,]\d+)?(?=\s?\D)")
"""The rest of a range before its unit: `52 to 61 °F`."""

_CONVERSIONS = {
    "celsius": (5 / 9, -160 / 9), "fahrenheit": (1.8, 32.0), "kg": (0.45359, 0.0), "lb": (2.20462, 0.0),
    "km": (1.60934, 0.0), "mi": (0.62137, 0.0), "cm": (2.54, 0.0), "inch": (0.3937, 0.0), "m": (0.3048, 0.0),
    "ft": (3.28084, 0.0),
}  # fmt: skip
"""Factor and offset from the other unit of the same measure."""

_CONVERTED = 0.005
_ROUGHLY = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|over|under|circa|ca\.?|etwa|rund|ungefähr|knapp"
    r"|environ|près de|unos|unas|aproximadamente|casi|cerca de|quase|quasi|около|примерно)|[~≈]|約|约|大约|大約|약)"
    r"\s?[$€£]?\s?$",
    re.IGNORECASE,
)
_ROUGH = 0.05
_DIGITS_OF_ROUGH = 3
_BEFORE = 20
_CENT = 0.011
_TINY = 1e-9
_PERCENT = re.compile(r"\s?[%％]|\s?per\s?cent\b|\s?Prozent\b")
_FEWEST_DIGITS = 2
_MANY_DIGITS = 4
_SUM = re.compile(r"\d[\s\\$€£]*[+=]")
_PRODUCT = re.compile(r"[×*/÷·^²]|\bx\b|\\(?:times|cdot|d?frac|div)\b|times\b")
_MOST_FACTORS = _MOST_ITEMS = 12
_LABELS = 8
"""Labels of lines, `Price:`, whose figures are added up."""

_CLOSE_ENOUGH = 0.006
"""Relative difference of a product that was written with few digits."""


def not_computed(
    text: str, values: Sequence[Value], unsupported: Sequence[Value], others: Sequence[float]
) -> Sequence[Value]:
    """The values that are no results of figures close by. What is not supported supports nothing."""
    in_lines = (
        _sums_of_lines(text, values)
        | _products_of_lines(text, values)
        | _sums_of_items(text, values)
        | _sums_of_amounts(text, values)
    )
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
                or _is_about(value, text, close_by)
                or _is_share(value, text, values, wrong)
                or _is_quotient(value, text, values, wrong)
                or _is_with_rate(value, text, values, close_by)
                or _is_of_several(value, text, values, close_by)
            ):
                computed.setdefault(value.forms, value.start)
        unsupported = [value for value in unsupported if value.start < computed.get(value.forms, len(text))]
        if not computed:
            break
    return unsupported


def _is_computed(value: Value, close_by: Sequence[float], ordered: Sequence[float]) -> bool:
    own = {float(form) for form in value.forms}
    others = [number for number in close_by if number not in own]
    return any(_is_result(figure, others) or is_one_rounded(figure, ordered) for figure in own)


def _is_result(figure: float, numbers: Sequence[float]) -> bool:
    """Whether a figure is one of the numbers in another unit, its multiple or square, or a sum or difference."""
    others = set(numbers)
    for number in others:
        times = round(figure / number) if number > 1 else 0
        if (times in _TIMES or times == number) and abs(number * times - figure) < _CENT:
            return True
        if figure > 0 and number / figure in _UNITS:
            return True
        if figure > 0 and figure % 1 and any(abs(number / parts - figure) < _CENT / 2 for parts in _PARTS):
            return True
        if number > 1 and (round(figure - number, 2) in others or round(figure + number, 2) in others):
            return True
    return False


def is_one_rounded(figure: float, ordered: Sequence[float]) -> bool:
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
    to = _TO.match(text, value.end)
    match = _MEASURE.match(text, value.end if to is None else to.end())
    if match is None or match.lastgroup is None:
        return False
    factor, offset = _CONVERSIONS[match.lastgroup]
    figure = float(value.forms[0])
    return any(abs(number * factor + offset - figure) <= max(0.5, figure * _CONVERTED) for number in numbers)


def _is_about(value: Value, text: str, numbers: Sequence[float]) -> bool:
    """Whether a figure that is called rough is close to one of the numbers."""
    if _ROUGHLY.search(text, max(0, value.start - _BEFORE), value.start) is None:
        return False
    figure = float(value.forms[0])
    if len(Decimal(value.forms[0]).normalize().as_tuple().digits) > _DIGITS_OF_ROUGH:
        return False
    return any(abs(number - figure) <= _ROUGH * abs(figure) for number in numbers)


def _start(value: Value) -> int:
    return value.start


def _is_share(value: Value, text: str, values: Sequence[Value], wrong: Collection[tuple[str, ...]]) -> bool:
    """Whether a percentage is the share, or the change, of two figures in its line: `45 of 180 (25%)`."""
    if _PERCENT.match(text, value.end) is None:
        return False
    first, last = (bisect_left(values, at, key=_start) for at in _line_of(text, value))
    line = (
        other
        for other in (values[at] for at in range(first, last))
        if other.kind == "number" and other.forms not in wrong
    )
    figures = [float(other.forms[0]) for other in islice(line, _MOST_FACTORS)]
    share, least = float(value.forms[0]), _half_of_last_digit(value)
    ratios = (100 * one / other for one in figures for other in figures if other > 0)
    return any(abs(each - share) <= least or abs(abs(each - 100) - share) <= least for each in ratios)


def is_percentage_of(shares: Iterable[float], value: Value, text: str) -> bool:
    """Whether a percentage is one of these, rounded."""
    if _PERCENT.match(text, value.end) is None:
        return False
    figure, least = float(value.forms[0]), _half_of_last_digit(value)
    return any(abs(share - figure) <= least for share in shares)


def _half_of_last_digit(value: Value) -> float:
    exponent = Decimal(value.forms[0]).as_tuple().exponent
    return 10.0**exponent / 2 + _TINY if isinstance(exponent, int) else 0.0


def _is_quotient(value: Value, text: str, values: Sequence[Value], wrong: Collection[tuple[str, ...]]) -> bool:
    """Whether a figure of many digits is the quotient of two in its line: a mean beside a total and a number."""
    if len(Decimal(value.forms[0]).as_tuple().digits) < _MANY_DIGITS:
        return False
    figure, least = float(value.forms[0]), _half_of_last_digit(value) + _CENT / 2
    figures = [float(other.forms[0]) for other in _beside(text, value, values) if other.forms not in wrong][
        :_MOST_FACTORS
    ]
    return any(abs(one / other - figure) <= least for one in figures for other in figures if other > 1)


def _is_with_rate(value: Value, text: str, values: Sequence[Value], close_by: Sequence[float]) -> bool:
    """Whether a figure is another one with a rate of its line added or taken off: a price with its tax."""
    rates = {
        float(other.forms[0]) / 100
        for other in _beside(text, value, values)
        if _PERCENT.match(text, other.end) is not None
    }
    figure = float(value.forms[0])
    others = [number for number in close_by if number >= 1]
    return any(
        abs(number * (1 + sign * rate) - figure) <= _CENT / 2 for rate in rates for number in others for sign in (1, -1)
    ) or any(abs(number * rate - figure) <= _CENT / 2 for rate in rates for number in others)


def _is_of_several(value: Value, text: str, values: Sequence[Value], close_by: Sequence[float]) -> bool:
    """Whether a figure is an amount of money that is a whole number of its line times a price, or that number.

    To the cent, as in `36 shares for $2,929.32` at a price of 81.37 each, or rounded, as in `$12.9 billion`.
    """
    figure, is_money = max(map(float, value.forms)), currency_beside(text, value) is not None
    others = [
        max(map(float, other.forms))
        for other in _beside(text, value, values)
        if is_money is (currency_beside(text, other) is None)
    ]
    pairs = [(count, figure) if is_money else (figure, count) for count in others]
    prices = [price for price in close_by if price % 1]
    return any(
        abs(count * price - amount) < _CENT / 2 or (len(value.forms) > 1 and is_one_rounded(amount, [count * price]))
        for count, amount in pairs
        if count > 1 and not count % 1
        for price in prices
    )


def _beside(text: str, value: Value, values: Sequence[Value]) -> list[Value]:
    """The numbers around one in its line."""
    at = bisect_left(values, value.start, key=_start)
    start, end = _line_of(text, value)
    near = values[max(0, at - _MOST_FACTORS) : at + _MOST_FACTORS]
    return [other for other in near if other.kind == "number" and start <= other.start < end]


def _line_of(text: str, value: Value) -> tuple[int, int]:
    """Where the line of a value begins and ends."""
    end = text.find("\n", value.end)
    return text.rfind("\n", 0, value.start) + 1, len(text) if end < 0 else end


def _sums_of_amounts(text: str, values: Sequence[Value]) -> set[int]:
    """Where amounts of money begin that are the sum of all others of the same currency in their line."""
    sums: set[int] = set()
    by_line: dict[tuple[int, str], list[Value]] = {}
    for value in values:
        if value.kind == "number" and (mark := currency_beside(text, value)) is not None:
            by_line.setdefault((text.rfind("\n", 0, value.start), mark), []).append(value)
    for amounts in by_line.values():
        cents = [round(float(value.forms[0]) * 100) for value in amounts]
        if 2 < len(amounts) <= _MOST_ITEMS:
            sums.update(
                value.start for value, own in zip(amounts, cents, strict=True) if abs(2 * own - sum(cents)) <= 1
            )
    return sums


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

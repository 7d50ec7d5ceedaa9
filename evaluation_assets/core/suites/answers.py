"""Compare a final answer with the reference: exactly, normalised, then as a number in a sentence.

The outcome says which one succeeded.
"""

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from typing import Literal

from evaluation_assets.core.suites.suite import ReferenceAnswer
from evaluation_assets.core.text.unspaced import UNSPACED

AnswerOutcome = Literal[
    "exact", "normalised", "number_in_text", "within_tolerance", "different", "not_found", "missing"
]
"""`number_in_text`: the reference is a number, and the only one that the answer states. `not_found`: the agent said
NOT_FOUND where there is an answer. `missing`: it gave no answer."""

RIGHT: frozenset[AnswerOutcome] = frozenset({"exact", "normalised", "number_in_text", "within_tolerance"})

NOT_FOUND = "NOT_FOUND"
"""What agents answer who cannot solve a task. It is right only where it is the reference."""

LONGEST_ALIKE = 80
"""Characters of an answer that runs may be expected to give in the same words; longer ones differ from run to run."""

_BOXED = "\\boxed{"
_UNITS_OF_DATES = "年月日号號时時点點分秒년월일시"
_CURRENCIES = {
    "$": "usd", "€": "eur", "£": "gbp", "₹": "inr", "₩": "krw", "₽": "rub", "฿": "thb", "₫": "vnd", "₪": "ils",
    "₺": "try",
}  # fmt: skip
_DECIMAL_COMMA = re.compile(r"[+-]?(?:\d{1,3}(?:[. '’\u00a0\u202f]\d{3})+|\d+),(?:\d{1,2}|(?<=\.\d{3},)\d+)")
"""A number with a comma before its decimals, as most of Europe writes it; `1,250` stays a thousand."""

_MARKS = "*_`~"
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=[^\W\d_]{1,4}\b)")
_CURRENCY_SIGN = re.compile(r"\\?[$€£¥₹₩₽฿₫₪₺]|\b(?:usd|eur|gbp|jpy|cny|chf|vnd)\b")
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:[, '’_]\d{3})+|\d+)?(?:\.\d+)?(?:e[+-]?\d{1,4})?")
_STATED = re.compile(
    rf"(?<![^\W{UNSPACED}])(?<![.,:/+-])(?<!\w\()(?P<sign>minus |[+-])?(?:\\?[$€£¥₹] ?)?"
    r"(?P<number>(?:\d{1,3}(?:[.'’]\d{3})+|\d+),\d{1,2}(?!\d)|(?:\d{1,3}(?:[,'’_]\d{3})+|\d+)(?:\.\d+)?(?:e[+-]?\d{1,4})?|\.\d+)"
    rf"(?![^\W{UNSPACED}]|[{_UNITS_OF_DATES}]|[.,:/-]\d)(?P<percent> ?\\?%| percent\b)?"
    r"(?: (?P<scale>thousand|million|billion|trillion)\b)?",
    re.IGNORECASE,
)
"""A number in a sentence. Digits within names, dates, times, versions and ranges are none."""

_ANNOUNCED = re.compile(r"(?:\banswer(?: is|:)|#{4})[\s*_`:~≈=(]*", re.IGNORECASE)
"""What stands directly before the number that is the answer."""

_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}

_DENIED = re.compile(
    r"\b(?:not|never|nor|neither|cannot|unable|wrong|incorrect|unsure|unclear)\b|n['’]t\b", re.IGNORECASE
)
"""With these words a text that does not announce its answer may state a number that is none."""

_LONGEST_NUMBER = 200
_LONGEST_SEARCHED = 100_000
_SEPARATOR = re.compile(r"[, '’_]")


def compare_answer(reference: ReferenceAnswer, answer: str | None) -> AnswerOutcome:
    """How an answer agrees with the reference."""
    if answer is None or not answer.strip():
        return "missing"
    if answer.strip() == reference.value.strip():
        return "exact"
    is_loose = reference.compare == "normalised"
    if is_not_found(answer):
        is_right = is_not_found(reference.value)
        return "not_found" if not is_right else "normalised" if is_loose else "different"
    expected, actual = normalised(reference.value), normalised(answer)
    if is_loose and _in_other_currencies(reference.value, answer):
        return "different"
    if is_loose and expected == actual:
        return "normalised"
    is_percentage = expected.endswith("%")
    number, answered = _number(expected.removesuffix("%").strip()), None if is_percentage else _number(actual)
    if answered is None and is_loose:
        answered = _number_in(boxed(answer), is_percentage=is_percentage)
    if number is None or answered is None:
        return "different"
    if is_loose and number == answered:
        return "number_in_text"
    if reference.tolerance is not None and abs(number - answered) <= Decimal(str(reference.tolerance)):
        return "within_tolerance"
    return "different"


def is_not_found(answer: str) -> bool:
    """Whether an answer says that the task cannot be solved."""
    return boxed(answer).strip().strip("'\"`.").upper() == NOT_FOUND


def _in_other_currencies(reference: str, answer: str) -> bool:
    """Whether both name currencies, and none in common. A sign such as `¥` may be that of several."""
    expected, actual = (
        {_CURRENCIES.get(sign.strip("\\"), sign) for sign in _CURRENCY_SIGN.findall(text.casefold())}
        for text in (reference, answer[:_LONGEST_SEARCHED])
    )
    return bool(expected and actual) and expected.isdisjoint(actual) and "¥" not in expected | actual


def normalised(text: str) -> str:
    r"""The text without what does not change an answer.

    The content of the last `\boxed{}`; composed characters, no case, single white space and none before a unit, no full
    stop at the end, no bold or italic marks. A number is written plainly: without currency sign, thousands separators,
    leading plus and trailing zeros.
    """
    text = unicodedata.normalize("NFC", boxed(text)).casefold()
    text = " ".join(text.split()).strip(_MARKS).removesuffix(".").strip(_MARKS).strip()
    without_sign = " ".join(_CURRENCY_SIGN.sub(" ", text).split())
    # "-$5": the sign stands before the currency.
    if without_sign[:2] in ("- ", "+ "):
        without_sign = without_sign[0] + without_sign[2:]
    number = _number(without_sign)
    if number is None:
        return _BEFORE_UNIT.sub("", text)
    plain = format(number.normalize(), "f") if abs(number.adjusted()) <= 30 else str(number.normalize())
    return "0" if number == 0 else plain


def boxed(text: str) -> str:
    r"""What the last `\boxed{...}` holds, braces counted; the text itself where there is none."""
    start = text.rfind(_BOXED)
    if start < 0:
        return text
    depth = 1
    for position in range(start + len(_BOXED), len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return text[start + len(_BOXED) : position]
    return text


def _number_in(text: str, *, is_percentage: bool) -> Decimal | None:
    """The number that a text states: the one it announces as its answer, else the only one.

    Of percentages and other numbers, only those of the same kind count: "20% of the 100 parcels" states 20%.
    """
    if len(text) > _LONGEST_SEARCHED:
        return None
    announced = (_STATED.match(text, found.end()) for found in _ANNOUNCED.finditer(text))
    unannounced = [] if _DENIED.search(text) else list(_STATED.finditer(text))
    for stated in ([match for match in announced if match is not None][-1:], unannounced):
        numbers = {_stated(match) for match in stated if bool(match["percent"]) == is_percentage}
        if numbers:
            return numbers.pop() if len(numbers) == 1 else None
    return None


def _stated(match: re.Match[str]) -> Decimal | None:
    number = _number(match["number"])
    if number is not None and match["scale"] is not None:
        number = number.scaleb(_SCALES[match["scale"].lower()])
    return -number if number is not None and (match["sign"] or "").lower() in ("-", "minus ") else number


def _number(text: str) -> Decimal | None:
    if _DECIMAL_COMMA.fullmatch(text[:_LONGEST_NUMBER]) is not None:
        whole, _, part = text.rpartition(",")
        text = re.sub(r"[^\d+-]", "", whole) + "." + part
    if not text or len(text) > _LONGEST_NUMBER or _NUMBER.fullmatch(text) is None or not any(map(str.isdigit, text)):
        return None
    try:
        return Decimal(_SEPARATOR.sub("", text))
    except InvalidOperation:
        return None

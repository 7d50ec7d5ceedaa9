"""Compare a final answer with the reference: exactly first, then normalised. The outcome says which one succeeded."""

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from typing import Literal

from evaluation_assets.core.suites.suite import ReferenceAnswer

AnswerOutcome = Literal["exact", "normalised", "within_tolerance", "different", "not_found", "missing"]
"""`not_found`: the agent said NOT_FOUND where there is an answer. `missing`: it gave no answer."""

RIGHT: frozenset[AnswerOutcome] = frozenset({"exact", "normalised", "within_tolerance"})

NOT_FOUND = "NOT_FOUND"
"""What agents answer who cannot solve a task. It is right only where it is the reference."""

_BOXED = "\\boxed{"
_CURRENCY_SIGN = re.compile(r"\\?[$€£¥₹₩₽฿₫₪₺]|\b(?:usd|eur|gbp|jpy|cny|chf|vnd)\b")
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:[, '’_]\d{3})+|\d+)?(?:\.\d+)?(?:e[+-]?\d{1,4})?")
_SEPARATOR = re.compile(r"[, '’_]")


def compare_answer(reference: ReferenceAnswer, answer: str | None) -> AnswerOutcome:
    """How an answer agrees with the reference."""
    if answer is None or not answer.strip():
        return "missing"
    if answer.strip() == reference.value.strip():
        return "exact"
    if boxed(answer).strip().strip("'\"`.").upper() == NOT_FOUND:
        return "not_found"
    expected, actual = normalised(reference.value), normalised(answer)
    if reference.compare == "normalised" and expected == actual:
        return "normalised"
    if reference.tolerance is not None:
        a, b = _number(expected), _number(actual)
        if a is not None and b is not None and abs(a - b) <= Decimal(str(reference.tolerance)):
            return "within_tolerance"
    return "different"


def normalised(text: str) -> str:
    r"""The text without what does not change an answer.

    The content of the last `\boxed{}`; composed characters, no case, single white space, no full stop at the end. A
    number is written plainly: without currency sign, thousands separators, leading plus and trailing zeros.
    """
    text = unicodedata.normalize("NFC", boxed(text)).casefold()
    text = " ".join(text.split()).removesuffix(".").strip()
    without_sign = " ".join(_CURRENCY_SIGN.sub(" ", text).split())
    # "-$5": the sign stands before the currency.
    if without_sign[:2] in ("- ", "+ "):
        without_sign = without_sign[0] + without_sign[2:]
    number = _number(without_sign)
    if number is None:
        return text
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


def _number(text: str) -> Decimal | None:
    if not text or len(text) > 200 or _NUMBER.fullmatch(text) is None or not any(map(str.isdigit, text)):
        return None
    try:
        return Decimal(_SEPARATOR.sub("", text))
    except InvalidOperation:
        return None

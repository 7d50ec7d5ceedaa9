"""Compare a final answer with the reference: exactly, normalised, then as a number in a sentence.

The outcome says which one succeeded. Test cases are compared so. A recorded run may answer in any words: `agreement`
says what can be told of its answer, and where nothing can be told.
"""

import re
import unicodedata
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Literal, get_args

from evaluation_assets.core.suites.courtesies import without_courtesies
from evaluation_assets.core.suites.suite import ReferenceAnswer
from evaluation_assets.core.text.excerpts import in_short
from evaluation_assets.core.text.unspaced import UNSPACED
from evaluation_assets.core.traces.trajectories.words import are_comparable, words

AnswerOutcome = Literal[
    "exact", "normalised", "number_in_text", "within_tolerance", "different", "not_found", "missing"
]
"""`number_in_text`: the reference is a number, and the only one that the answer states. `not_found`: the agent said
NOT_FOUND where there is an answer. `missing`: it gave no answer."""

RIGHT: frozenset[AnswerOutcome] = frozenset({"exact", "normalised", "number_in_text", "within_tolerance"})

Agreement = Literal["equals", "states", "unclear", "differs"]
"""What an answer in any words is to the reference, best first: the same, a statement of it, or something else. What is
`unclear` may be right or wrong: it denies the reference, names others beside it, or is worded otherwise."""

AGREES: frozenset[Agreement] = frozenset({"equals", "states"})

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

_ANNOUNCED = re.compile(
    r"(?:\b(?:answer(?: is|:)|antwort(?: ist| lautet|:)|réponse(?: est| ?:)|respuesta(?: es|:)|risposta(?: è|:)"
    r"|resposta(?: é|:)|ответ:)|答案是|答えは|#{4})[\s*_`:~≈=(]*",
    re.IGNORECASE,
)
"""What stands directly before the number or the name that is the answer."""

_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}

_DENIED = re.compile(
    r"\b(?:not|never|nor|neither|none|cannot|unable|wrong|incorrect|unsure|unclear|nicht|keine?[mnrs]?|weder|pas|jamais"
    r"|nunca|tampoco|no (?:es|era|fue|son)|não|nem|non(?!-)|niet|geen|inte|ikke|не|ни|нет)\b|n['’]t\b",
    re.IGNORECASE,
)
"""With these words a text that does not announce its answer may state a number, and a sentence a name, that is none."""

_SHORT_REFERENCE = 8
"""Words up to which an answer quotes its reference; a longer one may be put in other words."""

_POLAR = {"yes": "no", "no": "yes", "true": "false", "false": "true"}
_IS_POLAR = re.compile(
    r"\W*(?P<said>yes|no|true|false)(?=\s*(?:[,.;:!*–—]|- |\Z|\n)| (?:it|they|he|she|we|i|you|both|there|this|that)\b)",
    re.IGNORECASE,
)
"""A yes or no at the start; "no one" and "yes or no" are none."""

_EMPHASISED = re.compile(r"\*\*(?!TERMINATE)[^*\n]+\*\*|(?<!\w)[\"“«'](?!TERMINATE)[^\"”»'\n]{2,80}[\"”»'](?!\w)")
_TERM_SIGNS = re.compile(r"[^\w\s+#%.,:/-]|[.,:/-](?!\d)|(?<!\w)_|_(?!\w)")
"""Signs that do not change a name; those before digits may change a number."""

_UNIT = re.compile(r"(?<=\d)(?=[^\W\d_])")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SENTENCE_END = re.compile(r"[!?](?=\s|\Z)|(?<!\b[A-Za-z])(?<!\b(?:Mr|Ms|Dr|St))(?<!\bMrs)\.(?=\s|\Z)|[。！？]|\n")
_FENCE = "```"
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LIST_LINE = re.compile(r"[ \t]*(?:[-*•+]|\d+[.)])\s")
_OTHERS = r"(?:or|and|nor|und|oder|et|ou|y|och|eller|og|и|или)"
_AFTER_OTHERS = re.compile(
    rf"\b(?:{_OTHERS}|both|either|than|before|after|unlike|versus|vs\.?|instead of|besides|except)"
    r"(?: (?:the|an?|in|by|of))?\W*\Z|[;/|]\s*\Z"
    r"|\b(?:candidates?|options?|possibilit(?:y|ies)|choices?|such as|for example|e\.g\.)",
    re.IGNORECASE,
)
_BEFORE_OTHERS = re.compile(
    rf"\W{{0,3}}(?:[;/|]|{_OTHERS}\b|,[^,.;()]{{1,40}}(?:,[^,.;()]{{1,40}}){{0,8}}?,? ?\b{_OTHERS}\b)", re.IGNORECASE
)
"""What stands around one of several names in a sentence; the second follows it."""

_LONGEST_NUMBER = 200
_LONGEST_GIVEN = 160
_FEW = 3
"""Sentences that are shown as the answer where none can be told from the others."""

_ENDS = ".!。！"
_LONGEST_MARK = 3
"""Of an item of a list: `12.`"""

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


def agreement(reference: str, answer: str) -> Agreement:
    """What can be told of an answer in any words, with or without courtesies around it.

    Each short line of a reference is a right answer. A number has to be the one that the answer announces, or the only
    one it states; yes or no has to come first; a name has to stand where answers are given, at the start, at the end
    or announced, and neither denied nor as one of several.
    """
    lines = [line for line in reference.splitlines() if line.strip()]
    are_short = all(len(line.split()) <= _SHORT_REFERENCE for line in lines)
    accepted = dict.fromkeys([reference, *(lines if are_short else ())])
    found: list[Agreement] = [_agreement(each, answer) for each in accepted]
    return min(found, key=get_args(Agreement).index)


def _agreement(reference: str, answer: str) -> Agreement:
    said = boxed(without_courtesies(answer) or answer)[:_LONGEST_SEARCHED]
    if reference.strip() in (said.strip(), answer.strip()) or (is_not_found(said) and is_not_found(reference)):
        return "equals"
    if is_not_found(said) or is_not_found(reference) or _in_other_currencies(reference, said):
        return "differs"
    wanted = _term(reference)
    if wanted and wanted in (_term(said), _term(answer)):
        return "equals"
    if wanted in _POLAR:
        return _agreement_with_polar(wanted, said)
    expected = normalised(reference)
    number = _number(expected.removesuffix("%").strip())
    if number is not None:
        return _agreement_with_number(number, said, is_percentage=expected.endswith("%"))
    if len(wanted.split()) <= _SHORT_REFERENCE and _has_nothing_of(reference, said):
        return "differs"
    return "states" if wanted and _is_stated(wanted, said) else "unclear"


def given_in(answer: str, reference: str) -> str | None:
    """What an answer gives in place of the reference, in short; `None` if nothing in it can be told to be that.

    It is what the answer boxes, or announces last. Of other long ones it is the last sentence with a number, where the
    reference is one, or with an emphasised or quoted name, unless code, an item of a list or a heading has that; or
    how they begin and end, if they are a few sentences.
    """
    text = boxed(answer)[:_LONGEST_SEARCHED].strip()
    announced = [found.end() for found in _ANNOUNCED.finditer(text)]
    if announced:
        return in_short(_sentences(text[announced[-1] :])[0].strip(), _LONGEST_GIVEN)
    if len(text) <= _LONGEST_GIVEN and _FENCE not in text:
        return in_short(text, _LONGEST_GIVEN)
    is_number = _number(normalised(reference).removesuffix("%").strip()) is not None
    pattern = _STATED if is_number else _EMPHASISED
    lines = [line.strip() for line in _CODE.sub("\n", text).splitlines() if line.strip()]
    for line in reversed(lines):
        found = (each.strip() for each in reversed(_sentences(line)) if pattern.search(each))
        sentence = next((each for each in found if len(each) > _LONGEST_MARK), None)
        if sentence is not None:
            return None if _is_part(line) else in_short(sentence, _LONGEST_GIVEN)
    is_short = _FENCE not in text and len(_sentences(text)) <= _FEW and not any(map(_is_part, lines))
    return in_short(text, _LONGEST_GIVEN) if is_short else None


def _is_part(line: str) -> bool:
    """Whether a line is a question, an item of a list, or a heading: of markdown, or emphasised without an end."""
    plain = line.strip(_MARKS)
    is_emphasised = plain != line and _EMPHASISED.fullmatch(line) is not None and " " in plain
    is_heading = line.startswith("#") or plain.endswith((":", "：")) or (is_emphasised and plain[-1:] not in _ENDS)
    return is_heading or line.endswith(("?", "？")) or _LIST_LINE.match(line) is not None


def _term(text: str) -> str:
    """A name as it is compared: without case, signs within it, currency signs, and separators of thousands."""
    plain = normalised(_THOUSANDS.sub("", text))
    return " ".join(_TERM_SIGNS.sub(" ", _CURRENCY_SIGN.sub(" ", plain)).split()).removesuffix("%")


def _agreement_with_polar(wanted: str, said: str) -> Agreement:
    announced = [said[found.end() :] for found in _ANNOUNCED.finditer(said)][-1:]
    match = _IS_POLAR.match((announced or [said])[0])
    given = None if match is None else match["said"].casefold()
    return "states" if given == wanted else "differs" if given == _POLAR[wanted] else "unclear"


def _agreement_with_number(number: Decimal, said: str, *, is_percentage: bool) -> Agreement:
    """Numbers agree by their values. Only an answer that states others and not this one differs."""
    if _number_in(said, is_percentage=is_percentage) == number:
        return "states"
    announced = _announced_number(said)
    stated = {_stated(match) for match in ([announced] if announced is not None else _STATED.finditer(said))}
    return "unclear" if not stated or number in stated else "differs"


def _has_nothing_of(reference: str, said: str) -> bool:
    """Whether two texts in one script have no word or number in common."""
    wanted, given = words(reference), words(said)
    return bool(wanted and given) and wanted.isdisjoint(given) and are_comparable(wanted, given)


def _is_stated(wanted: str, said: str) -> bool:
    """Whether the first or the last sentence states a name, or the one that announces the answer if any does."""
    said = _THOUSANDS.sub("", said)
    spaced = _UNIT.sub(" ?", r"[^\w+#%]+".join(map(re.escape, wanted.split())))
    name = re.compile(rf"(?<![^\W_]){spaced}(?![^\W_]|[+#])", re.IGNORECASE)
    announced = [found.end() for found in _ANNOUNCED.finditer(said)]
    if announced:
        return _states(name, _sentences(said[announced[-1] :])[0])
    sentences = _sentences(said)
    listed = [sentence for sentence in sentences if _LIST_LINE.match(sentence)]
    return any(
        _states(name, sentence)
        for sentence in (sentences[0], sentences[-1])
        if len(listed) < 2 or sentence not in listed
    )


def _sentences(text: str) -> list[str]:
    """The sentences and lines of a text, which may be empty, with the sign at their end."""
    ends = [0, *(found.end() for found in _SENTENCE_END.finditer(text)), len(text)]
    return [each for start, end in pairwise(ends) if (each := text[start:end]).strip()] or [text]


def _states(name: re.Pattern[str], sentence: str) -> bool:
    """Whether a sentence has a name, does not deny it, and names no other beside it."""
    return not sentence.rstrip().endswith("?") and any(
        _DENIED.search(f"{sentence[: found.start()]} {sentence[found.end() :]}") is None
        and _AFTER_OTHERS.search(sentence[: found.start()]) is None
        and _BEFORE_OTHERS.match(sentence, found.end()) is None
        for found in name.finditer(sentence)
    )


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
    announced = _announced_number(text)
    unannounced = [] if _DENIED.search(text) else list(_STATED.finditer(text))
    for stated in ([] if announced is None else [announced], unannounced):
        numbers = {_stated(match) for match in stated if bool(match["percent"]) == is_percentage}
        if numbers:
            return numbers.pop() if len(numbers) == 1 else None
    return None


def _announced_number(text: str) -> re.Match[str] | None:
    """The last number that stands where an answer is announced."""
    announced = (_STATED.match(text, found.end()) for found in _ANNOUNCED.finditer(text))
    return next((match for match in reversed(list(announced)) if match is not None), None)


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

"""[echoes] Values in arguments that the result of the call has otherwise, as it was given before.

The result repeats a field of the call with another value, has a code or number that the call misspells, or is not what
an expression comes to; errors too quote what was meant. What a result has in the place of the value must have been
given before the call: an update may change a record, and tools may name their own things as they like.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import orjson

from evaluation_assets.core.sections.findings.detector import Detected, Detector, in_step
from evaluation_assets.core.sections.findings.evidence.course import Asked, Course, Message, PlacedStep, bounded
from evaluation_assets.core.sections.findings.evidence.echoed import (
    Field,
    are_equal,
    disputed,
    is_batch_of_more,
    nested,
    plain_letters,
)
from evaluation_assets.core.sections.findings.evidence.effects import may_do_anything, updates
from evaluation_assets.core.sections.findings.evidence.given import Given, Texts
from evaluation_assets.core.sections.findings.evidence.results import document_of
from evaluation_assets.core.sections.findings.evidence.values import Value, misreadings, values_in
from evaluation_assets.core.suites.effects import changes_state
from evaluation_assets.core.text.exact_json import is_number
from evaluation_assets.core.text.python_source import parsed_expression
from evaluation_assets.core.traces.trajectories.model import JsonObject, Span

_CODE = re.compile(r"(?=[^\W_]*[A-Z\d])[A-Z\d][\w./-]{1,39}")
"""Codes, dates and numbers: words in lower case are options, which tools name in their own way."""

_ID = re.compile(r"(?=\D*\d)[\w.#/-]{4,40}")
_WORD = re.compile(r"\w[\w./-]*\w")
_DIGIT, _NO_DIGITS = re.compile(r"\d"), re.compile(r"\D")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?")
_SEPARATORS = re.compile(r"[-_.,]")
_FEWEST_DIGITS = 4
"""Shorter numbers in a text differ from others by chance, and so do shorter codes."""

_LONGEST_MISREAD = 40
_MOST_VALUES = 200
_READ = 20_000
"""Characters of arguments and results that are read."""

_MOST_RECORDS = 50
_LEAST_FIGURE = 10
_EARLIER = 50
"""Calls before an update whose results may have the record as it was."""

_MOST_IDS = 20
_LONGEST_RECORD = 200_000
_EXPRESSION = re.compile(r"(?=.*\d\s*[-+*/])[\d.\s()+*/-]{3,200}")
_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_ROUNDED = 0.01
"""Relative difference of a result that was rounded."""


def _detect(course: Course) -> Iterator[Detected]:
    words: set[str] = set()

    def add(text: str) -> None:
        words.update(word.casefold() for word in _WORD.findall(text[:_READ]))

    add(course.trajectory.task)
    for number, event in enumerate(course.events):
        match event:
            case Asked(message=message, knowledge=knowledge):
                add(message)
                add(knowledge)
            case Message(text=text):
                add(text)
            case PlacedStep():
                add(event.trajectory.piece(event.step.thought))
                if event.step.call is not None:
                    if event.step.result is not None and (not course.edits_files or changes_state(event.call.name)):
                        given = course.texts.given_to(number, also=("argument", "thought"))
                        yield from _of_call(
                            event, course.calls[max(0, event.clip - _EARLIER) : event.clip], given, words
                        )
                    add(event.arguments_text)
                add(event.result)


def _of_call(made: PlacedStep, earlier: Sequence[PlacedStep], given: Given, words: set[str]) -> Iterator[Detected]:
    arguments = (made.trajectory.arguments(made.call) or {}) if made.step.has_succeeded else {}
    result = made.result[:_READ]
    text = made.arguments_text[:_READ]
    spans = {
        *(_span_of(text, name, value) for name, value in _disputed(made, arguments, earlier, words)),
        *(
            _span_of(text, "", value)
            for value, other in _repeated_otherwise(arguments, result)
            if other.casefold() in words
        ),
        *(_span_of(text, "", value) for value in _miscalculated(arguments, result)),
        *_misspelled(text, result, given),
    }
    for start, end in sorted(spans)[:1]:
        span = made.call.raw[0] + start, made.call.raw[0] + end
        severity = None if changes_state(made.call.name) and not may_do_anything(made.call) else "LOW"
        yield in_step("contradicted_argument", made, span, severity)


def _repeated_otherwise(arguments: JsonObject, result: str) -> Iterator[tuple[str, str]]:
    """Codes, dates and numbers of the arguments with another one of their form that the result has in their field."""
    documents = _records_of(result)
    for name, value in islice(arguments.items(), _MOST_VALUES):
        if _is_code(value):
            others = _fields(documents, name) if documents else _said_of(name, str(value), result)
            yield from _other(str(value), others)
        elif isinstance(value, list) and len(documents) == 1:
            yield from _in_parts(value, documents[0].get(name))


def _span_of(text: str, name: str, value: str) -> Span:
    """Where arguments have a value, after the name of its field if they have it there; else all of them."""
    field = re.search(rf"{re.escape(name)}\W{{1,5}}({re.escape(value)})(?!\w)", text) if name and value else None
    if field is not None:
        return field.span(1)
    start = text.find(value) if value else -1
    return bounded((0, len(text))) if start < 0 else (start, start + len(value))


def _disputed(
    made: PlacedStep, arguments: JsonObject, earlier: Sequence[PlacedStep], words: set[str]
) -> Iterator[tuple[str, str]]:
    """Fields and their values that the record of the call has otherwise; of lookups only where what it has was given.

    An update may leave a record as it was: what the record had before is no other value.
    """
    is_read = bool(arguments) and not may_do_anything(made.call) and len(made.result) <= _LONGEST_RECORD
    document = document_of(made.result) if is_read else None
    if document is None:
        return
    changes = changes_state(made.call.name)
    records = earlier if updates(made.call) else ()

    def is_excused(field: Field) -> bool:
        if isinstance(field.own, list):
            return not changes
        is_known = changes or (isinstance(field.other, str) and field.other.casefold() in words)
        return not is_known or _was_before(field.name, field.other, records)

    for field in disputed(arguments, document, is_excused) if isinstance(document, dict) else ():
        yield field.name, _written(field.own)
    ids = list(islice(_ids_of(arguments), _MOST_IDS))
    for name, own in ids:
        shown = nested(document, name)
        others = set(shown) - {value for named, value in ids if named == name and value != own}
        if any(_is_same(own, other) for other in others) or not (changes or len(others) == 1 < len(shown)):
            continue
        alike = (other for other in others if _are_alike(own, other) or (changes and _is_id(own) and _is_id(other)))
        if any(other.casefold() in words and not _was_before(name, other, records) for other in alike):
            yield name, own
    if is_batch_of_more(arguments, document):
        yield "", ""


def _was_before(name: str, value: Any, earlier: Sequence[PlacedStep]) -> bool:
    """Whether an earlier result has a field with this value."""
    field = re.compile(rf"{re.escape(name)}\W{{1,5}}{re.escape(_written(value))}(?!\w)", re.IGNORECASE)
    return any(field.search(made.result[:_READ]) is not None for made in earlier)


def _written(value: Any) -> str:
    """How arguments have a value; those of a list are not told apart."""
    if isinstance(value, list):
        return ""
    return orjson.dumps(value).decode() if isinstance(value, bool) else str(value)


def _ids_of(arguments: JsonObject) -> Iterator[tuple[str, str]]:
    """The names and values of IDs and dates, in the records of lists too."""
    for name, value in islice(arguments.items(), _MOST_VALUES):
        if _is_id(value) or _is_figure(value):
            yield name, str(value)
        elif isinstance(value, list):
            yield from (pair for part in value[:_MOST_RECORDS] if isinstance(part, dict) for pair in _ids_of(part))


def _is_same(own: str, other: str) -> bool:
    if _NUMBER.fullmatch(own) is not None and _NUMBER.fullmatch(other) is not None:
        return are_equal(float(own), float(other))
    return own.casefold() == other.casefold()


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None and not value.isdecimal()


def _is_figure(value: Any) -> bool:
    return is_number(value) and abs(value) >= _LEAST_FIGURE


def _in_parts(parts: list[Any], others: Any) -> Iterator[tuple[str, str]]:
    """The same of the parts of an argument, each of which the result has in its order."""
    if isinstance(others, list) and len(others) == len(parts) <= _MOST_RECORDS:
        for part, other in zip(parts, others, strict=True):
            if isinstance(part, dict) and isinstance(other, dict):
                for name, value in part.items():
                    if _is_code(value):
                        yield from _other(str(value), _fields([other], name))


def _is_code(value: Any) -> bool:
    return isinstance(value, str | int | float) and _CODE.fullmatch(str(value)) is not None


def _other(own: str, others: Sequence[str]) -> Iterator[tuple[str, str]]:
    if plain_letters(own) not in map(plain_letters, others):
        yield from ((own, other) for other in others if _are_alike(own, other))


def _are_alike(own: str, other: str) -> bool:
    """Whether both are numbers, and not the same, or codes of one length, both with or both without digits."""
    if _NUMBER.fullmatch(own) is not None:
        return _NUMBER.fullmatch(other) is not None and not _is_same(own, other)
    return len(own) == len(other) and _is_code(other) and (_DIGIT.search(own) is None) == (_DIGIT.search(other) is None)


def _records_of(result: str) -> list[JsonObject]:
    """The record that a result is, or those in its list."""
    document = document_of(result)
    listed = document[:_MOST_RECORDS] if isinstance(document, list) else [document]
    return [record for record in listed if isinstance(record, dict)]


def _fields(records: Sequence[JsonObject], name: str) -> list[str]:
    values = (record.get(name) for record in records)
    return [str(value) for value in values if isinstance(value, str | int | float)]


def _said_of(name: str, own: str, result: str) -> list[str]:
    """What a text says first after the name of a field, `with amount 50`, if it nowhere has the value of the call."""
    said = re.findall(rf"\b{re.escape(name)}\W{{1,3}}({_WORD.pattern})", result)
    return [] if own in said else said[:1]


def _misspelled(text: str, result: str, given: Given) -> Iterator[Span]:
    """Where arguments have a number or code that is one character off from one that was given and the result has."""
    new = [
        value for value in islice(values_in(text), _MOST_VALUES) if _may_be_misspelled(value) and not given.holds(value)
    ]
    if not new:
        return
    texts = Texts()
    texts.add(result)
    answered = texts.given_to(0)
    answered_forms = {form for value in values_in(result) for form in value.forms}
    for value in new:
        others = (other for other in _misread(value.forms[0]) if other in answered_forms)
        if not answered.holds(value) and any(given.holds(Value(value.kind, (other,), 0, 0)) for other in others):
            yield value.start, value.end


def _may_be_misspelled(value: Value) -> bool:
    form = value.forms[0]
    length = len(_NO_DIGITS.sub("", form) if value.kind == "number" else form)
    return value.kind in ("number", "code") and length >= _FEWEST_DIGITS and len(form) <= _LONGEST_MISREAD


def _misread(form: str) -> Iterator[str]:
    own = _SEPARATORS.sub("", form)
    return (other for other in misreadings(form) if len(other) == len(form) and _SEPARATORS.sub("", other) != own)


def _miscalculated(arguments: JsonObject, result: str) -> Iterator[str]:
    """An expression, the only argument, whose result is another number."""
    expression = next(iter(arguments.values()), None) if len(arguments) == 1 else None
    if not isinstance(expression, str) or _EXPRESSION.fullmatch(expression) is None:
        return
    try:
        stated = float(result.strip().replace(",", ""))
        value = _value_of(parsed_expression(expression))
    except (ValueError, SyntaxError, ArithmeticError, RecursionError, MemoryError):
        return
    if abs(stated - value) > max(_ROUNDED, abs(value) * _ROUNDED):
        yield expression


def _value_of(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value_of(operand)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return _OPERATORS[type(sign)](_value_of(left), _value_of(right))
        case _:
            raise ValueError(f"no sum or product: {ast.dump(node)}")


DETECTOR = Detector(name="echoes", version="7", kinds=("contradicted_argument",), detect=_detect)

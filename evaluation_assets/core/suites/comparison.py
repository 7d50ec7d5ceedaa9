"""Compare one call with one expected call, parameter by parameter, with reasons."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal
from unicodedata import normalize

from evaluation_assets.core.suites.bounded import NotChecked, matches, schema_errors
from evaluation_assets.core.suites.calls import Call
from evaluation_assets.core.suites.suite import ExpectedCall, ParameterRule
from evaluation_assets.core.text.excerpts import beginning
from evaluation_assets.core.text.faults import place_name
from evaluation_assets.core.traces.trajectories.model import JsonObject

ParameterStatus = Literal["right", "missing", "wrong", "invalid", "forbidden", "unexpected"]
"""`wrong`: another value than accepted. `invalid`: it breaks the rule's schema or regular expression."""

_PUNCTUATION = re.compile(r"[\s,./\-_*^]")
_LONGEST_MATCHED = 10_000
"""A regular expression is not tried on longer texts: they come from agents."""

_LONGEST_FAULT = 200

_LONGEST_VALUE = 2000


@dataclass(frozen=True, slots=True)
class ParameterOutcome:
    """How one parameter came out, and why when it is not right."""

    name: str
    status: ParameterStatus
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CallComparison:
    """One call beside one expected call: an outcome for every parameter that was expected or is out of place.

    `failure` is the error of a call that had to succeed.
    """

    parameters: tuple[ParameterOutcome, ...]
    failure: str | None = None

    @property
    def is_right(self) -> bool:
        """Whether every parameter is, and the call succeeded if it had to."""
        return self.failure is None and all(outcome.status == "right" for outcome in self.parameters)

    def accuracy(self, wrong_value_credit: float = 0) -> float | None:
        """Share of parameters that are right; `None` where there is none. A wrong value may count in part."""
        if not self.parameters:
            return None
        right = sum(outcome.status == "right" for outcome in self.parameters)
        wrong = sum(outcome.status in ("wrong", "invalid") for outcome in self.parameters)
        return (right + wrong_value_credit * wrong) / len(self.parameters)


def compare_call(expected: ExpectedCall, call: Call) -> CallComparison:
    """A call against the rules of an expected call. The names of the tools are not looked at."""
    given: JsonObject = call.arguments or {}
    outcomes: list[ParameterOutcome] = []
    for name, rule in expected.parameters.items():
        if rule.forbidden:
            if name in given:
                outcomes.append(ParameterOutcome(name, "forbidden", f"must not be given, is {shown(given[name])}"))
        elif name in given:
            outcomes.append(_outcome(name, rule, given[name]))
        elif not rule.optional:
            outcomes.append(ParameterOutcome(name, "missing", _missing(rule, call)))
    if expected.other_parameters == "forbidden":
        outcomes += [
            ParameterOutcome(name, "unexpected", f"not expected, is {shown(value)}")
            for name, value in given.items()
            if name not in expected.parameters
        ]
    return CallComparison(tuple(outcomes), call.error if expected.succeeds else None)


def _missing(rule: ParameterRule, call: Call) -> str:
    expected = "" if rule.accepted is None else f"; expected {_any_of(rule)}"
    return ("is missing: the arguments are not a JSON object" if call.arguments is None else "is missing") + expected


def _outcome(name: str, rule: ParameterRule, value: Any) -> ParameterOutcome:
    if rule.accepted is not None and not any(same_value(accepted, value, rule) for accepted in rule.accepted):
        return ParameterOutcome(name, "wrong", _difference(rule.accepted, rule, value))
    try:
        if rule.regex is not None:
            text = value if isinstance(value, str) else shown(value, _LONGEST_MATCHED + 1)
            if len(text) > _LONGEST_MATCHED or not matches(rule.regex, text, ignore_case=rule.ignore_case):
                return ParameterOutcome(name, "invalid", f"{shown(value)} does not match {rule.regex!r}")
        if rule.json_schema is not None and (problems := schema_errors(rule.json_schema, value)):
            return ParameterOutcome(name, "invalid", beginning(problems[0].message, _LONGEST_FAULT))
    except NotChecked as problem:
        return ParameterOutcome(name, "invalid", f"{shown(value)} is {problem}")
    return ParameterOutcome(name, "right")


def _difference(accepted: Sequence[Any], rule: ParameterRule, value: Any) -> str:
    """What is wrong with a value. Of nested ones, the innermost place that differs: the rest may be long and equal."""
    if len(accepted) != 1:
        return f"expected {_any_of(rule)}, got {in_full(value)}"
    expected, place = accepted[0], list[str | int]()
    while (key := _differing(expected, value, rule)) is not None:
        place.append(key)
        expected, value = expected[key], value[key]
    at = f"at {place_name(tuple(place))} " if place else ""
    texts = [normalize("NFC", each) for each in (expected, value) if isinstance(each, str)]
    form = " in another Unicode form" if len(texts) == 2 and texts[0] == texts[1] else ""
    return f"{at}expected {in_full(expected)}, got {in_full(value)}{form}"


def _differing(expected: Any, value: Any, rule: ParameterRule) -> str | int | None:
    """The first key or position at which two values of one shape differ; `None` if they have different shapes."""
    if isinstance(expected, dict) and isinstance(value, dict) and expected.keys() == value.keys():
        return next((key for key in expected if not same_value(expected[key], value[key], rule)), None)
    if isinstance(expected, list | tuple) and isinstance(value, list | tuple) and len(expected) == len(value):
        pairs = zip(expected, value, strict=True)
        return next((index for index, (one, other) in enumerate(pairs) if not same_value(one, other, rule)), None)
    return None


def same_value(expected: Any, actual: Any, rule: ParameterRule) -> bool:
    """Whether two JSON values are equal as far as the rule asks. Numbers are equal by value, whatever their type."""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, int | float) and isinstance(actual, int | float):
        return expected == actual or (rule.tolerance is not None and _is_within(rule.tolerance, expected, actual))
    if isinstance(expected, str) and isinstance(actual, str):
        return expected == actual or _loosened(expected, rule) == _loosened(actual, rule)
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        return len(expected) == len(actual) and all(map(lambda a, b: same_value(a, b, rule), expected, actual))
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(
            same_value(expected[key], actual[key], rule) for key in expected
        )
    return expected is None and actual is None


def _is_within(tolerance: float, expected: float, actual: float) -> bool:
    """Whether two numbers differ by at most a tolerance, as they are written: 19.99 is 0.01 from 20."""
    difference = abs(Decimal(str(expected)) - Decimal(str(actual)))
    return difference.is_finite() and difference <= Decimal(str(tolerance))


def _loosened(text: str, rule: ParameterRule) -> str:
    if rule.ignore_punctuation:
        text = _PUNCTUATION.sub("", text)
    return text.casefold() if rule.ignore_case else text


def _any_of(rule: ParameterRule) -> str:
    accepted = rule.accepted or ()
    return " or ".join(map(in_full, accepted[:3])) + (" …" if len(accepted) > 3 else "")


def in_full(value: Any) -> str:
    """A value that a call should have, as JSON: nothing else in the run says it. Lists of messages cut them."""
    return shown(value, _LONGEST_VALUE)


def shown(value: Any, limit: int = 80) -> str:
    """A value as JSON for a message, cut to `limit` characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return beginning(text.encode("utf-8", "replace").decode(), limit)

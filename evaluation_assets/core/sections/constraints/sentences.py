"""Constraints as plain English sentences."""

from collections.abc import Mapping
from typing import Any

from evaluation_assets.core.sections.constraints.settings import (
    AnswerRule,
    CallPattern,
    Condition,
    Constraint,
    PassedValues,
)
from evaluation_assets.core.text.counted import counted

_LONGEST = 80

_VERBS = {
    "equals": "is",
    "not_equals": "is not",
    "one_of": "is one of",
    "not_one_of": "is none of",
    "matches": "matches",
    "not_matches": "does not match",
    "inside": "is in the folder",
    "outside": "is outside the folder",
    "above": "is above",
    "below": "is below",
    "at_least": "is at least",
    "at_most": "is at most",
}


def sentence(rule: Constraint) -> str:
    """What a rule demands, as one sentence without a full stop."""
    if rule.description is not None:
        return rule.description
    if rule.never is not None:
        return f"Never call {calls_in_words(rule.never)}{_order(rule)}{_same(rule)}"
    if rule.always is not None:
        return f"Always call {calls_in_words(rule.always)}{_order(rule)}{_same(rule)}"
    if rule.of is not None:
        return f"Call {calls_in_words(rule.of)} at most {counted(rule.at_most or 0, 'time')}{_same(rule)}"
    if rule.answer is not None:
        return f"The answer {answer_in_words(rule.answer)}"
    return _passing(rule.never_pass or PassedValues(matches=""))


def calls_in_words(pattern: CallPattern) -> str:
    """The calls that a pattern means."""
    name = "any tool" if pattern.tool == "*" else _code(pattern.tool)
    parts = [] if pattern.agent is None else [f"by agent {_code(pattern.agent)}"]
    said = [
        *_all_in_words(pattern.arguments),
        *([] if pattern.arguments_text is None else [_condition("the text of the arguments", pattern.arguments_text)]),
        *([] if pattern.result is None else [_condition("the result", pattern.result)]),
        *_all_in_words(pattern.result_values, " of the result"),
        *([] if pattern.fails is None else ["the call fails" if pattern.fails else "the call succeeds"]),
    ]
    parts += [f"where {' and '.join(said)}"] if said else []
    return " ".join([name, *parts])


def answer_in_words(rule: AnswerRule) -> str:
    """What an answer has to be like."""
    parts: list[str] = []
    if rule.cites is not None:
        values = "" if rule.cited_values is None else f"{_code(rule.cited_values)} of "
        parts.append(f"cites {values}a result of {calls_in_words(rule.cites)}")
    if rule.matches is not None:
        parts.append(f"matches {_code(rule.matches)}")
    if rule.not_matches is not None:
        parts.append(f"does not match {_code(rule.not_matches)}")
    return " and ".join(parts)


def _order(rule: Constraint) -> str:
    if rule.before is not None:
        return f" before {'the answer' if rule.before.answer else calls_in_words(rule.before)}"
    return "" if rule.after is None else f" after {calls_in_words(rule.after)}"


def _same(rule: Constraint) -> str:
    return f" with the same {' and '.join(map(_code, rule.same))}" if rule.same else ""


def _passing(rule: PassedValues) -> str:
    what = f"what matches {_code(rule.matches)} in" if rule.matches is not None else f"{_code(rule.values or '')} of"
    return f"Never pass {what} a result of {calls_in_words(rule.source)} into arguments of {calls_in_words(rule.to)}"


def _all_in_words(conditions: Mapping[str, Condition], of: str = "") -> list[str]:
    return [_condition(f"{_code(place)}{of}", condition) for place, condition in conditions.items()]


def _condition(subject: str, condition: Condition) -> str:
    said = [
        f"{verb} {_value(value)}" for name, verb in _VERBS.items() if (value := getattr(condition, name)) is not None
    ]
    if condition.exists is not None:
        said.append("is given" if condition.exists else "is missing")
    return f"{subject} {' and '.join(said)}"


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_value, value))
    if isinstance(value, bool):
        return _code(str(value).lower())
    return _code(f"{value:g}" if isinstance(value, float) else str(value))


def _code(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line[:_LONGEST]}{'…' if len(line) > _LONGEST else ''}`"

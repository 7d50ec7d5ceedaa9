"""Constraints evaluated on one trajectory."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evaluation_assets.core.sections.constraints import ordering
from evaluation_assets.core.sections.constraints.citations import is_cited
from evaluation_assets.core.sections.constraints.conditions import is_meant, values_at
from evaluation_assets.core.sections.constraints.passed_values import passed
from evaluation_assets.core.sections.constraints.patterns import found_in
from evaluation_assets.core.sections.constraints.scope import DropScope, is_in_scope
from evaluation_assets.core.sections.constraints.seen_calls import SeenCall, answer_of, seen_calls
from evaluation_assets.core.sections.constraints.sentences import answer_in_words, calls_in_words, sentence
from evaluation_assets.core.sections.constraints.settings import (
    AnswerRule,
    CallPattern,
    Condition,
    Constraint,
    PassedValues,
    Severity,
)
from evaluation_assets.core.suites.bounded import NotChecked
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.traces.trajectories.model import Trajectory

Status = Literal["passed", "failed", "not_applicable", "not_checked"]

_QUOTED = 120
_AROUND = 40
_MOST_UNCHECKED = 10
"""Trajectories of a drop in which a constraint may reach a limit of time or size; the others are then not tried."""


@dataclass(frozen=True, slots=True)
class Violation:
    """What violates a rule. `clip_index` is the number of the call's clip, `None` for the answer or an absent call."""

    message: str
    clip_index: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A constraint on one trajectory.

    `reason` says why it is not applicable or could not be checked; empty otherwise.
    """

    name: str
    rule: str
    severity: Severity
    status: Status
    violations: tuple[Violation, ...] = ()
    reason: str = ""


class _NotApplicable(Exception):
    """A rule has nothing to be about; the message says what is missing."""


class Evaluator:
    """The constraints of checks.yaml, evaluated on the trajectories of one drop."""

    def __init__(self, constraints: Mapping[str, Constraint], scope: DropScope) -> None:
        self._constraints = constraints
        self._scope = scope
        self._sentences = {name: sentence(rule) for name, rule in constraints.items()}
        self._unchecked: Counter[str] = Counter()

    def outcomes(self, trajectory: Trajectory) -> Iterator[Outcome]:
        """The outcome of every constraint, in the order of the file."""
        calls = seen_calls(trajectory)
        for name, rule in self._constraints.items():
            status, violations, reason = self._evaluate(name, rule, trajectory, calls)
            yield Outcome(name, self._sentences[name], rule.severity, status, violations, reason)

    def _evaluate(
        self, name: str, rule: Constraint, trajectory: Trajectory, calls: Sequence[SeenCall]
    ) -> tuple[Status, tuple[Violation, ...], str]:
        if not is_in_scope(rule.where, trajectory, self._scope):
            return "not_applicable", (), "outside of `where`"
        if self._unchecked[name] >= _MOST_UNCHECKED:
            return "not_checked", (), f"could not be checked in {_MOST_UNCHECKED} trajectories before"
        try:
            violations = tuple(_violations(rule, trajectory, calls))
        except _NotApplicable as missing:
            return "not_applicable", (), str(missing)
        except NotChecked as problem:
            self._unchecked[name] += 1
            return "not_checked", (), str(problem)
        return ("failed" if violations else "passed"), violations, ""


def _violations(rule: Constraint, trajectory: Trajectory, calls: Sequence[SeenCall]) -> Iterator[Violation]:
    if rule.never is not None:
        yield from _never(rule.never, rule, calls)
    elif rule.always is not None:
        if rule.before is not None and rule.before.answer and not answer_of(trajectory):
            raise _NotApplicable("the trajectory has no answer")
        yield from _always(rule.always, rule, calls)
    elif rule.of is not None:
        flags, limit = _flags(rule.of, calls), rule.at_most or 0
        for index in _within(rule, calls, lambda own: ordering.beyond(own(flags), limit)):
            often, details = counted(limit, "time"), _details(rule.of, rule.same, calls[index])
            yield Violation(f"`{calls[index].tool}` was called more than {often}{details}", calls[index].index)
    elif rule.answer is not None:
        yield from _answer(rule.answer, answer_of(trajectory), calls)
    elif rule.never_pass is not None:
        yield from _passed(rule.never_pass, calls)


def _never(pattern: CallPattern, rule: Constraint, calls: Sequence[SeenCall]) -> Iterator[Violation]:
    flags = _flags(pattern, calls)
    if rule.before is not None:
        _require(flags, pattern)
        others, order = _flags(rule.before, calls), f" before {calls_in_words(rule.before)}"
        indexes = _within(rule, calls, lambda own: ordering.without_earlier(own(flags), own(others)))
    elif rule.after is not None:
        _require(flags, pattern)
        others, order = _flags(rule.after, calls), f" after {calls_in_words(rule.after)}"
        indexes = _within(rule, calls, lambda own: ordering.with_earlier(own(flags), own(others)))
    else:
        indexes, order = ordering.made(flags), ""
    for index in indexes:
        call = calls[index]
        yield Violation(f"`{call.tool}` was called{order}{_details(pattern, rule.same, call)}", call.index)


def _always(pattern: CallPattern, rule: Constraint, calls: Sequence[SeenCall]) -> Iterator[Violation]:
    flags, wanted = _flags(pattern, calls), calls_in_words(pattern)
    other = rule.after if rule.before is None or rule.before.answer else rule.before
    if other is None:
        if not any(flags):
            yield Violation(f"{wanted} was never called{'' if rule.before is None else ' before the answer'}")
        return
    others = _flags(other, calls)
    _require(others, other)
    if rule.after is None:
        indexes = _within(rule, calls, lambda own: ordering.without_earlier(own(others), own(flags)))
        order = "before"
    else:
        indexes = _within(rule, calls, lambda own: ordering.without_later(own(others), own(flags)))
        order = "after"
    for index in indexes:
        call = calls[index]
        details = _details(other, rule.same, call)
        yield Violation(f"`{call.tool}` was called without {wanted} {order} it{details}", call.index)


def _within(
    rule: Constraint, calls: Sequence[SeenCall], violations: Callable[[Callable[[list[bool]], list[bool]]], list[int]]
) -> list[int]:
    """Indexes of the calls that violate a rule, among calls with the same values of its arguments `same`.

    `violations` gets a function that chooses the flags of these calls.
    """
    if not rule.same:
        return violations(lambda flags: flags)
    groups = [repr([values_at(place, call.arguments) for place in rule.same]) for call in calls]
    return ordering.by_group(groups, lambda own: violations(lambda flags: [flags[index] for index in own]))


def _answer(rule: AnswerRule, answer: str | None, calls: Sequence[SeenCall]) -> Iterator[Violation]:
    if not answer:
        raise _NotApplicable("the trajectory has no answer")
    if rule.matches is not None and found_in(rule.matches, answer) is None:
        yield Violation(f"the answer does not match `{rule.matches}`")
    if rule.not_matches is not None and (match := found_in(rule.not_matches, answer)) is not None:
        yield Violation(f"the answer matches `{rule.not_matches}`: {_quoted(match[0])}")
    if rule.cites is not None:
        meant = [call for call in calls if call.result and is_meant(rule.cites, call)]
        if not meant and rule.matches is None and rule.not_matches is None:
            raise _NotApplicable(f"no result of {calls_in_words(rule.cites)}")
        if meant and not is_cited(answer, meant, rule.cited_values, rule.min_length):
            wanted = answer_in_words(AnswerRule(cites=rule.cites, cited_values=rule.cited_values))
            yield Violation(f"nothing in the answer {wanted}")


def _passed(rule: PassedValues, calls: Sequence[SeenCall]) -> Iterator[Violation]:
    if not any(call.result for call in calls):
        raise _NotApplicable("no call has a result")
    for call, origin in passed(rule, calls):  # the value may be a secret, so no message quotes it
        yield Violation(f"`{call.tool}` was given a value from the result of `{origin.tool}`", call.index)


def _flags(pattern: CallPattern, calls: Sequence[SeenCall]) -> list[bool]:
    return [is_meant(pattern, call) for call in calls]


def _require(flags: Sequence[bool], pattern: CallPattern) -> None:
    if not any(flags):
        raise _NotApplicable(f"no call of {calls_in_words(pattern)}")


def _details(pattern: CallPattern, same: Sequence[str], call: SeenCall) -> str:
    """The arguments that a rule is about, with their values, and what else of the call it is about."""
    given = {place: values_at(place, call.arguments) for place in dict.fromkeys((*pattern.arguments, *same))}
    said = [f"`{place}` {', '.join(map(_quoted, values[:3]))}" for place, values in given.items() if values]
    if pattern.arguments_text is not None:
        said.append(f"the arguments {_excerpt(call.arguments_text, pattern.arguments_text)}")
    if call.result is not None and (pattern.result is not None or pattern.result_values or pattern.fails is not None):
        said.append(f"the result {_excerpt(call.result, pattern.result)}")
    return f" with {' and '.join(said)}" if said else ""


def _excerpt(text: str, condition: Condition | None) -> str:
    """The beginning of a text, or what a condition on it matches with a little around it."""
    match = None if condition is None or condition.matches is None else found_in(condition.matches, text)
    if match is None or match.end() <= _QUOTED:
        return _quoted(text)
    return _quoted("…" + text[max(match.start() - _AROUND, 0) :])


def _quoted(value: Any) -> str:
    line = " ".join(str(value).split())
    return f"'{line[:_QUOTED]}{'…' if len(line) > _QUOTED else ''}'"

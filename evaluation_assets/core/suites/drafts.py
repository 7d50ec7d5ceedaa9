"""Draft test cases from recorded runs: what all passing runs of a task have in common is expected of the next one."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation_assets.core.suites.answers import LONGEST_ALIKE, RIGHT, compare_answer
from evaluation_assets.core.suites.calls import Call, Run
from evaluation_assets.core.suites.case_results import evaluate
from evaluation_assets.core.suites.comparison import CallComparison
from evaluation_assets.core.suites.matching import align
from evaluation_assets.core.suites.suite import Case, ExpectedCall, ParameterRule, ReferenceAnswer, Suite
from evaluation_assets.core.text.counted import counted

_LONGEST_VALUE = 200
"""Characters of JSON of a value that is expected; of longer ones, such as files, only that they are given."""


@dataclass(slots=True, kw_only=True)
class RecordedTask:
    """A task that agents were given, its runs that passed, and those with the failure that a case is made for.

    `reference` is the right answer that the source has, `recorded` the calls and keywords that it expects.
    """

    id: str
    message: str
    reference: str | None
    n_turns: int
    recorded: Case | None = None
    passing: list[Run] = field(default_factory=list)
    failing: list[Run] = field(default_factory=list)


def draft_case(task: RecordedTask) -> Case:
    """A case that every passing run of the task passes; `review` says what a person has to confirm or to add.

    Expected is what the source recorded that it expects; else the calls that all of them made and that did not fail,
    with the values in which they agree; other calls are allowed. The answer is the reference, or the one that all of
    them give.
    """
    if (recorded := task.recorded) is not None and _pass(recorded, task.passing):
        return recorded.model_copy(update={"id": task.id, "review": "; ".join(_to_confirm(task, recorded))})
    calls = common_calls([run.calls for run in task.passing])
    answer = _answer(task)
    expected: dict[str, Any] = {"expected_calls": calls, "match": "superset"} if calls else {}
    if answer is not None:
        expected["answer"] = answer
    case = Case.model_validate({"id": task.id, "message": task.message, **expected})
    return case.model_copy(update={"review": "; ".join(_to_confirm(task, case))})


def _pass(case: Case, runs: Sequence[Run]) -> bool:
    """Whether runs that the source counts as passed pass a case, which may be only one way to do the task."""
    suite = Suite(name=case.id, cases=(case,))
    return all(evaluate(case, run, suite).passed is not False for run in runs)


def common_calls(runs: Sequence[Sequence[Call]]) -> tuple[ExpectedCall, ...]:
    """The calls that all runs made, in the order of the shortest run; repeated and failed calls are not needed."""
    made = sorted(([call for call in calls if call.error is None] for calls in runs), key=len)
    if not made:
        return ()
    expected = [_expected(call) for call in {call.key: call for call in made[0]}.values()]
    for calls in made[1:]:
        pairs = align(expected, calls).pairs
        expected = [_loosened(expected[pair.expected], pair.comparison) for pair in pairs]
    return tuple(expected)


def _expected(call: Call) -> ExpectedCall:
    rules = {
        name: ParameterRule(equals=value) if len(json.dumps(value, default=str)) <= _LONGEST_VALUE else ParameterRule()
        for name, value in (call.arguments or {}).items()
    }
    fields = {"parameters": rules} if rules else {}  # a suite is written without fields that are not set
    return ExpectedCall.model_validate({"tool": call.name, "succeeds": True} | fields)


def _loosened(expected: ExpectedCall, comparison: CallComparison) -> ExpectedCall:
    """What is left of an expected call that was made like this: no value that differs, no parameter that is missing."""
    by_name = {outcome.name: outcome.status for outcome in comparison.parameters}
    rules = {
        name: rule if by_name[name] == "right" else ParameterRule()
        for name, rule in expected.parameters.items()
        if by_name[name] != "missing"
    }
    return expected.model_copy(update={"parameters": rules})


def common_answer(answers: Sequence[str | None]) -> str | None:
    """The answer that all runs give, in its shortest form; `None` if they differ or one has none."""
    given = sorted((answer for answer in answers if answer and answer.strip()), key=len)
    if not given or len(given) < len(answers):
        return None
    return given[0] if _is_right(given[0], given) else None


def _is_right(reference: str, answers: Sequence[str | None]) -> bool:
    return all(compare_answer(ReferenceAnswer(value=reference), answer) in RIGHT for answer in answers)


def _answer(task: RecordedTask) -> str | None:
    answers = [run.answer for run in task.passing]
    if task.reference is not None:
        return task.reference if _is_right(task.reference, answers) else None
    common = common_answer(answers)
    return None if common is not None and len(answers) == 1 and len(common) > LONGEST_ALIKE else common


def _to_confirm(task: RecordedTask, case: Case) -> Iterator[str]:
    is_of_source = case is task.recorded or (not task.passing and case.answer is not None)
    if is_of_source:
        yield "expectations are those that the source recorded"
    elif not task.passing:
        yield f"no run of the task passed{' without the failure' if task.failing else ''}, say what is expected"
    else:
        yield f"expectations are from {counted(len(task.passing), 'passing run')}"
        if case.answer is None and any(run.answer for run in task.passing):
            yield "the answers of passing runs are long or differ, say what an answer has to contain"
        if not case.expected_calls and any(run.calls for run in task.passing):
            yield "passing runs have no call in common"
    suite = Suite(name=case.id, cases=(case,))
    unnoticed = sum(evaluate(case, run, suite).passed is True for run in task.failing)
    if unnoticed and (task.passing or is_of_source):
        yield f"{unnoticed} of {counted(len(task.failing), 'run')} with the failure would pass, say what they lack"
    if task.n_turns > 1 and case.user is None:
        yield f"the conversation had {task.n_turns} turns, the case has only its task"

"""What a source expects of a run that it recorded: gold calls, outputs, tests of a patch, or a reference answer."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from evaluation_assets.core.suites import call_metrics
from evaluation_assets.core.suites.answers import agreement
from evaluation_assets.core.suites.calls import run_of
from evaluation_assets.core.suites.case_issues import (
    Issue,
    answer_issues,
    call_issues,
    issue_of,
    parameter_issues,
    wrong_answer,
)
from evaluation_assets.core.suites.matching import align, effects
from evaluation_assets.core.suites.suite import Case, ExpectedCall, ParameterRule, SimulatedUser
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.traces.formats.untyped import at, list_in
from evaluation_assets.core.traces.trajectories.model import Trajectory

_MOST_CHARACTERS = 120
"""Of two names, figures or terms. Longer answers can be right in other words."""

_ABOUT_STATE = {"DB", "ENV_ASSERTION"}
"""What tau2-bench rewards, if it compares states."""

_TESTS = {
    "FAIL_TO_PASS": "that the patch has to make pass",
    "PASS_TO_PASS": "that passed before",
    "verifier": "of the task",
}
"""Tests of a task by kind, in words: those of SWE-bench, and all that verify a trial of Harbor."""

_NAMED = 3
_SHORTEST_NAME = 3
"""Characters of a value that is not in a message by chance."""


def unmet_expectations(trajectory: Trajectory) -> Iterator[Issue]:
    """Where the effects of a run's calls, and what it tells the user, differ from what its source expects.

    Nothing is said of a run that its source counts as a success, whatever way it took. The answer of one without gold
    calls is held against the reference answer if the source counts it as a failure. Of one whose outcome is unknown,
    only a bare answer that has nothing of a short reference answer is wrong: longer ones may be worded freely.
    """
    if trajectory.success:
        return
    yield from _failed_tests(trajectory.labels)
    case = recorded_case(trajectory)
    if case is None:
        yield from _wrong_answer(trajectory)
        return
    run = run_of(trajectory)
    alignment = effects(case.expected_calls, run.calls, align(case.expected_calls, run.calls))
    missing = call_metrics.keyword_score(case.keywords, run.said or run.answer)[1]
    yield from call_issues(case, run.calls, alignment)
    said = "\n".join(turn.user_message or "" for turn in trajectory.turns)
    for issue in parameter_issues(case, alignment, fails=True):
        given = {} if issue.call is None else run.calls[issue.call].arguments or {}
        is_of_user = issue.parameter is not None and _names(said, given.get(issue.parameter))
        yield replace(issue, detail=f"{issue.detail}, which the user named") if is_of_user else issue
    yield from answer_issues(case, run, None, missing)


def _names(said: str, value: object) -> bool:
    """Whether a text names a value, which is then as likely a fault of the task as of the agent."""
    text = str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    return (
        len(text) >= _SHORTEST_NAME and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", said, re.IGNORECASE) is not None
    )


def _failed_tests(labels: Mapping[str, Any]) -> Iterator[Issue]:
    """The tests of the task that a run fails, as its source counts and names them."""
    if labels.get("patch_applied") is False:
        yield issue_of("wrong_answer", "the patch cannot be applied")
    for kind, which in _TESTS.items():
        counts = at(labels.get("tests"), kind)
        failed, passed = (count if isinstance(count := at(counts, name), int) else 0 for name in ("failure", "success"))
        if failed:
            named = [str(name) for name in list_in(at(labels.get("failed_tests"), kind))[:_NAMED]]
            more = f" and {failed - len(named):,} more" if 0 < len(named) < failed else ""
            said = f"{failed:,} of {counted(failed + passed, 'test')} {which} {'fails' if failed == 1 else 'fail'}"
            yield issue_of("failing_tests", f"{said}: {', '.join(named)}{more}" if named else said)


def _wrong_answer(trajectory: Trajectory) -> Iterator[Issue]:
    """The answer of a failed run, if it has one, unless it agrees with the reference."""
    expected, answer = (trajectory.reference_answer or "").strip(), (trajectory.final_answer or "").strip()
    if not expected or not answer or (trajectory.success is None and not _is_bare(expected, answer)):
        return
    found = agreement(expected, answer)
    if found == "differs" or (found == "unclear" and trajectory.success is False):
        yield wrong_answer(expected, answer)


def _is_bare(expected: str, answer: str) -> bool:
    """Whether an answer is a name, a figure or a term, as the expected one is, and no sentence."""
    return len(expected) + len(answer) <= _MOST_CHARACTERS and len(answer.split()) <= len(expected.split()) + 1


def recorded_case(trajectory: Trajectory) -> Case | None:
    """Labels as the readers of tau-bench and tau2-bench write them, as a case; `None` if no state is rewarded."""
    calls, criteria = trajectory.labels.get("expected_calls"), trajectory.labels.get("criteria")
    known = criteria if isinstance(criteria, dict) else {}
    basis = known.get("reward_basis")
    if not isinstance(calls, list) or (isinstance(basis, list) and _ABOUT_STATE.isdisjoint(map(str, basis))):
        return None
    outputs = trajectory.labels.get("expected_outputs", known.get("communicate_info"))
    goal = trajectory.labels.get("instruction")
    user = SimulatedUser(goal=goal) if isinstance(goal, str) and goal else None
    try:
        return Case(
            id=trajectory.task_id,
            message=trajectory.task,
            expected_calls=tuple(
                gold_call(call["name"], call["arguments"], call.get("compare_args")) for call in calls
            ),
            match="same_effects",
            keywords=tuple(map(str, outputs)) if isinstance(outputs, list) else (),
            user=user,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # labels of the same name with another meaning


def gold_call(tool: str, arguments: Mapping[str, Any], compared: Collection[str] | None = None) -> ExpectedCall:
    """A gold action of tau-bench or tau2-bench; with `compared`, only these arguments count."""
    return ExpectedCall(
        tool=tool,
        parameters={
            name: ParameterRule(equals=value)
            for name, value in arguments.items()
            if compared is None or name in compared
        },
        other_parameters="forbidden" if compared is None else "allowed",
    )

"""Issues of a run according to its test case, each with a machine-readable kind and a message."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation_assets.core.suites import call_metrics
from evaluation_assets.core.suites.answers import RIGHT, AnswerOutcome, given_in
from evaluation_assets.core.suites.call_schemas import Defect
from evaluation_assets.core.suites.calls import Call, Run, same_tool
from evaluation_assets.core.suites.comparison import compare_call, in_full, shown
from evaluation_assets.core.suites.matching import Alignment
from evaluation_assets.core.suites.suite import OTHERS_ARE_FINE, Case, Suite
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.text.excerpts import in_short

IssueKind = Literal[
    "missing_call",
    "wrong_tool",
    "unnecessary_call",
    "repeated_call",
    "call_not_allowed",
    "too_many_calls",
    "loop",
    "missing_parameter",
    "wrong_parameter",
    "invalid_parameter",
    "forbidden_parameter",
    "unexpected_parameter",
    "unknown_tool",
    "schema_defect",
    "not_checked",
    "dangling_reference",
    "wrong_order",
    "missing_keywords",
    "wrong_answer",
    "not_found",
    "failing_tests",
    "not_completed",
    "latency_over_budget",
    "cost_over_budget",
    "infrastructure",
]

HARD: frozenset[IssueKind] = frozenset(
    {
        "missing_call",
        "call_not_allowed",
        "too_many_calls",
        "forbidden_parameter",
        "unexpected_parameter",
        "unknown_tool",
        "wrong_order",
        "wrong_answer",
        "not_found",
        "failing_tests",
    }
)
"""Issues with which no case passes, whatever its score. So are wrong values of required parameters, unless the suite
gives credit for them, and where a case has a `match`, every call that differs."""

_PARAMETER_ISSUES: Mapping[str, IssueKind] = {
    "missing": "missing_parameter",
    "wrong": "wrong_parameter",
    "invalid": "invalid_parameter",
    "forbidden": "forbidden_parameter",
    "unexpected": "unexpected_parameter",
}
_LONGEST_ARGUMENTS = 200
_LONGEST_ERROR = 200


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue: a stable kind for programs and a message for people. A case with a hard issue does not pass.

    `call` is the position of the call that it is about, among those of the run.
    """

    kind: IssueKind
    detail: str
    tool: str | None = None
    parameter: str | None = None
    hard: bool = False
    call: int | None = None


def issue_of(
    kind: IssueKind,
    detail: str,
    tool: str | None = None,
    parameter: str | None = None,
    *,
    hard: bool = False,
    call: int | None = None,
) -> Issue:
    """An issue; whether it is hard follows from its kind unless it is said."""
    return Issue(kind, detail, tool, parameter, hard or kind in HARD, call)


def call_issues(case: Case, calls: Sequence[Call], alignment: Alignment) -> Iterable[Issue]:
    """Calls that are missing, that failed though they must not, that are too many, or of another tool."""
    if case.match != "subset":
        yield from _missing(case, calls, alignment)
    for pair in alignment.pairs:
        if (failure := pair.comparison.failure) is not None:
            yield _did_not_succeed(case, pair.expected, failure, pair.call)
    if case.should_not_call_tools:
        for index, call in enumerate(calls):
            yield issue_of("call_not_allowed", f"{call.name} was called where no tool is needed", call.name, call=index)
    elif case.match not in OTHERS_ARE_FINE and (case.expected_calls or case.match):
        yield from _surplus_issues(case, calls, alignment)


def _missing(case: Case, calls: Sequence[Call], alignment: Alignment) -> Iterable[Issue]:
    """Calls that were not made. With `same_effects` a call that failed is none: its error is told."""
    failed = [(index, call, call.error) for index, call in enumerate(calls) if call.error is not None]
    paired = {pair.call for pair in alignment.pairs}
    for position in alignment.missing:
        want = case.expected_calls[position]
        attempts = (
            (index, error)
            for index, call, error in failed
            if index not in paired and same_tool(want.tool, call.name) and compare_call(want, call).is_right
        )
        if (attempt := next(attempts, None)) is not None:
            yield _did_not_succeed(case, position, attempt[1], attempt[0])
        else:
            yield issue_of("missing_call", f"{_named(case, position)}, was not made", want.tool)


def _did_not_succeed(case: Case, position: int, error: str, call: int) -> Issue:
    detail = f"{_named(case, position)}, failed: {in_short(error, _LONGEST_ERROR)}"
    return issue_of("missing_call", detail, case.expected_calls[position].tool, call=call)


def _named(case: Case, position: int) -> str:
    """An expected call with the values that it has to have."""
    want = case.expected_calls[position]
    values = {name: rule.accepted[0] for name, rule in want.parameters.items() if rule.accepted}
    return f"call {position + 1}, {want.tool}" + (f" with {in_full(values)}" if values else "")


def _surplus_issues(case: Case, calls: Sequence[Call], alignment: Alignment) -> Iterable[Issue]:
    kind: IssueKind
    hard = case.match is not None
    instead = len(alignment.missing)
    for index in alignment.surplus:
        name = calls[index].name
        made = f"{name} with {shown(given, _LONGEST_ARGUMENTS)}" if (given := calls[index].arguments) else name
        if any(same_tool(want.tool, name) for want in case.expected_calls):
            kind, detail = "repeated_call", f"call {index + 1}, {made}, is one more than expected"
        elif instead:
            instead -= 1
            kind, detail = "wrong_tool", f"call {index + 1} went to {made} while an expected call is missing"
        else:
            kind, detail = "unnecessary_call", f"call {index + 1}, {made}, was not expected"
        yield issue_of(kind, detail, name, hard=hard, call=index)


def parameter_issues(case: Case, alignment: Alignment, *, fails: bool) -> Iterable[Issue]:
    """Parameters that are not right, of calls that answer an expected one.

    `fails` says whether a required one that is missing or has a wrong value fails the case by itself.
    """
    for pair in alignment.pairs:
        expected = case.expected_calls[pair.expected]
        for outcome in pair.comparison.parameters:
            if outcome.status != "right":
                rule = expected.parameters.get(outcome.name)
                hard = case.match is not None or (fails and rule is not None and not rule.optional)
                yield issue_of(
                    _PARAMETER_ISSUES[outcome.status],
                    outcome.reason,
                    expected.tool,
                    outcome.name,
                    hard=hard,
                    call=pair.call,
                )


def schema_issue(defect: Defect, call: int) -> Issue:
    """A call that does not agree with its tool's definition."""
    if defect.kind == "unknown_tool":
        return issue_of("unknown_tool", defect.detail, defect.tool, call=call)
    if defect.kind == "not_checked":
        return issue_of("not_checked", defect.detail, defect.tool, call=call)
    return issue_of("schema_defect", f"{defect.kind}: {defect.detail}", defect.tool, defect.parameter, call=call)


def order_issues(case: Case, alignment: Alignment, *, match_ok: bool | None) -> Iterable[Issue]:
    """Only order is left to be wrong when every call is the expected one and the calls still do not match."""
    surplus = 0 if case.match == "in_order" else len(alignment.surplus)
    if match_ok is False and alignment.right == len(case.expected_calls) and not surplus:
        yield issue_of("wrong_order", f"the expected calls were made in another order than {case.match} asks")


def course_issues(calls: Sequence[Call]) -> Iterable[Issue]:
    """Loops, and references to calls that were not made."""
    for loop in call_metrics.loops(calls):
        name = calls[loop.start].name
        what = name if loop.length == 1 else f"{loop.length} calls from {name} on"
        yield issue_of("loop", f"{what}: {loop.repeats} times in a row with the same result", name, call=loop.start)
    for index, label in call_metrics.dangling_references(calls):
        name = calls[index].name
        yield issue_of(
            "dangling_reference",
            f"call {index + 1} refers to {label!r}, which no earlier call is named",
            name,
            call=index,
        )


def answer_issues(
    case: Case, run: Run, answer: AnswerOutcome | None, missing_keywords: Sequence[str]
) -> Iterable[Issue]:
    """An answer that is wrong or lacks keywords."""
    if missing_keywords:
        yield issue_of("missing_keywords", f"the answer lacks {', '.join(map(shown, missing_keywords))}")
    if case.answer is None or answer in RIGHT:
        return
    expected = shown(case.answer.value)
    if answer == "not_found":
        yield issue_of("not_found", f"the agent answered NOT_FOUND, expected {expected}")
    elif answer == "missing":
        yield issue_of("wrong_answer", f"there is no answer, expected {expected}")
    else:
        yield wrong_answer(case.answer.value, run.answer or "")


def wrong_answer(expected: str, answer: str) -> Issue:
    """An answer that is not the expected one, with what it gives in its place if that can be told."""
    given = given_in(answer, expected)
    said = "which the answer does not state" if given is None else f"got {in_full(given)}"
    return issue_of("wrong_answer", f"expected {shown(expected)}, {said}")


def completion_issues(suite: Suite, run: Run, *, completed: bool) -> Iterable[Issue]:
    """A run without a usable answer, where completion counts."""
    if completed or "completion" not in suite.weights:
        return
    if run.cut_off:
        yield issue_of("not_completed", "the run was cut off at a limit")
    elif not (run.answer or "").strip():
        yield issue_of("not_completed", "the run ended without an answer")
    else:
        yield issue_of("not_completed", f"the answer is a refusal: {shown(run.answer)}")


def budget_issues(case: Case, run: Run) -> Iterable[Issue]:
    """More calls, time or cost than the case allows."""
    if case.max_calls is not None and len(run.calls) > case.max_calls:
        yield issue_of("too_many_calls", f"{counted(len(run.calls), 'call')}, at most {case.max_calls} are allowed")
    if case.max_latency_ms is not None and run.latency_ms is not None and run.latency_ms > case.max_latency_ms:
        yield issue_of("latency_over_budget", f"{run.latency_ms:.0f} ms, at most {case.max_latency_ms:.0f} are allowed")
    if case.max_cost_usd is not None and run.cost_usd is not None and run.cost_usd > case.max_cost_usd:
        yield issue_of("cost_over_budget", f"${run.cost_usd:.4f}, at most ${case.max_cost_usd:.4f} are allowed")

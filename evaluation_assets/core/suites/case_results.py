"""Evaluate a run against a test case: score, issues, and whether it passed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from evaluation_assets.core.suites import call_metrics
from evaluation_assets.core.suites.answers import RIGHT, AnswerOutcome, compare_answer
from evaluation_assets.core.suites.call_schemas import Defect, defects
from evaluation_assets.core.suites.calls import Call, Run, same_tool
from evaluation_assets.core.suites.case_issues import (
    Issue,
    answer_issues,
    budget_issues,
    call_issues,
    completion_issues,
    course_issues,
    issue_of,
    order_issues,
    parameter_issues,
    schema_issue,
)
from evaluation_assets.core.suites.matching import Alignment, agrees, align, effects
from evaluation_assets.core.suites.suite import OTHERS_ARE_FINE, Case, Part, Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFigures:
    """One tool in one run: how often it was expected, called, and both; and what went wrong with its calls."""

    tool: str
    expected: int
    called: int
    matched: int
    parameter_accuracy: float | None
    defective: int
    errors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """A run measured by a case. Numbers are 0..1 and `None` where they do not apply.

    `passed` is `None` for a run that failed because of the infrastructure, which is no evidence about the agent.

    `parts` are what the score is the weighted mean of. `schema` is the share of calls that agree with the definitions
    of the tools, `None` where these are unknown. `exact_calls` counts the `expected_calls` that were made with
    every parameter right.
    """

    case_id: str
    passed: bool | None
    score: float | None
    parts: Mapping[Part, float]
    precision: float | None
    recall: float | None
    f1: float | None
    parameter_accuracy: float | None
    exact_calls: int
    expected_calls: int
    match_ok: bool | None
    order: float | None
    edit_similarity: float | None
    coverage: float | None
    keyword_score: float | None
    answer: AnswerOutcome | None
    completed: bool | None
    efficiency: float | None
    redundancy: float | None
    loops: int
    recovery: call_metrics.Recovery
    schema: float | None
    latency_ms: float | None
    cost_usd: float | None
    calls: tuple[Call, ...]
    tools: tuple[ToolFigures, ...]
    issues: tuple[Issue, ...]


def evaluate(case: Case, run: Run, suite: Suite) -> CaseResult:
    """Measure a run by a case of a suite."""
    if run.failure is not None:
        return _unmeasured(case, run, run.failure)
    expected, calls = case.expected_calls, run.calls
    aligned = align(expected, calls)
    by_effect = case.match == "same_effects"
    alignment = effects(expected, calls, aligned) if by_effect else aligned
    defined = suite.tools_of(case)
    tools = run.tools if defined is None else tuple(definition.tool for definition in defined)
    is_listed = defined is not None or not run.has_other_tools
    found_by_call = [[] if tools is None else defects(call, tools, are_all=is_listed) for call in calls]
    wrong_by_call = [[defect for defect in of_call if defect.kind != "not_checked"] for of_call in found_by_call]
    chosen = _selection(case, alignment, len(calls))
    # The score counts that nothing was called. It is no share of calls, whose mean it would raise.
    is_rightly_idle = chosen.recall is None and chosen.precision == 1
    accuracy = call_metrics.parameter_accuracy(alignment, suite.credit)
    keyword_score, missing_keywords = call_metrics.keyword_score(case.keywords, run.said or run.answer)
    answer = None if case.answer is None else compare_answer(case.answer, run.answer)
    match_ok = None if case.match is None else agrees(case.match, expected, calls, alignment)
    completed = call_metrics.completed(run.answer, cut_off=run.cut_off)
    made_progress = bool(aligned.pairs) or not expected
    efficiency = call_metrics.efficiency(case.optimal_steps, len(calls), made_progress=made_progress)
    schema = sum(not wrong for wrong in wrong_by_call) / len(calls) if calls and tools is not None else None
    available: dict[Part, float | None] = {
        "precision": None if case.match in OTHERS_ARE_FINE else chosen.precision,
        "recall": None if case.match == "subset" else chosen.recall,
        "parameter_accuracy": None if by_effect else accuracy,  # a call with another value has another effect
        "content": keyword_score if answer is None else float(answer in RIGHT),
        "completion": float(completed),
        "coverage": call_metrics.coverage(expected, calls),
        "efficiency": efficiency,
        "order": call_metrics.order(alignment, len(expected)),
        "schema": None if tools is None else _conformance(case, alignment, wrong_by_call),
    }
    parts: dict[Part, float] = {part: value for part in suite.weights if (value := available[part]) is not None}
    issues = (
        *call_issues(case, calls, alignment),
        *parameter_issues(case, alignment, fails=suite.wrong_value == "fail"),
        *(schema_issue(defect, index) for index, of_call in enumerate(found_by_call) for defect in of_call),
        *order_issues(case, alignment, match_ok=match_ok),
        *course_issues(calls),
        *answer_issues(case, run, answer, missing_keywords),
        *completion_issues(suite, run, completed=completed),
        *budget_issues(case, run),
    )
    score = 0.0 if case.should_not_call_tools and calls else weighted_score(parts, suite.weights)
    passed = (score is None or call_metrics.reaches(score, suite.min_score)) and not any(issue.hard for issue in issues)
    return CaseResult(
        case_id=case.id,
        passed=passed,
        score=score,
        parts=parts,
        precision=None if is_rightly_idle else chosen.precision,
        recall=chosen.recall,
        f1=None if is_rightly_idle else chosen.f1,
        parameter_accuracy=accuracy,
        exact_calls=aligned.right,
        expected_calls=len(expected),
        match_ok=match_ok,
        order=available["order"],
        edit_similarity=call_metrics.edit_similarity(alignment, len(expected), len(calls)) if expected else None,
        coverage=available["coverage"],
        keyword_score=keyword_score,
        answer=answer,
        completed=completed,
        efficiency=efficiency,
        redundancy=call_metrics.redundancy(calls),
        loops=len(call_metrics.loops(calls)),
        recovery=call_metrics.recovery(calls),
        schema=schema,
        latency_ms=run.latency_ms,
        cost_usd=run.cost_usd,
        calls=calls,
        tools=_tool_figures(case, calls, aligned, wrong_by_call, suite.credit),
        issues=issues,
    )


def _unmeasured(case: Case, run: Run, failure: str) -> CaseResult:
    """The result of a run that failed because of the infrastructure: its calls are kept, but not scored."""
    return CaseResult(
        case_id=case.id,
        passed=None,
        score=None,
        parts={},
        precision=None,
        recall=None,
        f1=None,
        parameter_accuracy=None,
        exact_calls=0,
        expected_calls=len(case.expected_calls),
        match_ok=None,
        order=None,
        edit_similarity=None,
        coverage=None,
        keyword_score=None,
        answer=None,
        completed=None,
        efficiency=None,
        redundancy=None,
        loops=0,
        recovery=call_metrics.Recovery(0, 0),
        schema=None,
        latency_ms=run.latency_ms,
        cost_usd=run.cost_usd,
        calls=run.calls,
        tools=(),
        issues=(issue_of("infrastructure", failure),),
    )


def weighted_score(parts: Mapping[Part, float], weights: Mapping[Part, float]) -> float | None:
    """Weighted mean of the parts that are there, their weights renormalised; `None` without any."""
    total = fsum(weights[part] for part in parts)
    return min(1.0, fsum(weights[part] * value for part, value in parts.items()) / total) if parts else None


def _says_which_calls(case: Case) -> bool:
    return bool(case.expected_calls) or case.match is not None or case.should_not_call_tools


def _conformance(case: Case, alignment: Alignment, wrong_by_call: Sequence[Sequence[Defect]]) -> float | None:
    useful = sum(not wrong_by_call[pair.call] for pair in alignment.pairs) if _says_which_calls(case) else None
    return call_metrics.conformance(useful, sum(bool(wrong) for wrong in wrong_by_call))


def _selection(case: Case, alignment: Alignment, n_calls: int) -> call_metrics.Selection:
    """Precision and so on, where the case says anything about calls."""
    if case.should_not_call_tools:
        allowed = 0.0 if n_calls else 1.0
        return call_metrics.Selection(precision=allowed, recall=None, f1=allowed)
    if case.match == "same_effects":
        wanted, made = len(alignment.pairs) + len(alignment.missing), len(alignment.pairs) + len(alignment.surplus)
        if not wanted:
            return call_metrics.Selection(precision=float(not made), recall=None, f1=float(not made))
        return call_metrics.selection(wanted, made, alignment.right)
    if not _says_which_calls(case):
        return call_metrics.Selection(None, None, None)
    return call_metrics.selection(len(case.expected_calls), n_calls, len(alignment.pairs))


def _tool_figures(
    case: Case,
    calls: Sequence[Call],
    alignment: Alignment,
    wrong_by_call: Sequence[Sequence[Defect]],
    wrong_value_credit: float,
) -> tuple[ToolFigures, ...]:
    """Figures by tool; a tool called by its name for models counts under the name the case gives it."""
    names = {want.tool for want in case.expected_calls}

    def name_of(call: Call) -> str:
        return next((name for name in sorted(names) if same_tool(name, call.name)), call.name)

    called = [name_of(call) for call in calls]
    figures: list[ToolFigures] = []
    for tool in sorted(names | set(called)):
        own = [pair for pair in alignment.pairs if case.expected_calls[pair.expected].tool == tool]
        shares = [share for pair in own if (share := pair.comparison.accuracy(wrong_value_credit)) is not None]
        places = [index for index, name in enumerate(called) if name == tool]
        figures.append(
            ToolFigures(
                tool=tool,
                expected=sum(want.tool == tool for want in case.expected_calls),
                called=len(places),
                matched=len(own),
                parameter_accuracy=fsum(shares) / len(shares) if shares else None,
                defective=sum(bool(wrong_by_call[index]) for index in places),
                errors=sum(calls[index].error is not None for index in places),
            )
        )
    return tuple(figures)


class CaseIndex:
    """Finds the case a trajectory is an attempt at: by its task id, else by the task's words."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._by_id: dict[str, Case] = {}
        self._by_prompt: dict[str, Case | None] = {}
        for case in cases:
            self._by_id[case.id] = case
            words = " ".join(case.prompt.split())
            self._by_prompt[words] = None if words in self._by_prompt else case

    def find(self, task_id: str, task: str) -> Case | None:
        """The case; `None` when there is none, or when several ask the same and the id names none of them."""
        return self._by_id.get(task_id) or self._by_prompt.get(" ".join(task.split()))

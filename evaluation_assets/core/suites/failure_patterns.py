"""Failure patterns: classes of issues with evidence and a recommendation; figures by tool."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evaluation_assets.core.lake.row import Row
from evaluation_assets.core.suites.call_metrics import reaches
from evaluation_assets.core.suites.case_issues import IssueKind
from evaluation_assets.core.system.frozen import Frozen
from evaluation_assets.core.text.excerpts import in_short
from evaluation_assets.core.text.nullable import mean_of

FailureClass = Literal[
    "parameter_error",
    "wrong_tool",
    "missing_call",
    "over_calling",
    "unknown_tool",
    "schema_defect",
    "order",
    "loop",
    "keywords",
    "answer",
    "not_completed",
    "latency",
    "cost",
    "infrastructure",
]

FLAG_BELOW = 0.6
"""Figures below it are flagged."""

MOST_EXAMPLES = 3

_LONGEST_EXAMPLE = 200

CLASSES: Mapping[FailureClass, tuple[IssueKind, ...]] = {
    "missing_call": ("missing_call",),
    "wrong_tool": ("wrong_tool",),
    "over_calling": ("unnecessary_call", "repeated_call", "call_not_allowed", "too_many_calls"),
    "parameter_error": (
        "missing_parameter",
        "wrong_parameter",
        "invalid_parameter",
        "forbidden_parameter",
        "unexpected_parameter",
    ),
    "unknown_tool": ("unknown_tool",),
    "schema_defect": ("schema_defect", "not_checked"),
    "order": ("wrong_order", "dangling_reference"),
    "loop": ("loop",),
    "keywords": ("missing_keywords",),
    "answer": ("wrong_answer", "not_found", "failing_tests"),
    "not_completed": ("not_completed",),
    "latency": ("latency_over_budget",),
    "cost": ("cost_over_budget",),
    "infrastructure": ("infrastructure",),
}
"""Every kind of issue belongs to one class."""

RECOMMENDATIONS: Mapping[FailureClass, str] = {
    "missing_call": "Say in the tool's description when it has to be used; add the words users ask with.",
    "wrong_tool": "Tell the tools apart in their descriptions: what each is for, and when to use the other one.",
    "over_calling": "Say in the system prompt when to answer without a tool, and what one call brings in full.",
    "parameter_error": "Describe these parameters in the tool's schema, with format and an example value.",
    "unknown_tool": "The agent made up a tool. Offer it, or name the one that does this in the system prompt.",
    "schema_defect": "Make the schema strict and return its error to the agent, so that it can correct the call.",
    "order": "Say in the descriptions which tool needs the result of which other one.",
    "loop": "Return an error or a hint on a repeated call, and limit steps: the agent sees no change.",
    "keywords": "Check whether the answers lack these words or the facts; loosen the keywords if only the words.",
    "answer": "Read the runs: compare the results of the tools with the answer, to see where it went wrong.",
    "not_completed": "Read how these runs ended: a refusal, no answer, or the step limit.",
    "latency": "See which calls take the time; give the agent tools that bring more with one call.",
    "infrastructure": "These runs do not count. Mend what broke and run them again; `suite run` tries only them.",
    "cost": "See which runs cost most; shorten tool results, or use a cheaper model for these cases.",
}

_CLASS_OF: Mapping[str, FailureClass] = {kind: name for name, kinds in CLASSES.items() for kind in kinds}


@dataclass(slots=True)
class FailurePattern:
    """One class of issues over a suite.

    `runs` and `failed_runs` count runs with such an issue. `cases`, `tools` and `parameters` are counted by name;
    `examples` are details of issues with the case they come from.
    """

    failure_class: FailureClass
    kinds: Counter[str] = field(default_factory=Counter)
    hard_issues: int = 0
    runs: int = 0
    failed_runs: int = 0
    cases: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    parameters: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)


def failure_patterns(results: Iterable[Row]) -> list[FailurePattern]:
    """The classes of issues that occur in rows of `tool_use_results`; those in most failed runs first."""
    patterns: dict[FailureClass, FailurePattern] = {}
    for row in results:
        seen: set[FailureClass] = set()
        for issue in row["issues"]:
            name = _CLASS_OF[issue["kind"]]
            own = patterns.setdefault(name, FailurePattern(name))
            own.kinds[issue["kind"]] += 1
            own.hard_issues += issue["hard"]
            if issue["tool"] is not None:
                own.tools[issue["tool"]] += 1
            if issue["parameter"] is not None:
                own.parameters[f"{issue['tool']}.{issue['parameter']}"] += 1
            if name not in seen:
                seen.add(name)
                own.runs += 1
                own.failed_runs += row["passed"] is False
                own.cases[row["case_id"]] += 1
                if len(own.examples) < MOST_EXAMPLES:
                    own.examples.append(f"{row['case_id']}: {_example(issue)}")
    order = list(CLASSES)
    return sorted(patterns.values(), key=lambda each: (-each.failed_runs, -each.runs, order.index(each.failure_class)))


def _example(issue: Row) -> str:
    said = f"{issue['parameter']} {issue['detail']}" if issue["parameter"] else issue["detail"]
    return in_short(said, _LONGEST_EXAMPLE)


def most_frequent(counts: Mapping[str, int]) -> list[str]:
    """The names, most frequent first."""
    return sorted(counts, key=lambda name: (-counts[name], name))


class ToolTotals(Frozen):
    """One tool over all runs; `flagged` where recall or parameter accuracy deserve a look.

    `matched` calls answer an expected one. `precision` is the share of calls that were expected, `recall` that of
    expected calls that were made. `parameter_accuracy` is the mean over the runs in which the tool was matched and had
    parameters to check; `defective` calls break the tool's definition, `errors` failed.
    """

    tool: str
    expected: int
    called: int
    matched: int
    precision: float | None
    recall: float | None
    parameter_accuracy: float | None
    defective: int
    errors: int
    flagged: bool


def by_tool(results: Iterable[Row]) -> list[ToolTotals]:
    """Figures by tool, in the order of names."""
    groups: dict[str, list[Row]] = {}
    for row in results:
        for figures in row["tools"]:
            groups.setdefault(figures["tool"], []).append(figures)
    return [_totals(tool, rows) for tool, rows in sorted(groups.items())]


def _totals(tool: str, rows: Sequence[Row]) -> ToolTotals:
    expected, called, matched, defective, errors = (
        sum(row[name] for row in rows) for name in ("expected", "called", "matched", "defective", "errors")
    )
    recall = matched / expected if expected else None
    parameter_accuracy = mean_of(row["parameter_accuracy"] for row in rows)
    return ToolTotals(
        tool=tool,
        expected=expected,
        called=called,
        matched=matched,
        precision=matched / called if called else None,
        recall=recall,
        parameter_accuracy=parameter_accuracy,
        defective=defective,
        errors=errors,
        flagged=is_low(recall, parameter_accuracy),
    )


def is_low(*figures: float | None) -> bool:
    """Whether any of the figures that are known deserves a look."""
    return any(figure is not None and not reaches(figure, FLAG_BELOW) for figure in figures)

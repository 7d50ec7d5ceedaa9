"""What makes a suite measure less than it seems to: cases that contradict each other, give the answer away, or are few.

Such a suite can be run; a person decides what to change.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import fsum
from typing import Literal

from evaluation_assets.core.suites.answers import LONGEST_ALIKE, is_not_found
from evaluation_assets.core.suites.call_metrics import keyword_score, reaches
from evaluation_assets.core.suites.call_schemas import defects
from evaluation_assets.core.suites.calls import Call, same_tool
from evaluation_assets.core.suites.suite import Case, ExpectedCall, ReferenceAnswer, Suite
from evaluation_assets.core.suites.tool_definition import ToolDefinition
from evaluation_assets.core.system.by_key import by_key
from evaluation_assets.core.text.counted import counted
from evaluation_assets.core.text.unspaced import UNSPACED

WeaknessKind = Literal[
    "few_cases",
    "contradicting_cases",
    "repeated_case",
    "answer_in_task",
    "keywords_in_task",
    "soft_keywords",
    "answer_form",
    "unstable_answer",
    "unused_tool",
    "unknown_tool",
    "call_against_schema",
    "always_calls",
    "same_length",
    "uncovered_tools",
    "uncovered_length",
    "uncovered_categories",
]

FEW = 20
"""Cases; with fewer, one case more or less that passes moves the pass rate by over five percent points."""

_SHORTEST_ANSWER = 3
"""Characters of an answer that is searched for in the task: shorter ones occur by chance."""

_SHORT_WORD = re.compile(rf"[{UNSPACED}]{{2,}}")
"""Two characters are a word in scripts without spaces."""

_MOMENT = re.compile(
    r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}|\d{4}年\d{1,2}月\d{1,2}日"
    r"|(?:\d{1,2}(?:st|nd|rd|th|\.)? (?:of )?)?(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
    r"(?: \d{1,2}(?:st|nd|rd|th)?)?(?:,? \d{4})?(?<=\d)"
    r"|\d{1,2}(?::\d{2}){1,2}(?: ?[ap]\.?m\.?)?|\d{1,2} ?[ap]\.?m\.?",
    re.IGNORECASE,
)
"""A date or a time of day, which may be written in other ways."""

_FORM = re.compile(r"\bform|\biso\b|\byyyy|\b[dm]{2}\b|\bh{1,2}:?mm|\b(?:12|24)[- ]?h|格式|形式|형식", re.IGNORECASE)
"""How a task says in which form to answer."""

_SPACE = re.compile(r"\s+")
_MANY_DIGITS = re.compile(r"[+-]?\d*\.\d{3,}")


@dataclass(frozen=True, slots=True)
class Weakness:
    """One weakness of a suite, and the cases that have it; none where it is about the whole suite."""

    kind: WeaknessKind
    cases: tuple[str, ...]
    detail: str


def weaknesses(suite: Suite) -> list[Weakness]:
    """The weaknesses of a suite: those of single cases first."""
    return [*_of_pairs(suite), *_of_cases(suite), *_of_keywords(suite), *_of_tools(suite), *_of_coverage(suite)]


def _of_pairs(suite: Suite) -> Iterator[Weakness]:
    by_prompt = by_key((_plain(case.prompt), case) for case in suite.cases)
    for same in by_prompt.values():
        ids = tuple(case.id for case in same)
        if len({_expected(case) for case in same}) > 1:
            yield Weakness("contradicting_cases", ids, "the same task with different expectations")
        elif len(same) > 1:
            yield Weakness("repeated_case", ids, "the same task and expectations")


def _expected(case: Case) -> str:
    return case.model_dump_json(exclude={"id", "message", "messages", "category", "tags"})


def _of_cases(suite: Suite) -> Iterator[Weakness]:
    for case in suite.cases:
        if case.answer is not None:
            answer = case.answer.value.strip()
            is_word = len(answer) >= _SHORTEST_ANSWER or _SHORT_WORD.fullmatch(answer)
            if is_word and not is_not_found(answer) and _has_word(case.prompt, answer):
                yield Weakness("answer_in_task", (case.id,), f"the task contains its answer, {answer!r}")
            if (lack := _lack_of_form(case.answer, case.prompt)) is not None:
                yield Weakness("answer_form", (case.id,), lack)
        elif case.keywords and not keyword_score(case.keywords, case.prompt)[1]:
            words = ", ".join(case.keywords)
            yield Weakness("keywords_in_task", (case.id,), f"repeating the task gives all keywords: {words}")


def _of_keywords(suite: Suite) -> Iterator[Weakness]:
    """Cases with calls that a run passes without a keyword: they weigh too little to fall below `min_score`."""
    share = suite.weights.get("content", 0.0) / fsum(suite.weights.values())
    soft = tuple(case.id for case in suite.cases if case.keywords and case.answer is None and case.expected_calls)
    if soft and reaches(1.0 - share, suite.min_score):
        weighed = f"they are {share:.2g} of the score, and min_score is {suite.min_score:.2g}"
        yield Weakness("soft_keywords", soft, f"missing keywords fail no run: {weighed}; a wrong `answer` does")


def _lack_of_form(answer: ReferenceAnswer, task: str) -> str | None:
    """Why right answers may be written otherwise."""
    if len(answer.value) > LONGEST_ALIKE:
        return f"its answer of {len(answer.value)} characters has to be given in these words; keywords do not"
    if answer.tolerance is None and _MANY_DIGITS.fullmatch(answer.value.strip()):
        return f"its answer {answer.value.strip()} has to be given with all digits; give a tolerance"
    if _MOMENT.fullmatch(answer.value.strip()) and not (_FORM.search(task) or _MOMENT.search(task)):
        return f"its answer {answer.value.strip()} may be written in other ways; name the form in the task"
    return None


def _has_word(text: str, word: str) -> bool:
    letter = rf"[^\W{UNSPACED}]"
    return re.search(rf"(?<!{letter}){re.escape(_plain(word))}(?!{letter})", _plain(text)) is not None


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip().casefold()


def _of_tools(suite: Suite) -> Iterator[Weakness]:
    needed: list[str] = []
    for case in suite.cases:
        needed += [call.tool for call in case.expected_calls]
        given = suite.tools_of(case)
        if given is None:
            continue
        for call in case.expected_calls:
            yield from _of_call(case, call, given)
    for tool in suite.tools or ():
        if suite.cases and not any(same_tool(tool.name, name) for name in needed):
            yield Weakness("unused_tool", (), f"no case expects a call of {tool.name}")


def _of_call(case: Case, call: ExpectedCall, given: tuple[ToolDefinition, ...]) -> Iterator[Weakness]:
    """An expected call that an agent cannot make, or not without breaking the tool's definition."""
    values = {name: rule.accepted[0] for name, rule in call.parameters.items() if rule.accepted and not rule.optional}
    for defect in defects(Call(call.tool, values), [tool.tool for tool in given]):
        if defect.kind == "unknown_tool":
            yield Weakness("unknown_tool", (case.id,), f"{call.tool} is expected and not among the tools")
        elif defect.kind not in ("missing_required", "not_checked"):
            about = f"{call.tool}, {defect.parameter}" if defect.parameter else call.tool
            yield Weakness("call_against_schema", (case.id,), f"{about}: {defect.detail}")


def _of_coverage(suite: Suite) -> Iterator[Weakness]:
    if len(suite.cases) < FEW:
        yield Weakness("few_cases", (), f"{counted(len(suite.cases), 'case')}; {FEW} or more measure better")
    expecting = [len(case.expected_calls) for case in suite.cases if case.expected_calls]
    if expecting and len(expecting) == len(suite.cases):
        yield Weakness("always_calls", (), "every case expects a call: calls that are not needed go unnoticed")
    if len(expecting) > 1 and len(set(expecting)) == 1:
        yield Weakness("same_length", (), f"every case with calls expects {counted(expecting[0], 'call')}")


def coverage(suite: Suite) -> dict[str, dict[str, int]]:
    """How many cases there are by category, by number of expected calls, and by expected tool."""
    tools = Counter(name for case in suite.cases for name in {call.tool for call in case.expected_calls})
    numbers = Counter(len(case.expected_calls) for case in suite.cases)
    return {
        "category": dict(Counter(case.category or "none" for case in suite.cases)),
        "expected calls": {str(calls): cases for calls, cases in sorted(numbers.items())},
        "tool": dict(sorted(tools.items(), key=lambda tool: (-tool[1], tool[0]))),
    }

"""What recorded runs say of a suite: answers that passing runs do not give, and what agents do that no case covers."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation_assets.core.suites.answers import RIGHT, compare_answer
from evaluation_assets.core.suites.calls import same_tool
from evaluation_assets.core.suites.case_results import CaseIndex
from evaluation_assets.core.suites.suite import Case, Suite
from evaluation_assets.core.suites.weaknesses import Weakness
from evaluation_assets.core.text.counted import counted, first_of

_NAMED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """A run at any task. `tools` are those that it called, once for each call.

    `category` is that of the test case that it was measured by; `None` without one.
    """

    task_id: str
    task: str
    tools: tuple[str, ...]
    answer: str | None
    has_passed: bool
    category: str | None


def weaknesses_by_runs(suite: Suite, runs: Sequence[RecordedRun]) -> list[Weakness]:
    """What the runs show that the suite does not measure, or measures otherwise than what says that they passed."""
    return [*_unstable(suite, runs), *_uncovered(suite, runs)]


def _unstable(suite: Suite, runs: Sequence[RecordedRun]) -> Iterator[Weakness]:
    index = CaseIndex(suite.cases)
    passing: dict[str, list[RecordedRun]] = defaultdict(list)
    for run in runs:
        if run.has_passed and (case := index.find(run.task_id, run.task)) is not None:
            passing[case.id].append(run)
    for case in suite.cases:
        if (others := _with_another_answer(case, passing[case.id])) and case.answer is not None:
            of_runs = f"{others} of {counted(len(passing[case.id]), 'passing run')}"
            yield Weakness("unstable_answer", (case.id,), f"another answer than {case.answer.value!r} in {of_runs}")


def _with_another_answer(case: Case, runs: Sequence[RecordedRun]) -> int:
    return sum(case.answer is not None and compare_answer(case.answer, run.answer) not in RIGHT for run in runs)


def _uncovered(suite: Suite, runs: Sequence[RecordedRun]) -> Iterator[Weakness]:
    expected = {call.tool for case in suite.cases for call in case.expected_calls}
    if expected:
        called = Counter(tool for run in runs for tool in set(run.tools))
        if others := [tool for tool, _ in called.most_common() if not any(same_tool(each, tool) for each in expected)]:
            yield Weakness("uncovered_tools", (), f"runs call {first_of(others, _NAMED)}, which no case expects")
        longest = max(len(case.expected_calls) for case in suite.cases)
        if longer := sum(len(run.tools) > longest for run in runs):
            most = f"more than {counted(longest, 'call')}, the most that a case expects"
            yield Weakness("uncovered_length", (), f"{longer} of {counted(len(runs), 'run')} make {most}")
    known = {case.category for case in suite.cases}
    categories = Counter(run.category for run in runs if run.category is not None and run.category not in known)
    if categories:
        named = first_of([name for name, _ in categories.most_common()], _NAMED)
        yield Weakness("uncovered_categories", (), f"runs are of {named}, and no case is")

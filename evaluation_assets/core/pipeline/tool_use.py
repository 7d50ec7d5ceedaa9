"""Results of tool use: every run of a drop measured by its case of a suite, and what the issues have in common."""

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation_assets.core.intake.facts import DropFacts, SuiteFacts
from evaluation_assets.core.lake.stored import Stored, Stream
from evaluation_assets.core.lake.tables import FAILURE_PATTERNS, TOOL_USE_RESULTS
from evaluation_assets.core.suites.calls import run_of
from evaluation_assets.core.suites.case_results import CaseIndex, evaluate
from evaluation_assets.core.suites.failure_patterns import failure_patterns
from evaluation_assets.core.suites.formats.registry import LoadedSuite, find_suite, load_suite
from evaluation_assets.core.suites.suite import InvalidSuite
from evaluation_assets.core.suites.tool_use_rows import case_without_run, failure_pattern_row, tool_use_row
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.text.nullable import mean_of
from evaluation_assets.core.traces.trajectories.trajectory_rows import Row, trajectory_of

_NAMED = 20
"""Cases and trajectories that are named in the metadata."""


def suite_of(home: Installation, name: str | None) -> LoadedSuite | None:
    """The suite that a drop names; `None` where it names none, or none of the installation.

    Raises:
        InvalidSuite: the suite cannot be used.
    """
    path = None if name is None else find_suite(home.suites, name)
    return None if path is None else load_suite(path)


class MeasuredRuns:
    """The runs of a drop, measured by the cases of its suite.

    Args:
        drop: key of the drop.
        suite_name: as the drop's sidecar has it.
        loaded: the suite.
        min_pass_rate: share of the runs that has to pass.
    """

    def __init__(self, drop: str, suite_name: str, loaded: LoadedSuite, min_pass_rate: float) -> None:
        self._drop = drop
        self._name = suite_name
        self._loaded = loaded
        self._min_pass_rate = min_pass_rate
        self._passed: list[bool] = []
        self._failed: list[str] = []
        self._scores: list[float | None] = []
        self._without_case: list[str] = []
        self._not_run: list[str] = []

    def measured(self, trajectories: Stored) -> Iterator[Row]:
        """Rows of `tool_use_results`: one a trajectory that has a case, and one for every case without a run."""
        suite = self._loaded.suite
        index = CaseIndex(suite.cases)
        seen: set[str] = set()
        for row in trajectories.rows(["trajectory", "text"]):
            trajectory = trajectory_of(row)
            case = index.find(trajectory.task_id, trajectory.task)
            if case is None:
                self._without_case.append(trajectory.id)
                continue
            seen.add(case.id)
            result = evaluate(case, run_of(trajectory), suite)
            if result.passed is None:
                self._failed.append(trajectory.id)
            else:
                self._passed.append(result.passed)
                self._scores.append(result.score)
            yield tool_use_row(self._drop, self._name, case, trajectory, result)
        for case in suite.cases:
            if case.id not in seen:
                self._not_run.append(case.id)
                yield case_without_run(self._drop, self._name, case)

    def facts(self) -> SuiteFacts:
        """What is kept with the results, once all rows have passed."""
        suite = self._loaded.suite
        return SuiteFacts(
            suite=self._name,
            suite_version=self._loaded.version,
            min_pass_rate=self._min_pass_rate,
            weights={part: weight for part, weight in suite.weights.items()},  # noqa: C416  (names of parts as texts)
            incomplete=tuple(f"{task.place}, {task.task}: {task.reason}" for task in self._loaded.incomplete),
            without_case=tuple(self._without_case),
        )

    def metadata(self) -> Mapping[str, Any]:
        """The figures over all runs, once all rows have passed."""
        passed = self._passed
        figures = {"pass_rate": sum(passed) / len(passed) if passed else None, "mean_score": mean_of(self._scores)}
        return {
            "suite": self._name,
            "suite_version": self._loaded.version,
            "suite_format": self._loaded.format,
            "cases": len(self._loaded.suite.cases),
            "runs": len(passed),
            "passed": sum(passed),
            "failed_without_the_agent": len(self._failed),
            "cases_without_run": len(self._not_run),
            "trajectories_without_case": len(self._without_case),
            "incomplete_tasks": len(self._loaded.incomplete),
            "first_without_run": ", ".join(self._not_run[:_NAMED]),
            "first_without_case": ", ".join(self._without_case[:_NAMED]),
            **{figure: value for figure, value in figures.items() if value is not None},
        }


def measured_runs(home: Installation, drop: str, raw: Stored, min_pass_rates: Mapping[str, float]) -> Stream:
    """`tool_use_results` of a drop; empty, with a note, where it has no suite or one that cannot be used.

    All trajectories of `raw` are measured, also those that rules keep from the judges: a loop is a way to fail a case.
    """
    named = DropFacts.of(raw).sidecar.suite
    try:
        loaded = suite_of(home, named)
    except InvalidSuite as problem:
        note = {"note": f"The suite cannot be used: {problem}"}
        return Stream.of(TOOL_USE_RESULTS, (), lambda: note, SuiteFacts(problem=str(problem)).footer)
    if loaded is None or named is None:
        why = "names no suite" if named is None else f"names {named!r}, which is not in suites/"
        return Stream.of(TOOL_USE_RESULTS, (), lambda: {"note": f"No suite: the drop {why}."})
    runs = MeasuredRuns(drop, named, loaded, min_pass_rates.get(named, loaded.suite.min_pass_rate))
    return Stream.of(TOOL_USE_RESULTS, runs.measured(raw), runs.metadata, lambda: runs.facts().footer())


def patterns_of(drop: str, results: Stored) -> Stream:
    """`failure_patterns` of a drop: the classes of issues in `tool_use_results`."""
    suite = SuiteFacts.of(results).suite or ""
    patterns = failure_patterns(results.rows(["case_id", "passed", "issues"]))
    return Stream.of(
        FAILURE_PATTERNS,
        (failure_pattern_row(drop, suite, pattern) for pattern in patterns),
        lambda: {"suite": suite or "none", **{each.failure_class: each.runs for each in patterns}},
        SuiteFacts(suite=suite or None).footer,
    )

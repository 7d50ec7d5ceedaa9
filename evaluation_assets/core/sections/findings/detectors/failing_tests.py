"""[failing_tests] The last run of tests failed.

Tests that failed before the agent changed anything, or while its changes were taken back, say little of its work,
unless a user names them. Where users speak of tests, it may have been asked to mend those that failed at first.
"""

from collections.abc import Iterator

from evaluation_assets.core.sections.coding_work.test_runs import TestRun, failed_tests
from evaluation_assets.core.sections.findings.detector import Detected, Detector, in_step
from evaluation_assets.core.sections.findings.evidence.course import Course
from evaluation_assets.core.sections.findings.evidence.cues import cues
from evaluation_assets.core.traces.trajectories.model import Span


def _detect(course: Course) -> Iterator[Detected]:
    last = next((run for run in reversed(course.test_runs) if run.work != "aside"), None)
    if last is None or last.result != "failing":
        return
    made = course.calls[last.position]
    failed = failed_tests(made.result)
    span = made.span_in_result(*_without_rules(made.result, *failed[0][1])) if failed else made.result_span
    severity = "LOW" if _failed_before(course, last, {name for name, _ in failed}) else None
    yield in_step("failing_tests", made, span, severity)


def _without_rules(output: str, start: int, end: int) -> Span:
    """A line of an output without the rules that runners draw around the name of a test."""
    line = output[start:end]
    return end - len(line.lstrip("_= ")), start + len(line.rstrip("_= "))


def _failed_before(course: Course, last: TestRun, names: set[str]) -> bool:
    asked = "\n".join((course.trajectory.task, *(turn.user_message or "" for turn in course.trajectory.turns)))
    of_tests = cues("about_tests").matches(asked)
    before = {
        name
        for run in course.test_runs
        if run is not last and (run.work == "aside" or (run.work == "none" and not of_tests))
        for name, _ in failed_tests(course.calls[run.position].result)
    }
    return bool(names) and names <= before and not any(name in asked for name in names)


DETECTOR = Detector(name="failing_tests", version="2", kinds=("failing_tests",), detect=_detect)

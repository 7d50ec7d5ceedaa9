"""Detectors take time in proportion to the run. Lines of Python that are executed are counted, not seconds."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import orjson
import pytest

from evaluation_assets.core.sections.findings.detector import Detector
from evaluation_assets.core.sections.findings.detectors.claims import DETECTOR as CLAIMS
from evaluation_assets.core.sections.findings.detectors.registry import DETECTORS
from evaluation_assets.core.sections.findings.evidence.course import Course
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.sections.findings.finding import asked, run
from evaluation_assets_tests.core.sections.sessions.making import call


def of_many_turns(size: int) -> Trajectory:
    """Calls and claims about orders, of which every third is another; each call has parameters of its own."""
    return run(
        *(
            asked(
                f"Cancel W{number}0000.",
                call("get_order", f'{{"total": {number}.5}}', id=f"W{number + (number % 3 == 0)}0000"),
                call("cancel_order", **{f"field_{number}": "x"}),
                call("exchange", error="locked", id=f"X{number}Y"),
                answer=f"I have cancelled W{number}0000 for ${number}7.",
            )
            for number in range(1000, 1000 + size)
        )
    )


def of_long_texts(size: int) -> Trajectory:
    """One message that lists, adds and names, and one call, with many values that nobody gave."""
    numbers = range(1000, 1000 + size)
    lists = "\n".join(f"- I have cancelled W{number}0000:" for number in numbers)
    sums = " + ".join(f"{number}7.31" for number in numbers)
    names = " ".join(f"and Anna{'abcdefghij'[number % 10] * (number % 20)} Meyer" for number in numbers)
    values = {f"é{number}": f"Z{number}é Q{number}" for number in numbers}
    named = " ".join(f"{'ab'[number % 2] * (number % 30)}{number}" for number in numbers)
    return run(
        asked(
            f"Cancel them: {named}",
            call("get_order", "found", id="W1"),
            call("exchange", values=orjson.dumps(values).decode(), **values),
            answer=f"{lists}\n\n{sums}\n\n{names}",
        )
    )


def of_failing_tests(size: int) -> Trajectory:
    """Tests that fail once, and claims that they pass after each call since; and one long list of such claims."""
    failed = call("bash", "1 failed, 3 passed", command="pytest -q | tail -1")
    claims = [
        asked("Go on.", call("bash", "ok", command=f"ls {1000 + number}"), answer="Tests pass.")
        for number in range(size)
    ]
    return run(asked("Mend it.", failed), *claims, asked("And?", answer="- All tests pass\n" * size))


def work(detector: Detector, trajectory: Trajectory) -> int:
    """How many lines of Python are executed, each turn of a loop counted."""
    counted = 0
    for each in (of_many_turns(20), of_failing_tests(20)):  # reads cues, once in a process
        list(detector.findings(Course(each)))

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal counted
        counted += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for _ in detector.findings(Course(trajectory)):
            pass
    finally:
        sys.settrace(before)
    return counted


@pytest.mark.parametrize("shape", [of_many_turns, of_long_texts, of_failing_tests])
@pytest.mark.parametrize("detector", DETECTORS, ids=[detector.name for detector in DETECTORS])
def test_four_times_the_run_takes_four_times_the_work(detector: Detector, shape: Callable[[int], Trajectory]) -> None:
    assert work(detector, shape(400)) < 4.4 * work(detector, shape(100))


@pytest.mark.slow
def test_a_run_with_twenty_thousand_calls_takes_four_times_the_work_of_one_with_five_thousand() -> None:
    assert work(CLAIMS, of_many_turns(20_000)) < 4.4 * work(CLAIMS, of_many_turns(5_000))

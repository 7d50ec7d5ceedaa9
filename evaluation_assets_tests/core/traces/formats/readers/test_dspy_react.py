"""Predictions of DSPy's ReAct, as `dspy/predict/react.py` builds their trajectories."""

from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.test_import_report import summary_of

FIXTURE = FIXTURES / "dspy_react" / "predictions.jsonl"


def test_numbered_steps_are_thoughts_and_calls_with_their_observations() -> None:
    run, _ = trajectories(FIXTURE)
    check(run)
    first, second, last = run.calls
    assert [(name, arguments) for name, arguments, _ in calls_of(run)] == [
        ("look_up", {"topic": "rooms"}),
        ("look_up", {"topic": "hotel"}),
        ("finish", {}),
    ]
    assert [run.piece(step.thought) for step in (first, second, last)] == [
        "I look it up.",
        "Another name.",
        "I know it.",
    ]
    assert first.result is not None and first.result.error == "Execution error in look_up:"
    assert second.result is not None and second.result.error is None
    assert (run.task, run.final_answer) == ("How many rooms does the hotel have?", "12")


def test_a_trajectory_may_begin_after_its_first_steps() -> None:
    _, run = trajectories(FIXTURE)
    assert calls_of(run) == [("cancel", {"booking": "B-7"}, "cancelled"), ("finish", {}, "Completed.")]
    assert (run.task, run.final_answer) == ("Cancel my booking.", "Booking B-7 is cancelled.")
    assert summary_of(FIXTURE).sentence == "complete"

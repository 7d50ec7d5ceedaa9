"""Tasks of the Agent2Agent protocol, alone and as events."""

from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, trajectories


def test_events_of_a_task_are_one_run() -> None:
    (run,) = trajectories(FIXTURES / "a2a" / "events.jsonl")
    assert (run.format, run.id, run.task) == ("a2a", "t-1", "What is the weather in Oslo?")
    assert run.final_answer == "Clear sky."
    assert calls_of(run) == [("weather", {"city": "Oslo"}, '{\n  "sky": "clear"\n}')]


def test_a_task_that_failed_has_the_last_words_of_its_agent_and_no_outcome() -> None:
    (run,) = trajectories(FIXTURES / "a2a" / "task.json")
    assert (run.id, run.task, run.success) == ("t-2", "Book a table.", None)
    assert "The service is down." in run.text
    assert run.extra["termination_reason"] == "failed"

"""Runs of OSWorld."""

from pathlib import Path

import orjson

from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, trajectories

TASK = FIXTURES / "osworld" / "os" / "task-7"
STEPS = TASK / "traj.jsonl"


def _steps(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "traj.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    return path


def test_a_file_is_a_run_with_the_score_beside_it() -> None:
    (run,) = trajectories(FIXTURES / "osworld")
    assert [action for action, _ in calls_and_errors(run)] == [
        '{"code":"pyautogui.click(10,20)"}',
        '{"code":"pyautogui.write(\'ls\')"}',
        '{"key":"enter"}',
        "",
    ]
    assert (run.task_id, run.success, run.labels) == ("task-7", True, {"score": 1.0})
    assert (run.final_answer, run.flags, run.started_at) == ("It is done.", (), "2026-03-02T10:00:05")
    assert run.text.count("I open the terminal.") == 1
    assert summary_of(STEPS).trust == "complete"


def test_a_run_that_did_not_end_was_cut_off_or_failed(tmp_path: Path) -> None:
    first, *_ = map(orjson.loads, STEPS.read_bytes().splitlines())
    (run,) = trajectories(_steps(tmp_path, first))
    assert (run.flags, run.success) == (("step_limit", "no_answer"), None)
    (run,) = trajectories(_steps(tmp_path, first, {"Error": "Time limit exceeded in os/task-7"}))
    assert (run.flags, run.extra["error"]) == (("no_answer", "failed"), "Time limit exceeded in os/task-7")


def test_a_run_that_was_repeated_is_another_one_and_a_missing_step_is_stated(tmp_path: Path) -> None:
    steps = list(map(orjson.loads, STEPS.read_bytes().splitlines()))
    assert len(list(trajectories(_steps(tmp_path, *steps, *steps)))) == 2
    del steps[2]
    assert summary_of(_steps(tmp_path, *steps)).trust == "partial"

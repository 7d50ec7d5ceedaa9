"""IDs of tasks as their sources record them: numbers and texts."""

from pathlib import Path

import orjson
import pytest

from evaluation_assets_tests.core.traces.formats.reading import check_is_stored, trajectories

MESSAGES = [{"role": "user", "content": "How many jars?"}, {"role": "assistant", "content": "Twelve."}]


@pytest.mark.parametrize("key", ["task_id", "question_id", "instance_id", "example_id"])
def test_a_number_and_the_same_digits_as_a_text_are_two_tasks(key: str, tmp_path: Path) -> None:
    records = [{key: value, "messages": MESSAGES} for value in (7, "7", 7, "7")]
    (tmp_path / "runs.jsonl").write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    runs = trajectories(tmp_path / "runs.jsonl")
    for run in runs:
        check_is_stored(run)
    assert [(run.task_id, run.trial) for run in runs] == [("7", 0), ("7 (text)", 0), ("7", 1), ("7 (text)", 1)]
    assert {type(name) for run in runs for name in (run.id, run.task_id)} == {str}


@pytest.mark.parametrize("value", [7, "7"])
def test_an_id_alone_is_named_by_its_digits(value: int | str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(orjson.dumps({"task_id": value, "messages": MESSAGES}))
    assert [run.task_id for run in trajectories(tmp_path / "run.json")] == ["7"]


@pytest.mark.parametrize(
    ("key", "is_of_run"),
    [
        ("id", True),
        ("trajectory_id", True),
        ("rolloutId", True),
        ("episode_id", True),
        ("trace_id", True),
        ("run_id", False),
        ("session_id", False),
    ],
)
def test_a_run_has_its_recorded_id_and_not_that_of_an_experiment_or_session(
    key: str, is_of_run: bool, tmp_path: Path
) -> None:
    record = {key: "mine", "task_id": "jars", "messages": MESSAGES}
    (tmp_path / "run.json").write_bytes(orjson.dumps(record))
    assert [run.id for run in trajectories(tmp_path / "run.json")] == ["mine" if is_of_run else "jars"]

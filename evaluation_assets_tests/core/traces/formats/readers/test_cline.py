"""Tasks of Cline, shaped by `src/core/prompts/responses.ts` of cline/cline and by transcripts of its users."""

from pathlib import Path

import orjson
import pytest

from evaluation_assets.core.traces.formats.import_report import ImportReport
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, files_of, trajectories

FIXTURE = FIXTURES / "cline"


@pytest.fixture
def task() -> Trajectory:
    (run,) = trajectories(FIXTURE)
    return run


def test_calls_in_text_and_native_calls_are_read_with_results_and_errors(task: Trajectory) -> None:
    assert calls_of(task) == [
        ("read_file", {"path": "a.py"}, "def f():\n    return 1"),
        (
            "execute_command",
            {"command": "pytest", "requires_approval": "false"},
            "The tool execution failed with the following error:\n<error>\nno terminal\n</error>",
        ),
        ("replace_in_file", {"path": "a.py", "diff": "x"}, "The user denied this operation."),
        ("attempt_completion", {"result": "Nothing was changed."}, "Done"),
        ("attempt_completion", {"result": "I give up."}, None),
    ]
    errors = [step.result and step.result.error for step in task.calls]
    assert errors == [None, "no terminal", "The user denied this operation.", None, None]


def test_what_the_client_adds_is_no_turn(task: Trajectory) -> None:
    assert [turn.user_message for turn in task.turns] == ["Fix the failing test.", "Try again, please."]
    assert "environment_details" not in task.text and "[ERROR]" not in task.text
    assert (task.task, task.final_answer, task.duration_s) == ("Fix the failing test.", "I give up.", 50.0)
    first = next(task.steps)
    assert (task.piece(first.thought), task.piece(first.message)) == ("Look first.", "I look at the file.")


def test_the_reading_is_complete() -> None:
    files, report = files_of(FIXTURE), ImportReport()
    list(report.read(format_of(files), files))
    assert report.summary.sentence == "complete"


def test_arguments_that_roo_code_wraps_are_unwrapped(tmp_path: Path) -> None:
    call = "<list_files>\n<args>\n<path>src</path>\n<recursive>true</recursive>\n</args>\n</list_files>"
    messages = [
        {"role": "user", "content": "<task>List.</task><environment_details>x</environment_details>"},
        {"role": "assistant", "content": call},
    ]
    (tmp_path / "d.json").write_bytes(orjson.dumps(messages))
    (run,) = trajectories(tmp_path / "d.json")
    assert calls_of(run) == [("list_files", {"path": "src", "recursive": "true"}, None)]

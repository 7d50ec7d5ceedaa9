"""Lines of Claude Code that do not name their session."""

from pathlib import Path

from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories


def test_lines_that_name_a_folder_and_no_session_are_one(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "tide.py"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "high = 3"}
    time = "2026-03-01T10:00:00Z"
    path = written(
        tmp_path,
        {"type": "user", "timestamp": time, "message": {"content": "When is high tide?"}, "cwd": "/srv/tide"},
        {"type": "assistant", "timestamp": time, "message": {"content": [{"type": "text", "text": "I look."}, call]}},
        {"type": "user", "timestamp": time, "message": {"content": [result]}},
        {"type": "assistant", "timestamp": time, "message": {"content": [{"type": "text", "text": "At 3."}]}},
    )
    (run,) = trajectories(path)
    assert (run.format, run.task, run.final_answer) == ("claude_code", "When is high tide?", "At 3.")
    assert calls_of(run) == [("Read", {"file_path": "tide.py"}, "high = 3")]
    assert run.piece(run.calls[0].message) == "I look."
    assert summary_of(path).trust == "complete"

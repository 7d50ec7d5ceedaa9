"""Qwen Code sessions. The shapes are those that qwen-code 0.15.10 wrote when it ran against a scripted model server."""

from pathlib import Path

import pytest

from evaluation_assets.core.traces.formats.import_report import ImportReport
from evaluation_assets.core.traces.formats.registry import FORMATS
from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, files_of, trajectories

FIXTURE = FIXTURES / "qwen_code"


@pytest.fixture
def session() -> Trajectory:
    return trajectories(FIXTURE)[0]


def test_calls_are_read_with_their_results(session: Trajectory) -> None:
    called = [(step.call.name, step.result and step.result.error) for step in session.calls if step.call]
    assert called == [
        ("list_directory", None),
        ("run_shell_command", "exit code 1"),
        ("glob", "no such folder"),
        ("glob", None),
        ("agent", None),
    ]


def test_thoughts_of_openai_models_are_in_the_output_tokens(session: Trajectory) -> None:
    first = next(session.steps)
    assert (session.piece(first.thought), session.piece(first.message)) == ("I look first.", "I list.")
    assert first.usage == Usage(input_tokens=101, cached_tokens=0, output_tokens=11)


def test_a_sub_agent_is_read_from_telemetry(session: Trajectory) -> None:
    assert [agent.id for agent in session.agents] == ["qwen-code", "general-purpose"]
    assert session.usage is not None
    assert (session.usage.input_tokens, session.usage.output_tokens) == (416, 47)


def test_a_result_that_telemetry_lacks_is_a_gap() -> None:
    report = ImportReport()
    assert len(list(report.read(FORMATS["qwen_code"], files_of(FIXTURE)))) == 1
    assert report.summary.sentence == "partial: 1 call without a result"


def test_a_line_that_is_repeated_counts_once(session: Trajectory) -> None:
    assert session.text.count("All done.") == 1
    assert (session.task, session.final_answer) == ("Fix the bug.", "All done.")
    assert session.extra == {"session_id": "q1", "cwd": "/repo", "compactions": 1, "active_s": 5.0}


def test_two_sessions_in_a_file_are_two_trajectories(tmp_path: Path) -> None:
    text = (FIXTURE / "q1.jsonl").read_text()
    path = tmp_path / "both.jsonl"
    path.write_text(text + text.replace('"q1"', '"q2"'))
    assert [run.id for run in trajectories(path)] == ["q1", "q2"]

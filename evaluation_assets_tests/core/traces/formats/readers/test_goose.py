"""Goose sessions, shaped by `crates/goose/src/conversation/message.rs` and `tool_result_serde.rs` of block/goose."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.import_report import ImportReport
from evaluation_assets.core.traces.formats.registry import FORMATS
from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, files_of, trajectories

FIXTURE = FIXTURES / "goose"
HEADER, *MESSAGES = [orjson.loads(line) for line in (FIXTURE / "20260301_1.jsonl").read_bytes().splitlines()]


@pytest.fixture
def session() -> Trajectory:
    (run,) = trajectories(FIXTURE)
    return run


def test_calls_are_read_with_results_and_errors(session: Trajectory) -> None:
    assert calls_of(session) == [
        ("developer__shell", {"command": "ls"}, "a.py"),
        ("developer__shell", {"command": "pytest"}, "1 failed"),
        ("developer__text_editor", {"path": "x"}, "-32602: no such file"),
        ("unknown", {}, "-32602: invalid arguments"),
    ]
    errors = [step.result and step.result.error for step in session.calls]
    assert errors == [None, "1 failed", "-32602: no such file", "-32602: invalid arguments"]


def test_what_a_report_needs_is_kept(session: Trajectory) -> None:
    assert (session.task, session.final_answer) == ("Fix the bug.", "Fixed.")
    assert session.usage == Usage(input_tokens=300, output_tokens=30)
    assert session.extra == {"cwd": "/repo", "title": "Fix the bug", "compactions": 1, "active_s": 7.0}


def test_an_export_is_read_like_the_lines(session: Trajectory, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    export = HEADER | {"id": "s1", "name": "Fix the bug", "conversation": MESSAGES, "model_config": {"model_name": "m"}}
    path.write_bytes(orjson.dumps(export, option=orjson.OPT_INDENT_2))
    (run,) = trajectories(path)
    assert (run.id, run.text, run.agents[0].model) == ("s1", session.text, "m")


def test_a_printed_stream_is_read_like_the_lines(session: Trajectory, tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    events = [*({"type": "message", "message": one} for one in MESSAGES), {"type": "complete", "total_tokens": 5}]
    path.write_bytes(b"".join(orjson.dumps(event) + b"\n" for event in events))
    (run,) = trajectories(path)
    assert run.text == session.text


def test_results_of_earlier_versions_have_no_flag(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    result = {"status": "success", "value": [{"type": "text", "text": "a.py"}]}
    old = {"role": "user", "created": 1, "content": [{"type": "toolResponse", "id": "c3", "toolResult": result}]}
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in [MESSAGES[0], MESSAGES[3], old]))
    (run,) = trajectories(path)
    assert calls_of(run) == [("developer__text_editor", {"path": "x"}, "a.py")]


def test_the_reading_is_complete() -> None:
    report = ImportReport()
    assert len(list(report.read(FORMATS["goose"], files_of(FIXTURE)))) == 1
    assert report.summary.sentence == "complete"
    assert report.summary.calls_in_source == 4


def test_the_pieces_of_a_streamed_message_are_one_message(tmp_path: Path) -> None:
    def piece(name: str, **part: Any) -> dict[str, Any]:
        return {"type": "message", "message": {"id": name, "role": "assistant", "content": [part]}}

    call = {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "ls"}}}
    lines = [
        piece("m1", type="thinking", thinking="The ", signature=""),
        piece("m1", type="thinking", thinking="list.", signature="s"),
        piece("m1", type="text", text="I "),
        piece("m1", type="text", text="look."),
        piece("m1", type="toolRequest", id="c1", toolCall=call),
        piece("m2", type="text", text="Do"),
        piece("m2", type="text", text="ne."),
        {"type": "complete", "total_tokens": 12},
    ]
    (tmp_path / "stream.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    (run,) = trajectories(tmp_path / "stream.jsonl")
    (called,) = run.calls
    assert (run.piece(called.thought), run.piece(called.message), run.final_answer) == ("The list.", "I look.", "Done.")


def test_tokens_of_later_versions_are_counted_in_an_object(tmp_path: Path) -> None:
    """entireio/external-agents#74: goose 1.46 exports `accumulated_usage` in place of flat fields."""
    messages = [
        {"role": "user", "created": 1, "content": [{"type": "text", "text": "List it."}]},
        {"role": "assistant", "created": 2, "content": [{"type": "text", "text": "Listed."}]},
    ]
    last = {"input_tokens": 40, "output_tokens": 4, "total_tokens": 44}
    counts = {"cache_read_input_tokens": 70, "cache_write_input_tokens": 10}
    spent = {"input_tokens": 100, "output_tokens": 9, "total_tokens": 109, **counts}
    header = {"id": "s", "working_dir": "/w", "message_count": 2, "usage": last, "accumulated_usage": spent}
    path = tmp_path / "export.json"
    path.write_bytes(orjson.dumps({**header, "accumulated_cost": None, "conversation": messages}))
    (run,) = trajectories(path)
    assert run.usage == Usage(input_tokens=100, cached_tokens=70, cache_write_tokens=10, output_tokens=9)

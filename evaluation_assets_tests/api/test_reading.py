"""`read` gives trajectories as objects, and what could not be read."""

import json
from pathlib import Path

import pytest

import evaluation_assets as ea
from evaluation_assets_tests.conftest import SAMPLE, record


def test_trajectories_are_objects_and_rejected_records_have_reasons() -> None:
    reading = ea.read(SAMPLE)
    assert reading.format == "tagged" and reading.name == "assistants"
    assert len(reading) == len(list(reading)) == 16
    assert isinstance(reading[0], ea.Trajectory) and reading[0].id == "bakery-best-weekday"
    assert reading[0].success is True and len(reading[0].calls) > 0
    (rejected,) = reading.rejected
    assert isinstance(rejected, ea.Rejection) and rejected.source == SAMPLE.name and rejected.line > 0
    assert reading.summary.trajectories == 16
    assert repr(reading) == "Reading('assistants', format='tagged', 16 trajectories, 1 rejected)"


def test_unmapped_fields_are_counted(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi.", "mood": "fine"}]
    (tmp_path / "d.jsonl").write_text(json.dumps({"messages": messages}))
    assert ea.read(tmp_path / "d.jsonl").unmapped_fields == {"messages[].mood": 1}


def test_a_folder_is_read_as_one_drop_on_request(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_bytes(record(f"task-{name}"))
    with pytest.raises(ea.UnusableInput, match=r"holds 2 drops \(a, b\)"):
        ea.read(tmp_path)
    assert [each.task_id for each in ea.read(tmp_path, one_drop=True)] == ["task-a", "task-b"]


def test_what_cannot_be_read_is_explained(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(b'{"a": 1}\n')
    with pytest.raises(ea.UnusableInput):
        ea.read(tmp_path / "d.jsonl")
    with pytest.raises(ea.UnusableInput, match="unknown format 'acme'"):
        ea.read(SAMPLE, format="acme")
    assert ea.read(SAMPLE, format="tagged").format == "tagged"


def test_a_notebook_shows_rejections_escaped(tmp_path: Path) -> None:
    (tmp_path / "<b>.jsonl").write_bytes(record() + b"{broken\n")
    shown = ea.read(tmp_path / "<b>.jsonl")._repr_html_()
    assert "&lt;b&gt;" in shown and "<b>" not in shown
    assert "bad_json" in shown

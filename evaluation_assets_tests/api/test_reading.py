"""`read` gives trajectories as objects, and what could not be read."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import BaseModel

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


_RUNS = [
    {
        "task_id": f"lamp-{number}",
        "success": number == 1,
        "messages": [{"role": "user", "content": "Light"}, {"role": "assistant", "content": f"Lamp {number} is lit."}],
    }
    for number in (1, 2)
]


class _Message(BaseModel):
    role: str
    content: str


def _in_objects() -> Iterator[Any]:
    for run in _RUNS:
        yield {**run, "messages": [_Message(**message) for message in run["messages"]], "score": np.float32(0.5)}


@pytest.mark.parametrize(
    "records",
    [_RUNS, tuple(_RUNS), pd.DataFrame(_RUNS), _in_objects(), pd.DataFrame(_RUNS).set_index("task_id", drop=False)],
    ids=["list", "tuple", "frame", "objects", "indexed"],
)
def test_records_in_memory_are_read_as_those_of_a_file(records: Any, tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text("\n".join(map(json.dumps, _RUNS)))
    of_file, in_memory = ea.read(tmp_path / "runs.jsonl"), ea.read(records)
    assert [(run.task_id, run.success, run.text) for run in in_memory] == [
        (run.task_id, run.success, run.text) for run in of_file
    ]
    assert (in_memory.name, len(in_memory)) == ("runs", 2)


def test_messages_and_one_record_are_one_run() -> None:
    (run,) = ea.read([_RUNS[0]["messages"]])
    assert run.final_answer == "Lamp 1 is lit."
    assert [run.task_id for run in ea.read(_RUNS[1])] == ["lamp-2"]


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([], "there are no records"),
        (["a.jsonl"], "record 1 is of type str; expected a dictionary or a list of messages"),
        ([_RUNS[0], {"task": object()}], "record 2 cannot be written as JSON: Type is not JSON serializable: object"),
        (b"{}", "expected a path or records, got bytes"),
        (7, "expected a path or records, got int"),
    ],
)
def test_what_is_no_record_is_said(records: Any, said: str) -> None:
    with pytest.raises(ea.UnusableInput, match=said):
        ea.read(records)


@dataclass
class _Run:
    messages: list[dict[str, Any]]
    task_id: str


def test_values_of_python_are_those_of_json() -> None:
    known = {"started_at": pd.Timestamp("2026-01-02"), "duration": timedelta(seconds=3), "reward": Decimal(1)}
    frame = pd.DataFrame([{**_RUNS[0], **known, "tags": {"b", "a"}}, {**_RUNS[1], "seed": Decimal("0.5")}])
    first, second = ea.read(frame)
    assert (first.started_at, first.duration_s, first.labels) == ("2026-01-02T00:00:00", 3, {"reward": 1})
    assert (first.extra["tags"], second.started_at, second.extra["seed"]) == (["a", "b"], None, 0.5)
    assert [run.task_id for run in ea.read([_Run(_RUNS[0]["messages"], "of a class")])] == ["of a class"]


def test_the_ids_of_a_data_frame_are_kept() -> None:
    frame = pd.DataFrame(_RUNS).drop(columns="task_id")
    assert [run.task_id for run in ea.read(frame.set_index(pd.Index(["a", "b"], name="task_id")))] == ["a", "b"]
    frame["task_id"] = [7, None]
    assert ea.read(frame)[0].task_id == "7"
    twice = pd.DataFrame([[_RUNS[0]["messages"], "a", "b"]], columns=["messages", "task_id", "task_id"])
    with pytest.raises(ea.UnusableInput, match="two columns are called 'task_id'; rename one"):
        ea.read(twice)


def test_a_text_of_json_is_no_path() -> None:
    with pytest.raises(ea.UnusableInput, match="there is no file or folder at"):
        ea.read(json.dumps(_RUNS[0]) * 20)

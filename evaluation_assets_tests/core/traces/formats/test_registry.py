"""The format of a drop, and the IDs of its trajectories."""

import json
from itertools import product
from pathlib import Path

import orjson
import pytest
from upath import UPath

from evaluation_assets.core.traces.formats.base import DropFile, Rejection, Sample, UnreadableDrop
from evaluation_assets.core.traces.formats.files.samples import sample_of
from evaluation_assets.core.traces.formats.registry import FORMATS, format_of, looks_like, read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.coding_sessions import ClaudeSession, CodexSession
from evaluation_assets_tests.core.making import answer
from evaluation_assets_tests.core.traces.formats.files.stored import saved, trajectories


def test_the_first_readable_records_decide_the_format() -> None:
    path = saved(b"{\n" * 30 + orjson.dumps({"raw_response": "x"}) + b"\n")
    assert sample_of(DropFile(path, "d")).records == ({"raw_response": "x"},)
    assert format_of([DropFile(path, "d")]).name == "tagged"


ASCII = ("a line\n", "a \\path ", "\x01 ", "x", "\x01", "\\", '"')
"""JSON writes them the same, whether it escapes what is not ASCII or not."""


@pytest.mark.parametrize("shift", range(13))
@pytest.mark.parametrize(
    ("piece", "is_escaped"),
    [*product(ASCII, [True]), *product(("线 ", "线", "\U0001f600", "é"), [True, False])],
)
def test_a_first_record_of_megabytes_is_recognised(piece: str, shift: int, is_escaped: bool) -> None:
    text = answer("x" * shift + piece * (1_200_000 // len(piece.encode())))
    line = json.dumps({"task_id": "a", "raw_response": text}, ensure_ascii=is_escaped)
    for name in ("drop.jsonl", "drop.json"):
        assert format_of([DropFile(saved(line.encode(), name), name)]).name == "tagged"


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1" * 30, "9" * 5000])
def test_records_with_numbers_of_python_are_recognised(number: str) -> None:
    line = f'{{"n": {number}, ' + json.dumps({"raw_response": answer("x")})[1:] + "\n"
    for content, name in ((line * 3, "drop.jsonl"), (f"[{line}, {line}]", "drop.json")):
        files = [DropFile(saved(content.encode(), name), name)]
        assert format_of(files).name == "tagged"
        assert all(isinstance(item, Trajectory) for item in read_trajectories(files, UnmappedFields()))


def test_a_drop_no_format_recognises_says_what_is_read() -> None:
    with pytest.raises(UnreadableDrop, match="first record: 'foo'"):
        format_of([DropFile(saved(b'{"foo": 1}\n'), "d")])


def test_an_unknown_format_name_says_which_there_are() -> None:
    with pytest.raises(UnreadableDrop, match="tagged"):
        format_of([DropFile(saved(b""), "d")], "nope")


def test_repeated_tasks_get_trials_and_ids_of_their_own() -> None:
    line = orjson.dumps({"task_id": "t", "raw_response": answer("a")}) + b"\n"
    one, two = saved(line * 2, "one.jsonl"), saved(line, "two.jsonl")
    runs = trajectories(one, two)
    assert [(run.id, run.task_id, run.trial) for run in runs] == [("t", "t", 0), ("t#1", "t", 1), ("t#2", "t", 2)]


def test_ids_stay_unique_where_a_task_is_called_like_a_trial() -> None:
    names = ["t#1", "t", "t", "t#1", "t"]
    content = b"".join(orjson.dumps({"task_id": name, "raw_response": answer("a")}) + b"\n" for name in names)
    runs = [
        run
        for run in read_trajectories([DropFile(saved(content), "d")], UnmappedFields())
        if not isinstance(run, Rejection)
    ]
    assert len({run.id for run in runs}) == len(names)
    assert [run.task_id for run in runs] == names


@pytest.mark.parametrize("name", FORMATS)
def test_detection_survives_fields_of_any_type(name: str) -> None:
    fields = ("type", "role", "kind", "part_kind", "object", "event", "status", "payload", "data", "id", "messages")
    more = ("observations", "startTime", "traceId", "span_data", "source", "content", "parts", "run_type", "inputs")
    for value in ([], {}, [[]], [{}], [{"type": []}], {"type": {}}, 1, None, "x"):
        record = dict.fromkeys((*fields, *more), value)
        FORMATS[name].detect(Sample((record, record | {"id": "1", "traceId": "1", "type": []}, [record], value), "x"))


def test_a_file_in_the_format_of_another_drop_says_in_which_and_what_to_do(tmp_path: Path) -> None:
    texts = {"a": ClaudeSession().user("Go.").says("Done."), "b": CodexSession().user("Go.").says("Done.")}
    for name, session in texts.items():
        (tmp_path / f"{name}.jsonl").write_text(session.text(), "utf-8")
    (tmp_path / "c.jsonl").write_text('{"x": 1}\n')
    files = [DropFile(UPath(tmp_path / f"{name}.jsonl"), f"{name}.jsonl") for name in "abc"]
    read = list(read_trajectories(files, UnmappedFields()))
    assert {item.source: item.detail for item in read if isinstance(item, Rejection)} == {
        "b.jsonl": "the file is not in format claude_code, but in codex; evaluate such files as a drop of their own",
        "c.jsonl": "the file is not in format claude_code",
    }


_MESSAGES = [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": "There."}]


def test_a_first_record_is_recognised_by_a_field_behind_its_first_megabyte(tmp_path: Path) -> None:
    late = {"metadata": "y " * 700_000, "messages": _MESSAGES}
    for content, name in (
        (f"{json.dumps(late)}\n", "late.jsonl"),
        (json.dumps({"runs": [late]}, indent=1), "runs.json"),
    ):
        (tmp_path / name).write_text(content)
    for name in ("late.jsonl", "runs.json"):
        files = [DropFile(UPath(tmp_path / name), name)]
        known = format_of(files)
        assert looks_like(known, files)
        assert [isinstance(item, Trajectory) for item in read_trajectories(files, UnmappedFields())] == [True]


def test_in_a_folder_too_a_first_record_is_recognised_by_a_late_field(tmp_path: Path) -> None:
    records = {
        "early.jsonl": {"messages": _MESSAGES},
        "late.jsonl": {"metadata": "y " * 700_000, "messages": _MESSAGES},
    }
    for name, record in records.items():
        (tmp_path / name).write_text(f"{json.dumps(record)}\n")
    files = [DropFile(UPath(tmp_path / name), name) for name in records]
    assert [isinstance(item, Trajectory) for item in read_trajectories(files, UnmappedFields())] == [True, True]

"""A drop as rows: whatever its records hold, each becomes a trajectory or a rejection that can be written."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.intake.clips.tool_types import load_tool_types
from evaluation_assets.core.intake.drops import Drop, scan
from evaluation_assets.core.intake.preprocessing.rules import Settings
from evaluation_assets.core.lake.spool import Spool
from evaluation_assets.core.lake.stored import Stored, Stream, batched, write
from evaluation_assets.core.lake.tables import (
    CLIPS,
    IMAGES,
    PREPROCESSED_TRAJECTORIES,
    RAW_TRAJECTORIES,
    REJECTED_RECORDS,
    UNREADABLE_RECORDS,
)
from evaluation_assets.core.pipeline.preprocessing import PreprocessedDrop
from evaluation_assets.core.pipeline.reading import ReadDrop
from evaluation_assets.core.pipeline.segmentation import Segmentation
from evaluation_assets.core.traces.formats.base import UnreadableDrop

TEXT = '<think>plan</think><microsandbox>{"code": "1"}</microsandbox><result>2</result><answer>4</answer>'
Rows = list[dict[str, Any]]


def drop_of(folder: Path, content: bytes) -> Drop:
    (folder / "d.jsonl").write_bytes(content)
    return scan(UPath(folder)).drops["d"]


def lines(*records: object) -> bytes:
    return b"\n".join(json.dumps(record).encode() for record in records)


def good(name: str, text: str = TEXT) -> dict[str, str]:
    return {"task_id": name, "task_description": "How many?", "raw_response": text}


def written(folder: Path, table: Any, batches: Any) -> Stored:
    path = UPath(folder / f"{table.name}.parquet")
    write(path, Stream(table, iter(batches)))
    return Stored(table, path)


def read(folder: Path, content: bytes) -> tuple[Stored, Stored, ReadDrop]:
    """The tables of a drop as they are read back."""
    folder.mkdir(exist_ok=True)
    with Spool(UNREADABLE_RECORDS) as unreadable, Spool(IMAGES) as images:
        whole = ReadDrop(drop_of(folder, content), unreadable, images)
        raw = written(folder, RAW_TRAJECTORIES, batched(whole.trajectories(), RAW_TRAJECTORIES))
        written(folder, IMAGES, images.batches())
        return raw, written(folder, UNREADABLE_RECORDS, unreadable.batches()), whole


def test_a_record_is_a_trajectory_or_a_rejection_with_its_line(tmp_path: Path) -> None:
    content = lines(good("a"), {"raw_response": 5}) + b"\n{broken\n" + lines(good("b"))
    raw, unreadable, whole = read(tmp_path, content)
    assert [row["task_id"] for row in raw.rows()] == ["a", "b"]
    assert [(row["line"], row["stage"]) for row in unreadable.rows()] == [(2, "read"), (3, "read")]
    assert (whole.metadata()["unreadable"], whole.facts.content) == (2, whole.content)


def test_a_drop_that_changes_while_it_is_read_is_not_half_old_and_half_new(tmp_path: Path) -> None:
    with Spool(UNREADABLE_RECORDS) as unreadable:
        whole = ReadDrop(drop_of(tmp_path, lines(good("a"), good("b"))), unreadable, Spool(IMAGES))
        rows = whole.trajectories()
        next(rows)
        (tmp_path / "d.jsonl").write_bytes(lines(good("a"), good("c"), good("d")))
        with pytest.raises(UnreadableDrop, match="changed while it was read"):
            list(rows)


def test_a_drop_that_is_only_touched_is_as_it_was(tmp_path: Path) -> None:
    content = lines(good("a"))
    with Spool(UNREADABLE_RECORDS) as unreadable:
        whole = ReadDrop(drop_of(tmp_path, content), unreadable, Spool(IMAGES))
        (tmp_path / "d.jsonl").write_bytes(content)
        assert len(list(whole.trajectories())) == 1


STRANGE = st.sampled_from(["\udfff", "\ud83d\ude00", "\0", TEXT, f"{TEXT}\ud800"]) | st.text(max_size=5)
NUMBERS = st.sampled_from([-1, 1.5, 10**18, 10**30, 1e300, float("nan"), float("inf"), True])
VALUES = st.recursive(
    st.none() | STRANGE | NUMBERS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(STRANGE, inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    ["task_id", "raw_response", "task_description", "usage", "labels", "messages", "trial", "success"]
)


@given(st.lists(st.dictionaries(FIELDS | STRANGE, VALUES, max_size=3), min_size=1, max_size=5))
@settings(max_examples=40, deadline=None)
def test_any_records_give_rows_that_are_written_and_read_back(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, object]]
) -> None:
    content = lines(good("first"), *(good(str(number)) | each for number, each in enumerate(records)), good("last"))
    raw, unreadable, _ = read(tmp_path_factory.mktemp("any"), content)
    assert raw.count + unreadable.count == len(records) + 2
    ids = [row["trajectory_id"] for row in raw.rows()]
    assert len(set(ids)) == len(ids)
    assert {"first", "last"} <= {row["task_id"] for row in raw.rows()}
    assert sum(1 for _ in unreadable.rows()) == unreadable.count


def test_half_of_an_emoji_in_a_result_costs_no_record(tmp_path: Path) -> None:
    raw, unreadable, _ = read(tmp_path, lines(good("a", TEXT.replace("2", "cut \ud83d"))))
    (row,) = raw.rows()
    assert "<result>cut \ufffd</result>" in row["text"] and unreadable.count == 0


def preprocessed(folder: Path, content: bytes) -> tuple[Stored, Stored, PreprocessedDrop]:
    raw, unreadable, _ = read(folder, content)
    with Spool(REJECTED_RECORDS) as rejected:
        whole = PreprocessedDrop("d", Settings(on_violation="remove"), rejected)
        whole.add_unreadable(unreadable)
        kept = written(folder, PREPROCESSED_TRAJECTORIES, whole.batches(raw))
        return kept, written(folder, REJECTED_RECORDS, rejected.batches()), whole


def test_what_is_kept_and_what_is_taken_out_add_up(tmp_path: Path) -> None:
    loop = TEXT.replace("<answer>4</answer>", "") * 60
    content = (
        lines(good("a"), good("loop", loop)) + b"\n{broken\n" + lines(good("open", "<think>plan<answer>4</answer>"))
    )
    kept, rejected, whole = preprocessed(tmp_path, content)
    figures = whole.metadata()
    assert [row["task_id"] for row in kept.rows()] == ["a", "open"]
    assert sorted(row["stage"] for row in rejected.rows()) == ["preprocess", "read"]
    assert (figures["records_total"], figures["records_kept"], figures["unreadable"]) == (4, 2, 1)
    assert figures["removed_frequency"] + figures["removed_duplicates"] == 1
    assert figures["repaired"] == 1 and next(row for row in kept.rows() if row["task_id"] == "open")["repairs"]


def test_every_trajectory_is_cut_into_clips_that_hold_all_of_its_text(tmp_path: Path) -> None:
    kept, _, _ = preprocessed(tmp_path, lines(good("a"), good("b", "<answer>4</answer>")))
    segmentation = Segmentation("d", load_tool_types())
    clips = written(tmp_path, CLIPS, batched(segmentation.clips(kept), CLIPS))
    rows: Rows = list(clips.rows())
    assert [(row["trajectory_id"], row["clip_index"], row["tool_type"]) for row in rows] == [
        ("a", 0, "microsandbox"),
        ("a", 1, "final"),
        ("b", 0, "final"),
    ]
    assert segmentation.metadata() == {"tool_types": {"final": 2, "microsandbox": 1}}
    for run in kept.rows():
        own = [row for row in rows if row["trajectory_id"] == run["trajectory_id"]]
        assert "".join(run["text"][row["start"] : row["end"]] for row in own) == run["text"]

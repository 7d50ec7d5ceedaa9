"""Tables on disk and in object stores."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.parquet import ParquetFile
from upath import UPath

from evaluation_assets.core.lake import small_files
from evaluation_assets.core.lake.spool import SortedSpool, Spool
from evaluation_assets.core.lake.stored import (
    Aligned,
    DamagedTable,
    SchemaMismatch,
    Stored,
    Stream,
    Unwritable,
    Written,
    batched,
    grouped,
    publish_bytes,
    published,
    revised,
    write,
)
from evaluation_assets.core.lake.tables import PREPROCESSED_TRAJECTORIES, TABLES, Column, Table
from evaluation_assets.core.traces.trajectories.trajectory_rows import trajectory_of, trajectory_row
from evaluation_assets_tests.core.making import answer, call, result, trajectory
from evaluation_assets_tests.small_disks import small_disk

THINGS = Table(
    "things",
    "a thing",
    (
        Column("name", pa.string(), "Its name."),
        Column("size", pa.int64(), "Its size."),
        Column("text", pa.large_string(), "Its text."),
        Column("scores", pa.map_(pa.string(), pa.float64()), "Its scores."),
    ),
)
_numbers = count()


@pytest.fixture(params=["local", "kept in memory", "memory"])
def path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UPath:
    """Where a table is to be, in a folder that does not exist yet."""
    if request.param == "kept in memory":
        monkeypatch.setattr(small_files, "_SETTLED", 0)
    root = UPath(f"memory://lake-{next(_numbers)}") if request.param == "memory" else UPath(tmp_path)
    return root / "things" / "suite" / "drop.parquet"


def thing(name: Any = "a", **other: Any) -> dict[str, Any]:
    return {"name": name, "size": 1, "text": "t", "scores": {"x": 0.5, "y": None}} | other


def save(path: UPath, rows: list[dict[str, Any]], **facts: str) -> Written:
    return write(path, Stream(THINGS, batched(rows, THINGS), facts=lambda: facts))


# Writing and reading


def test_rows_come_back_in_order_with_maps_as_dictionaries(path: UPath) -> None:
    rows = [thing("a"), thing("b", size=None, scores={}), thing("ü🦀", scores=None, text=None)]
    written = save(path, rows)
    assert list(Stored(THINGS, path).rows()) == rows
    assert (written.rows, written.path, written.bytes) == (3, path, path.stat().st_size)
    assert Stored(THINGS, path).count == 3


def test_columns_can_be_chosen(path: UPath) -> None:
    save(path, [thing("a"), thing("b")])
    assert list(Stored(THINGS, path).rows(["name", "scores"])) == [
        {"name": "a", "scores": {"x": 0.5, "y": None}},
        {"name": "b", "scores": {"x": 0.5, "y": None}},
    ]


def test_a_table_of_another_version_has_the_columns_of_this_one(path: UPath) -> None:
    name, _, text, scores = THINGS.columns
    stored_by_another = Table("things", "a thing", (name, text, scores, Column("colour", pa.string(), "Its colour.")))
    row = {"name": "a", "text": "t", "scores": {}, "colour": "red"}
    write(path, Stream(stored_by_another, batched([row], stored_by_another)))
    rows = list(Stored(THINGS, path).rows())
    assert rows == [{"name": "a", "size": None, "text": "t", "scores": {}}]
    assert list(batched(rows, THINGS)) == list(Stored(THINGS, path).batches())
    assert list(Stored(THINGS, path).rows(["size"])) == [{"size": None}]


def test_what_is_kept_in_memory_of_a_file_is_read_once_and_anew_where_it_was_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_files, "_SETTLED", 0)
    opened: list[object] = []
    monkeypatch.setattr(
        small_files.pq, "ParquetFile", lambda *given, **more: opened.append(given) or ParquetFile(*given, **more)
    )
    path = UPath(tmp_path / "things.parquet")
    stored = Stored(THINGS, path)
    for name in ("a", "b"):
        save(path, [thing(name)], by=name)
        for _ in range(3):
            assert (list(stored.rows()), stored.count, stored.facts) == ([thing(name)], 1, {"by": name})
    assert len(opened) == 2
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedTable, match="is damaged"):
        list(stored.rows())


def test_large_files_are_not_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_files, "_SETTLED", 0)
    path = UPath(tmp_path / "things.parquet")
    for text in (os.urandom(40_000).hex(), "a" * 1_000_000):
        save(path, [thing(text=text)])
        assert small_files.small_file(path) is None and Stored(THINGS, path).count == 1


def test_facts_round_trip(path: UPath) -> None:
    save(path, [thing()], content="äbc", stamp="")
    assert Stored(THINGS, path).facts == {"content": "äbc", "stamp": ""}


def test_a_table_without_facts_has_none(path: UPath) -> None:
    save(path, [thing()])
    assert Stored(THINGS, path).facts == {}


def test_an_empty_table_has_its_columns(path: UPath) -> None:
    written = save(path, [], content="x")
    assert (written.rows, written.head) == (0, [])
    assert list(Stored(THINGS, path).rows()) == []
    assert Stored(THINGS, path).facts == {"content": "x"}
    assert Stored(THINGS, path).exists


def test_a_missing_table_reads_as_empty(path: UPath) -> None:
    missing = Stored(THINGS, path)
    assert not missing.exists
    assert (list(missing.rows()), missing.count, missing.facts) == ([], 0, {})


def test_many_rows_keep_their_order(path: UPath) -> None:
    save(path, [thing(str(number), size=number) for number in range(5000)])
    assert [row["size"] for row in Stored(THINGS, path).rows(["size"])] == list(range(5000))


def test_rows_of_megabytes_are_written_in_several_batches() -> None:
    large = "x" * (3 << 20)
    sizes = [batch.num_rows for batch in batched((thing(text=large) for _ in range(7)), THINGS)]
    assert len(sizes) > 1
    assert sum(sizes) == 7


def test_rows_of_megabytes_are_read_a_few_at_a_time(path: UPath) -> None:
    save(path, [thing(text=letter * (3 << 20)) for letter in "abcdefghijklmnopqrst"])
    batches = list(Stored(THINGS, path).batches())
    assert sum(batch.num_rows for batch in batches) == 20
    assert max(batch.nbytes for batch in batches) < 25 << 20


def test_a_trajectory_round_trips(path: UPath) -> None:
    run = trajectory(f"<think>ü</think>{call('1')}{result('2')}<answer>🦀", success=True, extra={"a": [1, None]})
    write(path, Stream(PREPROCESSED_TRAJECTORIES, batched([trajectory_row("d", run)], PREPROCESSED_TRAJECTORIES)))
    (row,) = Stored(PREPROCESSED_TRAJECTORIES, path).rows()
    assert trajectory_of(row) == run
    assert (row["n_tool_calls"], row["success"]) == (1, True)


def test_every_table_of_the_lake_can_be_written_empty(tmp_path: Path) -> None:
    for name, table in TABLES.items():
        path = UPath(tmp_path / f"{name}.parquet")
        write(path, Stream(table, batched([], table)))
        assert Stored(table, path).count == 0 and not list(Stored(table, path).rows())


# Rows of a stored table, revised


def test_rows_are_kept_changed_or_left_out_in_their_order(path: UPath) -> None:
    save(path, [thing(str(number), size=number) for number in range(1000)])

    def revise(row: dict[str, Any]) -> dict[str, Any] | None:
        if row["size"] % 3 == 0:
            return None
        return thing("changed", size=row["size"], scores=None) if row["size"] % 5 == 0 else row

    write(path, Stream(THINGS, revised(Stored(THINGS, path), ["size"], revise, THINGS)))
    assert list(Stored(THINGS, path).rows()) == [
        thing("changed", size=number, scores=None) if number % 5 == 0 else thing(str(number), size=number)
        for number in range(1000)
        if number % 3
    ]


def test_all_rows_can_be_left_out(path: UPath) -> None:
    save(path, [thing()])
    assert not sum(batch.num_rows for batch in revised(Stored(THINGS, path), ["name"], lambda row: None, THINGS))


# The schema is enforced


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ({"name": "a", "size": 1, "text": "t"}, "scores"),
        (thing(stranger=1), "stranger"),
        (thing(size="many"), "things"),
        (thing(size=1.5), "things"),
        (thing(name=5), "things"),
        (thing(scores={"x": "high"}), "things"),
        (thing(text=["t"]), "things"),
    ],
)
def test_rows_that_do_not_fit_are_refused_with_the_difference(path: UPath, row: dict[str, Any], named: str) -> None:
    with pytest.raises(SchemaMismatch, match=named):
        save(path, [thing(), row])
    assert not path.exists()


def test_zero_has_no_sign() -> None:
    table = Table("sizes", "a size", (*THINGS.columns[3:], Column("score", pa.float64(), "Its score.")))
    (batch,) = batched([{"scores": {"x": -0.0, "y": -0.5}, "score": score} for score in (-0.0, None, -0.5)], table)
    assert [str(row["score"]) for row in batch.to_pylist()] == ["0.0", "None", "-0.5"]
    assert str(dict(batch.to_pylist()[0]["scores"])) == "{'x': 0.0, 'y': -0.5}"


def test_batches_of_another_schema_are_refused(path: UPath) -> None:
    other = pa.RecordBatch.from_pylist([{"name": "a"}])
    with pytest.raises(SchemaMismatch, match="things"):
        write(path, Stream(THINGS, iter([other])))
    assert not path.exists()


# A reader sees the old table or the new one


def failing_rows() -> Iterator[dict[str, Any]]:
    yield from (thing(str(number)) for number in range(5000))
    raise RuntimeError("the source broke off")


def test_a_writer_that_fails_leaves_the_old_table(tmp_path: Path) -> None:
    path = UPath(tmp_path / "t" / "drop.parquet")
    save(path, [thing("old")], content="old")
    with pytest.raises(RuntimeError, match="broke off"):
        write(path, Stream(THINGS, batched(failing_rows(), THINGS)))
    assert [row["name"] for row in Stored(THINGS, path).rows()] == ["old"]
    assert [file.name for file in path.parent.iterdir()] == ["drop.parquet"]


def test_a_writer_that_fails_leaves_nothing_half_written_in_an_object_store() -> None:
    path = UPath(f"memory://lake-{next(_numbers)}/drop.parquet")
    save(path, [thing("old")])
    with pytest.raises(RuntimeError, match="broke off"):
        write(path, Stream(THINGS, batched(failing_rows(), THINGS)))
    assert [row["name"] for row in Stored(THINGS, path).rows()] == ["old"]


def test_an_old_table_is_whole_while_the_new_one_is_written(tmp_path: Path) -> None:
    path = UPath(tmp_path / "drop.parquet")
    save(path, [thing("old")])
    seen: list[str] = []

    def rows() -> Iterator[dict[str, Any]]:
        yield thing("new")
        seen.extend(row["name"] for row in Stored(THINGS, path).rows())

    write(path, Stream(THINGS, batched(rows(), THINGS)))
    assert seen == ["old"]
    assert [row["name"] for row in Stored(THINGS, path).rows()] == ["new"]


def test_a_published_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = UPath(tmp_path / "a" / "b.txt")

    with pytest.raises(KeyboardInterrupt), published(path) as sink:
        sink.write(b"half")
        raise KeyboardInterrupt
    assert list(path.parent.iterdir()) == []
    with published(path) as sink:
        sink.write(b"whole")
    assert path.read_bytes() == b"whole"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    """`--output /dev/stdout` replaced the device."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        publish_bytes(UPath(tmp_path / "pipe"), b"whole")
        assert os.read(reader, 10) == b"whole"
        assert (tmp_path / "pipe").is_fifo()
    finally:
        os.close(reader)


# Rows set aside


def spooled(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    with Spool(THINGS) as spool:
        for row in rows:
            spool.add(row)
        assert spool.count == len(rows)
        found = [row for batch in spool.batches() for row in batch.to_pylist()]
    return [row | {"scores": dict(row["scores"])} for row in found]


@given(st.lists(st.text(max_size=20), max_size=20))
def test_spooled_rows_come_back_in_order(names: list[str]) -> None:
    rows = [thing(name, size=position) for position, name in enumerate(names)]
    assert spooled(rows) == rows


def test_a_spool_holds_more_than_its_memory() -> None:
    rows = [thing(str(number), text=str(number) * (1 << 20)) for number in range(24)]
    assert spooled(rows) == rows


def test_a_spool_of_many_small_rows() -> None:
    rows = [thing(str(number), size=number) for number in range(5000)]
    assert spooled(rows) == rows


def test_a_spool_refuses_rows_that_do_not_fit() -> None:
    with Spool(THINGS) as spool:
        spool.add({"name": "a"})
        with pytest.raises(SchemaMismatch):
            list(spool.batches())


@given(st.lists(st.floats(0, 1, exclude_max=True), max_size=50), st.integers(0, 500_000))
def test_sorted_rows_come_back_in_the_order_of_their_places(places: list[float], expected: int) -> None:
    with SortedSpool(THINGS, lambda row: float(row["name"]), expected) as spool:
        for place in places:
            spool.add(thing(repr(place)))
        for _ in range(2):
            assert [float(row["name"]) for row in spool.rows()] == sorted(places)


# Tables side by side


def test_groups_are_runs_of_neighbours() -> None:
    rows = [{"trajectory_id": key, "n": n} for n, key in enumerate("aab")]
    assert [(key, [row["n"] for row in group]) for key, group in grouped(rows)] == [("a", [0, 1]), ("b", [2])]


def test_aligned_groups_may_lack_some_keys() -> None:
    aligned = Aligned([{"trajectory_id": key, "n": n} for n, key in enumerate("bbd")])
    assert [[row["n"] for row in aligned.at(key)] for key in "abcde"] == [[], [0, 1], [], [2], []]


def test_aligned_without_rows_is_empty() -> None:
    assert Aligned([]).at("a") == []


@given(st.sets(st.integers(0, 30)), st.sets(st.integers(0, 30)))
def test_aligned_gives_every_row_whose_key_is_asked(first: set[int], second: set[int]) -> None:
    second &= first
    aligned = Aligned([{"trajectory_id": key} for key in sorted(second) for _ in range(key % 3 + 1)])
    assert {key: len(aligned.at(key)) for key in sorted(first)} == {
        key: key % 3 + 1 if key in second else 0 for key in sorted(first)
    }


def test_answers_are_stored_as_they_are(path: UPath) -> None:
    run = trajectory(answer("line\r\nline\u2028 \x00 end"))
    write(path, Stream(PREPROCESSED_TRAJECTORIES, batched([trajectory_row("d", run)], PREPROCESSED_TRAJECTORIES)))
    (row,) = Stored(PREPROCESSED_TRAJECTORIES, path).rows(["text", "final_answer"])
    assert row == {"text": run.text, "final_answer": "line\r\nline\u2028 \x00 end"}


def test_a_full_disk_of_temporary_files_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last bytes of a spool go through a buffer: which of its writes fails depends on the size of the disk."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    texts = [os.urandom(1 << 18).hex() for _ in range(18)]
    full = 0
    for size in range(9180, 9260, 4):
        with small_disk(tmp_path, f"{size}k"):
            try:
                with Spool(THINGS) as spool:
                    for number, text in enumerate(texts):
                        spool.add({"name": str(number), "size": number, "text": text, "scores": {}})
                    assert sum(batch.num_rows for batch in spool.batches()) == len(texts)
            except Unwritable as problem:
                assert str(tmp_path) in str(problem)
                full += 1
    assert 0 < full < 20, "some of these disks are too small, some are not"


@pytest.mark.parametrize("name", ["file.json", "folder/file.json"])
def test_a_folder_that_takes_no_files_is_named(name: str) -> None:
    place = UPath("/proc") / name
    with pytest.raises(Unwritable, match=f"{place}: it is read-only"):
        publish_bytes(place, b"")


@pytest.mark.parametrize("is_new", [False, True])
def test_a_read_only_disk_is_named(tmp_path: Path, is_new: bool) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, "1m"):
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        path = disk / "folder" / "t.parquet" if is_new else disk / "t.parquet"
        with pytest.raises(OSError, match=rf"^{path}: it is read-only. Make it writable and try again"):
            publish_bytes(UPath(path), b"table")

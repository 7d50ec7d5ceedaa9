"""Records out of files of every kind, and how damaged ones are told."""

import gzip
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.formats.base import DropFile, Format, Record, Rejection, UnreadableDrop
from evaluation_assets.core.formats.files import json_values, opening, records, unpacking
from evaluation_assets.core.formats.files.records import read_items, read_records, read_value
from evaluation_assets.core.formats.files.samples import sample_of
from evaluation_assets.core.formats.isolation import usable
from evaluation_assets.core.formats.readers import inspect_ai
from evaluation_assets.core.formats.readers.tagged import trajectory_of as trajectory_of_tagged
from evaluation_assets.core.formats.registry import format_of, read_by, read_trajectories
from evaluation_assets.core.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.trajectories.model import Trajectory, from_json, to_json
from evaluation_assets_tests.core.making import answer

ROWS = [{"task_id": "a", "n": 1}, {"task_id": "b", "n": 2.5}, {"task_id": "ü", "n": None}]
LINES = b"".join(orjson.dumps(row) + b"\n" for row in ROWS)


def zstd(content: bytes) -> bytes:
    return pa.compress(content, codec="zstd", asbytes=True)


def saved(content: bytes, name: str = "drop.jsonl") -> UPath:
    path = UPath(f"memory://records/{name}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def read(content: bytes, name: str = "drop.jsonl") -> list[Record | Rejection]:
    return list(read_records(DropFile(saved(content, name), name)))


def trajectories(*paths: UPath) -> list[Trajectory]:
    files = [DropFile(path, path.name) for path in paths]
    return [run for run in read_trajectories(files, UnmappedFields()) if not isinstance(run, Rejection)]


def data_of(items: list[Record | Rejection]) -> list[object]:
    assert all(isinstance(item, Record) for item in items)
    return [item.data for item in items if isinstance(item, Record)]


def random_text(size: int) -> str:
    """Text that does not compress well."""
    return Random(1).randbytes(size // 2).hex()


def rejections(items: Sequence[Record | Trajectory | Rejection]) -> list[Rejection]:
    return [item for item in items if isinstance(item, Rejection)]


# Kinds of files


@pytest.mark.parametrize("content", [LINES, LINES.rstrip(b"\n"), LINES.replace(b"\n", b"\r\n")])
def test_json_lines(content: bytes) -> None:
    items = read(content)
    assert data_of(items) == ROWS
    assert [item.line for item in items] == [1, 2, 3]
    assert {item.source for item in items} == {"drop.jsonl"}


@pytest.mark.parametrize("name", ["drop.json", "drop.jsonl", "drop.ndjson"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_array_gives_its_items(name: str, indent: int | None) -> None:
    items = read(json.dumps(ROWS, indent=indent).encode(), name)
    assert data_of(items) == ROWS
    assert [item.line for item in items] == [1, 2, 3]


def test_a_printed_object_is_one_record() -> None:
    assert data_of(read(json.dumps(ROWS[0], indent=2).encode(), "drop.json")) == [ROWS[0]]


def test_an_object_on_one_line_is_one_record() -> None:
    assert data_of(read(json.dumps(ROWS[0]).encode(), "drop.json")) == [ROWS[0]]


def test_json_lines_under_the_name_of_json_are_lines() -> None:
    assert data_of(read(LINES, "drop.json")) == ROWS


def test_parquet_rows_are_records(tmp_path: Path) -> None:
    pq.write_table(
        pa.Table.from_pylist([{"task_id": "a", "deep": {"x": [1, 2]}}, {"task_id": "b", "deep": None}]),
        tmp_path / "d.parquet",
    )
    items = list(read_records(DropFile(UPath(tmp_path / "d.parquet"), "d.parquet")))
    assert data_of(items) == [{"task_id": "a", "deep": {"x": [1, 2]}}, {"task_id": "b", "deep": None}]
    assert [item.line for item in items] == [1, 2]


@pytest.mark.parametrize("content", [LINES, json.dumps(ROWS).encode()])
def test_compressed_files_are_read_as_plain_ones(content: bytes) -> None:
    assert data_of(read(gzip.compress(content), "drop.jsonl.gz")) == ROWS
    assert data_of(read(zstd(content), "drop.jsonl.zst")) == ROWS


def test_compression_is_seen_in_the_bytes_whatever_the_name() -> None:
    assert data_of(read(gzip.compress(LINES), "drop.jsonl")) == ROWS
    assert data_of(read(LINES, "drop.jsonl.gz")) == ROWS


def test_joined_compressed_files_are_read_to_the_end() -> None:
    assert len(read(gzip.compress(LINES) + gzip.compress(LINES), "drop.jsonl.gz")) == 6
    assert len(read(zstd(LINES) + zstd(LINES), "drop.jsonl.zst")) == 6


def test_compressed_parquet_is_read_or_told(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "d.parquet")
    content = gzip.compress((tmp_path / "d.parquet").read_bytes())
    try:
        items = read(content, "d.parquet.gz")
    except UnreadableDrop:
        return
    assert data_of(items) == ROWS


@pytest.mark.parametrize("content", [b"", b"\n\n", b" \t\r\n"])
def test_an_empty_file_has_no_records(content: bytes) -> None:
    assert read(content) == []
    assert read(content, "drop.json") == []


def test_a_byte_order_mark_is_no_part_of_the_first_record() -> None:
    assert data_of(read(b"\xef\xbb\xbf" + LINES)) == ROWS


def test_a_file_that_is_not_there_says_so() -> None:
    with pytest.raises(FileNotFoundError):
        list(read_records(DropFile(UPath("memory://records/absent.jsonl"), "absent.jsonl")))


# Lines that are no JSON


def test_blank_lines_are_no_records_but_count_as_lines() -> None:
    items = read(b"\n" + orjson.dumps(ROWS[0]) + b"\n  \t\n\r\n" + orjson.dumps(ROWS[1]))
    assert [(item.line, item.data) for item in items if isinstance(item, Record)] == [(2, ROWS[0]), (5, ROWS[1])]
    assert rejections(items) == []


def test_a_line_that_is_no_json_is_rejected_and_the_rest_goes_on() -> None:
    items = read(b'{"a": 1}\n{"a": \n{"a": 3}\n')
    assert [type(item) for item in items] == [Record, Rejection, Record]
    (bad,) = rejections(items)
    assert (bad.source, bad.line, bad.reason, bad.raw) == ("drop.jsonl", 2, "bad_json", '{"a": ')
    assert bad.detail


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_no_json_are_missing(number: str) -> None:
    assert data_of(read(f'{{"a": {number}, "b": 1}}'.encode())) == [{"a": None, "b": 1}]


def test_numbers_that_are_no_json_in_an_array_do_not_lose_the_file() -> None:
    items = read(b'[{"a": 1}, {"a": NaN}]', "drop.json")
    assert data_of(items[:1]) == [{"a": 1}]
    assert len(items) == 2


def test_invalid_utf8_is_rejected_and_all_of_it_kept() -> None:
    (bad,) = rejections(read(b'{"a": "\xff\xfe"}\n'))
    assert bad.raw == '{"a": "\\xff\\xfe"}'


def test_nesting_too_deep_is_rejected() -> None:
    items = read(b"[1]\n".replace(b"[1]", b'{"a":' * 100_000 + b"1" + b"}" * 100_000) + b'{"a": 2}\n')
    assert [type(item) for item in items] == [Rejection, Record]


def test_integers_of_any_size_are_read_or_rejected() -> None:
    items = read(b'{"a": 123456789012345678901234567890}\n{"a": 1e999}\n{"a": 2}\n')
    assert [item.line for item in items] == [1, 2, 3]


def test_integers_of_any_size_in_an_array_are_read() -> None:
    assert len(data_of(read(b'[{"a": 123456789012345678901234567890}, {"a": 2}]', "drop.json"))) == 2


def test_parquet_columns_of_any_type_become_trajectories(tmp_path: Path) -> None:
    row = {
        "raw_response": answer("a"),
        "when": datetime(2025, 1, 2, 3, 4, 5),
        "day": date(2025, 1, 2),
        "price": Decimal("1.50"),
        "blob": b"\xff\x00",
        "took": timedelta(seconds=3),
        "nan": float("nan"),
    }
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "d.parquet")
    (run,) = read_trajectories([DropFile(UPath(tmp_path / "d.parquet"), "d.parquet")], UnmappedFields())
    assert isinstance(run, Trajectory)
    assert from_json(to_json(run), run.text).final_answer == "a"


def test_lone_surrogates_are_read_or_rejected() -> None:
    items = read(b'{"a": "\\ud800"}\n{"a": 2}\n')
    assert [item.line for item in items] == [1, 2]


# Files that are damaged


def test_a_cut_gzip_is_unreadable_after_its_records() -> None:
    rows = b"".join(orjson.dumps({"n": n, "x": f"{n * 7919 % 10007}"}) + b"\n" for n in range(2000))
    path = saved(gzip.compress(rows)[:-200], "cut.jsonl.gz")
    with pytest.raises(UnreadableDrop, match=r"folder/cut\.jsonl\.gz"):
        list(read_records(DropFile(path, "folder/cut.jsonl.gz")))


def test_a_cut_zstandard_file_is_unreadable() -> None:
    rows = b"".join(orjson.dumps({"n": n, "x": f"{n * 7919 % 10007}"}) + b"\n" for n in range(2000))
    with pytest.raises(UnreadableDrop):
        read(zstd(rows)[:-200], "cut.jsonl.zst")


@pytest.mark.parametrize("content", [b'[{"a": 1}, {"a": ', b'[{"a": 1} {"a": 2}]', b"[{"])
def test_a_broken_array_is_unreadable(content: bytes) -> None:
    with pytest.raises(UnreadableDrop):
        read(content, "drop.json")


def test_broken_parquet_is_unreadable() -> None:
    with pytest.raises(UnreadableDrop):
        read(b"PAR1" + b"\x00" * 40 + b"PAR1", "d.parquet")


def test_a_cut_parquet_file_is_unreadable(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "d.parquet")
    content = (tmp_path / "d.parquet").read_bytes()
    for kept in (4, 20, len(content) - 10):
        with pytest.raises(UnreadableDrop):
            read(content[:kept], "d.parquet")


def test_compressed_noise_is_unreadable() -> None:
    with pytest.raises(UnreadableDrop):
        read(b"\x1f\x8b" + b"noise" * 10, "drop.jsonl.gz")
    with pytest.raises(UnreadableDrop):
        read(b"\x28\xb5\x2f\xfd" + b"noise" * 10, "drop.jsonl.zst")


# Any lines

json_lines = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
).map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
byte_lines = st.lists(
    st.one_of(
        json_lines, st.binary(max_size=30), st.sampled_from([b"", b" ", b"\t\r", b"{", b"[1,", b'"\\ud800"'])
    ).map(lambda line: line.replace(b"\n", b" ")),
    max_size=20,
)


@given(byte_lines)
def test_every_line_that_is_not_blank_is_one_record_or_one_rejection(lines: list[bytes]) -> None:
    content = b'{"first": 1}\n' + b"\n".join(lines)
    items = read(content)
    wanted = {number: line for number, line in enumerate(content.split(b"\n"), 1) if line.strip(b" \t\r\x0b\x0c")}
    assert [item.line for item in items] == list(wanted)
    for item in items:
        line = wanted[item.line]
        if isinstance(item, Rejection):
            assert item.raw == line.decode("utf-8", "backslashreplace").rstrip("\r\n")
            assert item.reason == "bad_json" and item.detail and item.source == "drop.jsonl"
        else:
            assert item.raw.rstrip(b"\r\n") == line.rstrip(b"\r\n")


@given(st.binary(max_size=200), st.sampled_from(["d.jsonl", "d.json", "d.jsonl.gz", "d.parquet"]))
def test_any_bytes_are_read_or_told_to_be_unreadable(content: bytes, name: str) -> None:
    try:
        items = read(content, name)
    except UnreadableDrop:
        return
    assert all(item.line >= 1 for item in items)


@pytest.mark.parametrize("opening", [b"[", b'{"a":\n'])
def test_a_document_nested_without_end_is_damaged_and_fills_no_memory(opening: bytes) -> None:
    tracemalloc.start()
    with pytest.raises(UnreadableDrop):
        read(opening * 30_000, "deep.json")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 << 20


# The format of a drop


def test_the_first_readable_records_decide_the_format() -> None:
    path = saved(b"{\n" * 30 + orjson.dumps({"raw_response": "x"}) + b"\n")
    assert sample_of(DropFile(path, "d")).records == ({"raw_response": "x"},)
    assert format_of([DropFile(path, "d")]).name == "tagged"


@pytest.mark.parametrize(
    "piece", ["a line\n", "a \\path ", "线 ", "\x01 ", "x", "线", "\x01", "\\", '"', "\U0001f600", "é"]
)
@pytest.mark.parametrize("shift", range(13))
@pytest.mark.parametrize("is_escaped", [True, False])
def test_a_first_record_of_megabytes_is_recognised(piece: str, shift: int, is_escaped: bool) -> None:
    text = answer("x" * shift + piece * (1_500_000 // len(piece)))
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


# Records that a reader fails on


def _raise(problem: BaseException) -> Trajectory:
    raise problem


@pytest.mark.parametrize(
    "problem",
    [TypeError("unhashable type: 'list'"), RecursionError(), MemoryError(), KeyError("x"), ZeroDivisionError()],
)
def test_whatever_a_reader_raises_rejects_the_record_with_its_place(problem: Exception) -> None:
    found = usable(Record("folder/d.jsonl", 7, {}, b'{"raw": 1}'), lambda _: _raise(problem))
    assert isinstance(found, Rejection)
    assert (found.source, found.line, found.reason, found.raw) == ("folder/d.jsonl", 7, "reader_failed", '{"raw": 1}')
    assert found.detail.startswith(type(problem).__name__)


BREAKS = "breaks"
"""Records with this field are what the readers below break on, outside of any one record."""


def _number(record: Record) -> int:
    if BREAKS in record.data:
        raise KeyError(BREAKS)
    return record.data["n"]


def _run(record: Record) -> Trajectory:
    return replace(trajectory_of_tagged(record), task_id=str(record.data["n"]))


def _grouping(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """As conversations are read: a group ends when the next record is of another ten."""
    group: list[Record] = []
    for record in read_records(files[0]):
        if isinstance(record, Rejection):
            yield record
            continue
        unmapped.count("records")
        if group and _number(record) // 10 != _number(group[-1]) // 10:
            yield from (usable(each, _run) for each in group)
            group = []
        group.append(record)
        _number(record)
    yield from (usable(each, _run) for each in group)


def _twice(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """As traces are read: all records are looked through before the first is read."""
    known = {_number(record) for record in read_records(files[0]) if isinstance(record, Record)}
    for record in read_records(files[0]):
        if isinstance(record, Record):
            unmapped.count("records")
            assert record.data["n"] in known
        yield record if isinstance(record, Rejection) else usable(record, _run)


def _beside_a_table(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
    """As simulations are read: some records are only for others."""
    known = {_number(record) for record in read_records(files[0]) if isinstance(record, Record)}
    for record in read_records(files[0]):
        if isinstance(record, Record) and record.data["n"] in known:
            unmapped.count("records")
            yield usable(record, _run)


@pytest.mark.parametrize("reader", [_grouping, _twice, _beside_a_table])
@given(broken=st.sets(st.integers(0, 39), max_size=20))
def test_a_record_that_breaks_its_reader_between_records_is_one_rejection(reader: Any, broken: set[int]) -> None:
    rows = [{"n": n, "raw_response": answer("x")} | ({BREAKS: True} if n in broken else {}) for n in range(40)]
    file = DropFile(saved(b"".join(orjson.dumps(row) + b"\n" for row in rows)), "drop.jsonl")
    unmapped = UnmappedFields()
    items = list(read_by(Format("own", "", "", lambda _: True, reader), [file], unmapped))
    found = rejections(items)
    assert {(each.line - 1, each.reason, each.detail) for each in found} == {
        (n, "reader_failed", "KeyError: 'breaks'") for n in broken
    }
    assert len(found) == len(broken)
    assert [run.task_id for run in items if isinstance(run, Trajectory)] == [
        str(n) for n in range(40) if n not in broken
    ]
    assert unmapped.counts["records"] == 40 - len(broken)


def test_a_reader_that_breaks_at_every_record_says_so() -> None:
    rows = b"".join(orjson.dumps({"n": n, BREAKS: True}) + b"\n" for n in range(200))
    file = DropFile(saved(rows), "drop.jsonl")
    with pytest.raises(UnreadableDrop, match=r"the reader of own failed on drop.jsonl: KeyError: 'breaks'"):
        list(read_by(Format("own", "", "", lambda _: True, _grouping), [file], UnmappedFields()))


def test_a_reader_that_breaks_after_the_last_record_blames_none() -> None:
    def read_all(files: Sequence[DropFile], unmapped: UnmappedFields) -> Iterator[Trajectory | Rejection]:
        items = [item for item in read_records(files[0]) if isinstance(item, Rejection)]
        yield from items
        raise ValueError("at the end")

    file = DropFile(saved(LINES), "drop.jsonl")
    with pytest.raises(UnreadableDrop, match=r"the reader of own failed on drop.jsonl: ValueError: at the end"):
        list(read_by(Format("own", "", "", lambda _: True, read_all), [file], UnmappedFields()))


def test_an_interrupt_is_no_fault_of_the_record() -> None:
    with pytest.raises(KeyboardInterrupt):
        usable(Record("d.jsonl", 1, {}, b"{}"), lambda _: _raise(KeyboardInterrupt()))


@pytest.mark.parametrize(
    "strange", [{"n": 1 << 70}, {"text": "\ud800"}, {1: "key"}, {"a": {"b": {2, 3}}}], ids=["int", "half", "key", "set"]
)
def test_what_no_table_can_hold_is_rejected_with_the_reason(strange: dict[Any, Any]) -> None:
    whole = next(run for run in trajectories(saved(orjson.dumps({"raw_response": answer("a")}))))
    found = usable(Record("d.jsonl", 3, {}, b"{}"), lambda _: replace(whole, labels=strange))
    assert isinstance(found, Rejection)
    assert (found.line, found.reason) == (3, "bad_value")


# Bombs


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (records, json_values, opening, unpacking, inspect_ai):
        monkeypatch.setattr(module, "LARGEST_RECORD", 1 << 20)
    monkeypatch.setattr(unpacking, "ALWAYS_UNPACKED", 4 << 20)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("packed", [bytes, gzip.compress, zstd])
def test_a_record_beyond_the_limit_is_rejected_and_the_others_are_read(packed: Callable[[bytes], bytes]) -> None:
    large = orjson.dumps({"task_id": "large", "text": [random_text(1 << 19)] * 4})
    rows = [orjson.dumps(ROWS[0]), large, orjson.dumps(ROWS[1])]
    for content, name in ((b"\n".join(rows), "d.jsonl"), (b"[" + b",\n".join(rows) + b"]", "d.json")):
        first, rejected, last = read(packed(content), name)
        assert data_of([first, last]) == ROWS[:2]
        assert isinstance(rejected, Rejection)
        assert (rejected.line, rejected.reason) == (2, "too_large")
        assert "1 MB" in rejected.detail and len(rejected.raw) <= 2000


@pytest.mark.usefixtures("small_limits")
def test_items_inside_a_document_beyond_the_limit_are_rejected_and_the_others_are_read() -> None:
    document = {"info": {"x": 1}, "runs": [ROWS[0], {"text": [random_text(1 << 19)] * 4}, ROWS[1]]}
    path = saved(json.dumps(document, indent=1).encode(), "d.json")
    assert [type(item) for item in read_items(DropFile(path, "d.json"), "runs")] == [Record, Rejection, Record]
    assert read_value(path, "d.json", "info") == {"x": 1}
    (whole,) = read_records(DropFile(path, "d.json"))
    assert isinstance(whole, Rejection) and whole.reason == "too_large"


@pytest.mark.usefixtures("small_limits")
def test_a_text_in_a_document_beyond_the_limit_is_refused_before_it_ends() -> None:
    with pytest.raises(UnreadableDrop, match="holds a text of more than 1 MB"):
        read(b'[\n{"a": "' + random_text(4 << 20).encode(), "d.json")


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize(
    ("megabytes", "packed"),
    [
        (8, gzip.compress),
        (8, zstd),
        (3, gzip.compress),
        (3, bytes),
    ],
)
def test_one_line_beyond_the_limits_is_refused_as_such_and_not_as_broken(
    megabytes: int, packed: Callable[[bytes], bytes]
) -> None:
    path = saved(packed(b'{"pad": "' + b"a" * (megabytes << 20) + b'"}\n'), "d.jsonl")
    with pytest.raises(UnreadableDrop, match="line 1: the record has more than 1 MB"):
        format_of([DropFile(path, "d.jsonl")])


@pytest.mark.usefixtures("small_limits")
def test_a_text_beyond_the_limit_is_no_drop() -> None:
    lines = "User: how?\nAgent: so.\n" * 100_000
    with pytest.raises(UnreadableDrop, match=r"chat\.txt is a text of more than 1 MB"):
        list(read_trajectories([DropFile(saved(lines.encode(), "chat.txt"), "chat.txt")], UnmappedFields()))


def test_a_file_of_megabytes_that_unpacks_to_gigabytes_is_refused_with_bounded_memory(tmp_path: Path) -> None:
    """In a process of its own, since only the whole process shows what Arrow and Python have allocated."""
    (tmp_path / "blank.jsonl.gz").write_bytes(gzip.compress(b" " * (1 << 24)) * 550)
    (tmp_path / "long.json.gz").write_bytes(gzip.compress(b'[\n"') + gzip.compress(b"x" * (1 << 24)) * 200)
    (tmp_path / "long.jsonl.zst").write_bytes(zstd(b'{"raw_response": "') + zstd(b"x" * (1 << 24)) * 200)
    with ZipFile(tmp_path / "log.eval", "w", ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {}}))
        with archive.open("samples/a.json", "w", force_zip64=True) as member:
            for _ in range(100):
                member.write(b" " * (1 << 24))
    for path in sorted(tmp_path.iterdir()):
        assert path.stat().st_size < 12 << 20
    done = subprocess.run(
        [sys.executable, "-c", _READ_ALL, *map(str, sorted(tmp_path.iterdir()))],
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    told = json.loads(done.stdout)
    assert told.pop("peak_mb") < 900
    assert set(told) == {path.name for path in tmp_path.iterdir()}
    assert "unpacks to more than 200 times its size" in told["blank.jsonl.gz"]
    assert "unpacks to more than 200 times its size" in told["long.json.gz"]
    assert "unpacks to more than 200 times its size" in told["long.jsonl.zst"]
    assert "more than 128 MB" in told["log.eval"]


_READ_ALL = """
import json, resource, sys
from upath import UPath
from evaluation_assets.core.formats.base import DropFile, Rejection, UnreadableDrop
from evaluation_assets.core.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.formats.registry import read_trajectories
told = {}
for name in map(UPath, sys.argv[1:]):
    told[name.name] = ""
    try:
        chosen = "inspect_ai" if name.suffix == ".eval" else "tagged"
        for item in read_trajectories([DropFile(name, name.name)], UnmappedFields(), chosen):
            if isinstance(item, Rejection):
                told[name.name] = item.detail
    except UnreadableDrop as problem:
        told[name.name] = str(problem)
told["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(told))
"""


def test_a_drop_no_format_recognises_says_what_is_read() -> None:
    with pytest.raises(UnreadableDrop, match="the fields 'foo'"):
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

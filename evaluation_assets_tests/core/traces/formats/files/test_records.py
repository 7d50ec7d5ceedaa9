"""Records out of files of every kind, and how damaged ones are reported."""

import gzip
import json
import tracemalloc
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, UnreadableDrop
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory, from_json, to_json
from evaluation_assets_tests.core.making import answer
from evaluation_assets_tests.core.traces.formats.files.stored import LINES, ROWS, data_of, read, rejections, saved, zstd


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


@pytest.mark.parametrize("name", ["drop.json", "drop.jsonl"])
@pytest.mark.parametrize("between", ["\n", "", "\n\n"])
def test_printed_objects_one_after_another_are_a_record_each(name: str, between: str) -> None:
    items = read(between.join(json.dumps(row, indent=2) for row in ROWS).encode(), name)
    assert data_of(items) == ROWS
    assert [item.line for item in items] == [1, 2, 3]


def test_printed_objects_with_numbers_that_are_no_json_are_a_record_each() -> None:
    content = "\n".join(json.dumps({"n": value}, indent=2) for value in (1, float("nan"), 2))
    assert data_of(read(content.encode(), "drop.json")) == [{"n": 1}, {"n": None}, {"n": 2}]


def test_a_cut_object_after_others_makes_the_file_unreadable() -> None:
    with pytest.raises(UnreadableDrop, match="damaged"):
        read(json.dumps(ROWS[0], indent=2).encode() + b"\n{\n", "drop.json")


def test_an_object_on_one_line_is_one_record() -> None:
    assert data_of(read(json.dumps(ROWS[0]).encode(), "drop.json")) == [ROWS[0]]


@pytest.mark.parametrize("indent", [None, 2])
def test_rows_of_a_table_of_pandas_are_records(indent: int | None) -> None:
    columns = {"id": {"0": "a", "2": "b"}, "messages": {"0": [{"role": "user"}], "2": None}}
    rows = [{"id": "a", "messages": [{"role": "user"}]}, {"id": "b", "messages": None}]
    items = read(json.dumps(columns, indent=indent).encode(), "drop.json")
    assert data_of(items) == rows
    assert [item.line for item in items] == [1, 2]
    split = {"columns": ["id", "messages"], "index": [0, 2], "data": [list(row.values()) for row in rows]}
    assert data_of(read(json.dumps(split, indent=indent).encode(), "drop.json")) == rows
    trials = {"order-1": {"0": {"reward": 1}, "1": {"reward": 0}}, "order-2": {"0": {"reward": 1}, "1": {"reward": 1}}}
    assert data_of(read(json.dumps(trials, indent=indent).encode(), "drop.json")) == [trials]


def test_a_table_of_pandas_that_is_larger_than_a_sample_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello. " * 1000}]
    numbers = [str(number) for number in range(300)]
    path.write_text(json.dumps({"success": dict.fromkeys(numbers, True), "messages": dict.fromkeys(numbers, said)}))
    runs = list(read_trajectories([DropFile(UPath(path), path.name)], UnmappedFields()))
    assert [isinstance(run, Trajectory) and run.success for run in runs] == [True] * 300


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


@pytest.mark.parametrize("column", ["messages", "conversations"])
def test_messages_in_a_text_column_of_parquet_are_read(tmp_path: Path, column: str) -> None:
    calls = [{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": None, "tool_calls": calls}]
    rows = [{column: json.dumps(messages)}, {column: "[not JSON"}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "d.parquet")
    drop = [DropFile(UPath(tmp_path / "d.parquet"), "d.parquet")]
    run, rejected = read_trajectories(drop, UnmappedFields())
    assert isinstance(run, Trajectory)
    assert len(run.calls) == 1
    assert isinstance(rejected, Rejection)


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


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": "cut \\ud83d"}\n{"a": 2}\n',
        b'[{"a": "cut \\ud83d"}, {"a": 2}]',
        b'[{"a": "cut \\ud83d"}, {"a": 2, "b": NaN}]',
    ],
    ids=["lines", "array", "lenient"],
)
def test_lone_surrogates_are_replaced(content: bytes) -> None:
    """A tool's result that was cut in the middle of an emoji costs no record."""
    first, second = read(content)
    assert isinstance(first, Record) and isinstance(second, Record)
    assert (first.line, second.line) == (1, 2)
    assert str(first.data["a"]).encode() in (b"cut ?", "cut \ufffd".encode())


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
            assert item.raw.rstrip(b"\r\n") == line.rstrip(b"\r\n") or line.startswith(b'"')  # JSON in a text


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

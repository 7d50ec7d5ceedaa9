"""A record that breaks its reader is rejected alone."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.traces.formats.base import DropFile, Format, Record, Rejection, UnreadableDrop
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.isolation import usable
from evaluation_assets.core.traces.formats.readers.tagged import trajectory_of as trajectory_of_tagged
from evaluation_assets.core.traces.formats.registry import read_by
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.making import answer
from evaluation_assets_tests.core.traces.formats.files.stored import LINES, rejections, saved, trajectories


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

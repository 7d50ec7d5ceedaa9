"""The bytes at a range are the record that the trajectory was read from."""

import gzip
import hashlib
import json
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.intake.drops import Drop, as_one, one_file
from evaluation_assets.core.report.provenance.sources import Place, item_range, place_of
from evaluation_assets.core.traces.formats.base import Rejection, UnreadableDrop
from evaluation_assets.core.traces.formats.files.opening import opened
from evaluation_assets.core.traces.formats.readers.canonical import line_of
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Source, Trajectory
from evaluation_assets_tests.conftest import SAMPLE, record
from evaluation_assets_tests.third_party import data

FIXTURES = Path(__file__).parents[3] / "fixtures" / "formats"


def read(drop: Drop) -> list[Trajectory]:
    items = list(read_trajectories(drop.sources, UnmappedFields()))
    assert not any(isinstance(item, Rejection) for item in items)
    return [item for item in items if isinstance(item, Trajectory)]


def written(folder: Path, name: str, content: bytes) -> Drop:
    (folder / name).write_bytes(content)
    return one_file(UPath(folder / name))


def bytes_of(drop: Drop, trajectory: Trajectory) -> bytes:
    assert trajectory.source is not None
    place = place_of(drop, trajectory.source, drop.content_hash())
    found = record_bytes(drop, place)
    assert place.extent == "record" and place.is_unchanged
    assert place.sha256 == hashlib.sha256(found).hexdigest()
    return found


def record_bytes(drop: Drop, place: Place) -> bytes:
    path = next(file.path for file in drop.sources if file.source == place.file)
    if place.extent == "file":
        with opened(path) as stream:
            return stream.read()
    with path.open("rb") as stream:
        stream.seek(place.start)
        return stream.read(place.end - place.start)


def canonical_lines() -> list[bytes]:
    lines = SAMPLE.read_bytes().splitlines(keepends=True)[:4]
    items = read_trajectories([one_file(UPath(SAMPLE)).sources[0]], UnmappedFields())
    kept = [item for item in items if isinstance(item, Trajectory)]
    return [line_of(item) for item in kept[: len(lines)]]


@pytest.mark.parametrize(("start", "end"), [(b"", b"\n"), (b"\xef\xbb\xbf", b"\n"), (b"\n\n", b"\r\n")])
def test_canonical_lines(tmp_path: Path, start: bytes, end: bytes) -> None:
    lines = [line.strip() for line in canonical_lines()]
    drop = written(tmp_path, "d.jsonl", start + end.join(lines) + end)
    trajectories = read(drop)
    assert [bytes_of(drop, trajectory) for trajectory in trajectories] == lines
    assert [orjson.loads(bytes_of(drop, one))["id"] for one in trajectories] == [one.id for one in trajectories]


def test_lines_that_only_python_reads(tmp_path: Path) -> None:
    lines = [record("a", weight=1).replace(b'"weight":1', b'"weight":NaN'), record("b")]
    drop = written(tmp_path, "d.jsonl", b"".join(lines))
    assert [bytes_of(drop, one) for one in read(drop)] == [line.strip() for line in lines]


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array(tmp_path: Path, indent: int | None) -> None:
    records = [orjson.loads(record(name, f'<think>[{{"\\</think><answer>{name}, "]</answer>')) for name in "abc"]
    drop = written(tmp_path, "d.json", json.dumps(records, indent=indent).encode())
    assert [orjson.loads(bytes_of(drop, one)) for one in read(drop)] == records


def test_messages_that_are_one_record(tmp_path: Path) -> None:
    records = [
        {"messages": [{"role": "user", "content": f"{name}?"}, {"role": "assistant", "content": name}]} for name in "ab"
    ]
    drop = written(tmp_path, "d.jsonl", b"\n".join(map(orjson.dumps, records)))
    assert [orjson.loads(bytes_of(drop, one)) for one in read(drop)] == records


def test_tau_bench() -> None:
    file = data("tau-bench/gpt-4o-airline.even-tasks.json")
    drop = one_file(UPath(file))
    records = orjson.loads(file.read_bytes())
    found = [orjson.loads(bytes_of(drop, trajectory)) for trajectory in read(drop)[:5]]
    assert found == records[:5]


def test_spans_of_several_files_are_in_the_file_as_a_whole(tmp_path: Path) -> None:
    def spans(trace: str, *numbers: int) -> bytes:
        made = [
            {
                "traceId": trace * 32,
                "spanId": f"{number:016x}",
                "parentSpanId": "" if number == 1 else f"{1:016x}",
                "name": "chat m",
                "startTimeUnixNano": str(number),
                "endTimeUnixNano": str(number + 1),
                "attributes": [
                    {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
                    {"key": "gen_ai.prompt.0.role", "value": {"stringValue": "user"}},
                    {"key": "gen_ai.prompt.0.content", "value": {"stringValue": "What is six times seven?"}},
                    {"key": "gen_ai.completion.0.role", "value": {"stringValue": "assistant"}},
                    {"key": "gen_ai.completion.0.content", "value": {"stringValue": f"42, said {number}"}},
                ],
            }
            for number in numbers
        ]
        return orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": made}]}]}) + b"\n"

    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(spans("a", 1) + spans("b", 1))
    (folder / "b.jsonl").write_bytes(spans("a", 2))
    drop = as_one(UPath(folder))
    for trajectory in read(drop):
        source = trajectory.source
        assert source is not None and not source.is_whole and source.start is None
        place = place_of(drop, source, drop.content_hash())
        assert (place.extent, place.start) == ("file", 0)
        assert (trajectory.extra["trace_id"]).encode() in record_bytes(drop, place)


def test_compressed_lines_have_a_line_and_no_range(tmp_path: Path) -> None:
    drop = written(tmp_path, "d.jsonl.gz", gzip.compress(record("a") + record("b")))
    first, second = read(drop)
    assert second.source == Source(drop.sources[0].source, 2, is_whole=True)
    assert first.source is not None
    place = place_of(drop, first.source, "other content")
    assert place.extent == "file" and not place.is_unchanged
    assert record_bytes(drop, place) == record("a") + record("b")


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    drop = written(tmp_path, "d.jsonl", record("a"))
    with pytest.raises(UnreadableDrop, match=r"other.jsonl is not in the drop any more"):
        place_of(drop, Source("other.jsonl", 1), "")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.lists(JSON, min_size=1), st.sampled_from([None, 1]), st.booleans())
def test_items_of_any_array(items: list, indent: int | None, ascii_only: bool) -> None:
    content = b"\xef\xbb\xbf \n" + json.dumps(items, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "replace")
    known = json.loads(content.decode("utf-8-sig"))
    for number, item in enumerate(known, 1):
        start, end = item_range(content, number)
        assert json.loads(content[start:end]) == item
    assert item_range(content, len(items) + 1) == (None, None)


@given(st.lists(JSON, min_size=1), JSON, JSON, st.sampled_from([None, 1]))
def test_items_of_a_list_in_a_document(items: list, before: object, after: object, indent: int | None) -> None:
    nested = {"runs": [[before]], "other": before, "data": {"no": [before], "runs": items, "z": [after]}, "end": after}
    content = json.dumps(nested, indent=indent).encode("utf-8", "replace")
    known = json.loads(content)["data"]["runs"]
    for number, item in enumerate(known, 1):
        start, end = item_range(content, number, "data.runs")
        assert json.loads(content[start:end]) == item
    assert item_range(content, len(items) + 1, "data.runs") == (None, None)
    assert item_range(content, 1, "data.none") == item_range(content, 1) == (None, None)


def test_items_of_a_list_that_stands_twice_are_counted_on() -> None:
    content = b'{"runs": [], "runs": [1, {"runs": [7]}], "x": {"runs": [9]}, "runs": [3]}'
    found = [item_range(content, number, "runs") for number in (1, 2, 3, 4)]
    assert [content[start:end] for start, end in found[:3]] == [b"1", b'{"runs": [7]}', b"3"]
    assert found[3] == (None, None)


def test_samples_of_an_inspect_log() -> None:
    file = FIXTURES / "inspect_ai" / "log.json"
    drop = one_file(UPath(file))
    records = orjson.loads(file.read_bytes())["samples"]
    assert [orjson.loads(bytes_of(drop, one)) for one in read(drop)] == records[: len(read(drop))]


def test_simulations_of_a_document() -> None:
    file = min((data("tau2-bench") / "ab").glob("*.json"))
    drop = one_file(UPath(file))
    records = orjson.loads(file.read_bytes())["simulations"]
    trajectories = read(drop)
    assert [one.source.within for one in trajectories[:2] if one.source is not None] == ["simulations"] * 2
    for number in (0, len(records) - 1):
        assert orjson.loads(bytes_of(drop, trajectories[number])) == records[number]


@pytest.mark.parametrize("content", [b"", b"[]", b'{"a": 1}', b"PAR1", b"[1, 2"])
def test_what_is_no_item(content: bytes) -> None:
    assert item_range(content, 2 if content.startswith(b"[1") else 1) == (None, None)

"""Files that unpack to more than the limits are refused with bounded memory."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection, UnreadableDrop
from evaluation_assets.core.traces.formats.files import archives, json_values, opening, records, unpacking
from evaluation_assets.core.traces.formats.files.records import read_items, read_records, read_value
from evaluation_assets.core.traces.formats.registry import format_of, read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets_tests.core.traces.formats.files.stored import ROWS, data_of, random_text, read, saved, zstd


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (records, json_values, opening, unpacking, archives):
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
    with pytest.raises(UnreadableDrop, match="contains a string larger than 1 MB"):
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
    with pytest.raises(UnreadableDrop, match="line 1: the record is larger than 1 MB"):
        format_of([DropFile(path, "d.jsonl")])


@pytest.mark.usefixtures("small_limits")
def test_a_text_beyond_the_limit_is_no_drop() -> None:
    lines = "User: how?\nAgent: so.\n" * 100_000
    with pytest.raises(UnreadableDrop, match=r"chat\.txt is a text larger than 1 MB"):
        list(read_trajectories([DropFile(saved(lines.encode(), "chat.txt"), "chat.txt")], UnmappedFields()))


@pytest.mark.slow
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
    assert told.pop("peak_mb") < 1500  # unbounded it is more than 8,000
    assert set(told) == {path.name for path in tmp_path.iterdir()}
    assert "decompresses to more than 200 times its size" in told["blank.jsonl.gz"]
    assert "decompresses to more than 200 times its size" in told["long.json.gz"]
    assert "decompresses to more than 200 times its size" in told["long.jsonl.zst"]
    assert "larger than 128 MB" in told["log.eval"]


_READ_ALL = """
import json, resource, sys
from upath import UPath
from evaluation_assets.core.traces.formats.base import DropFile, Rejection, UnreadableDrop
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.formats.registry import read_trajectories
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

"""Drops: which files they are, what they are called, and when they have changed."""

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.intake.copying.drops import inspect, take_in
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.drops import Drop, InvalidDrop, find, key_of, scan
from evaluation_assets.core.intake.triggers.new_drops import Limits, Seen, changes
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.trajectories.identity import file_name
from evaluation_assets_tests.s3_server import s3_server

LINE = b'{"raw_response": "x"}\n'
_numbers = count()


@pytest.fixture(params=["local", "memory"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[UPath]:
    """A drops folder, on disk and in an object store."""
    folder = UPath(tmp_path / "drops") if request.param == "local" else UPath(f"memory://drops-{next(_numbers)}")
    folder.mkdir(parents=True)
    yield folder


@pytest.fixture
def s3() -> Iterator[str]:
    """The address of an S3-compatible server."""
    with s3_server() as port:
        yield f"http://127.0.0.1:{port}"


def put(root: UPath, name: str, content: bytes = LINE) -> UPath:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def files_of(root: UPath) -> dict[str, list[str]]:
    """The names of the files of each drop."""
    return {key: [file.source for file in drop.sources] for key, drop in scan(root).drops.items()}


# Keys


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("run.jsonl", "run"),
        ("run.ndjson", "run"),
        ("run.json", "run"),
        ("run.parquet", "run"),
        ("run.jsonl.gz", "run"),
        ("run.json.zst", "run"),
        ("RUN.JSONL.GZ", "RUN"),
        ("v1.2.jsonl", "v1.2"),
        ("agent/nightly/run.jsonl", "agent/nightly/run"),
        ("搜索 run.jsonl", "搜索 run"),
    ],
)
def test_a_drop_is_called_like_its_file_without_endings(root: UPath, name: str, key: str) -> None:
    put(root, name)
    assert key_of(name) == key
    assert files_of(root) == {key: [name]}
    assert find(root, key).name == key.rsplit("/", 1)[-1]


def test_files_of_other_kinds_are_no_drops(root: UPath) -> None:
    for name in ("readme.md", "run.csv", "jsonl", "run.gz", "run.drop.yaml", "run.jsonl.bak"):
        put(root, name)
    assert files_of(root) == {}
    assert scan(root).problems == ()


@pytest.mark.parametrize(
    "name",
    [".hidden.jsonl", ".tmp/run.jsonl", "a/.b/run.jsonl", "run.jsonl.part", "run.jsonl.tmp", "run.jsonl.crdownload"],
)
def test_hidden_and_unfinished_files_are_left_alone(root: UPath, name: str) -> None:
    put(root, name)
    assert files_of(root) == {}


def test_a_folder_that_is_not_there_has_no_drops(root: UPath) -> None:
    assert scan(root / "absent").drops == {}


@pytest.mark.parametrize("name", ["a...b.jsonl", "a\u200bb\x07.jsonl", "a...b/run.jsonl", "a\x07/run.jsonl"])
def test_names_that_cannot_be_partitions_are_problems(root: UPath, name: str) -> None:
    put(root, name)
    if "/" in name:
        put(root, name.replace("run.jsonl", "_drop.yaml"), b"")
    put(root, "fine.jsonl")
    found = scan(root)
    assert list(found.drops) == ["fine"]
    assert len(found.problems) == 1
    assert name in found.problems[0]


def test_a_name_taken_twice_is_a_problem_and_the_first_keeps_it(root: UPath) -> None:
    put(root, "run.json")
    put(root, "run.jsonl")
    found = scan(root)
    assert files_of(root) == {"run": ["run.json"]}
    assert len(found.problems) == 1
    assert "run.json" in found.problems[0] and "run.jsonl" in found.problems[0]


def test_the_same_name_in_two_folders_is_no_collision(root: UPath) -> None:
    put(root, "a/run.jsonl")
    put(root, "b/run.jsonl")
    assert list(files_of(root)) == ["a/run", "b/run"]


def test_a_drop_that_is_not_there_is_told(root: UPath) -> None:
    put(root, "suite/weather.jsonl")
    with pytest.raises(InvalidDrop, match=r"no drop 'nope' in \S+\."):
        find(root, "nope")
    with pytest.raises(InvalidDrop, match=r"no drop 'weather' in \S+; did you mean 'suite/weather'\?"):
        find(root, "weather")


# Sidecars


def test_a_sidecar_says_more_about_a_drop(root: UPath) -> None:
    put(root, "run.jsonl.gz")
    put(root, "run.drop.yaml", b"suite: nightly\nagent: a1\nlabels: {x: 1}\nformat: tagged\nown: field\n")
    sidecar = find(root, "run").sidecar()
    assert (sidecar.suite, sidecar.agent, sidecar.labels, sidecar.format) == ("nightly", "a1", {"x": 1}, "tagged")
    assert sidecar.model_dump()["own"] == "field"


def test_a_drop_in_a_folder_belongs_to_the_suite_of_that_name(root: UPath) -> None:
    put(root, "nightly/run.jsonl")
    put(root, "nightly/other.jsonl")
    put(root, "nightly/other.drop.yaml", b"suite: weekly\n")
    put(root, "top.jsonl")
    drops = scan(root).drops
    suites = {key: drop.sidecar().suite for key, drop in drops.items()}
    assert suites == {"nightly/run": "nightly", "nightly/other": "weekly", "top": None}


@pytest.mark.parametrize("content", [b"", b"# nothing\n"])
def test_an_empty_sidecar_says_nothing(root: UPath, content: bytes) -> None:
    put(root, "run.jsonl")
    put(root, "run.drop.yaml", content)
    assert find(root, "run").sidecar().suite is None


@pytest.mark.parametrize("content", [b"a: [", b"- a\n", b"suite: [1]\n", b"text", b"\xff\xfe: 1", b"labels: x"])
def test_a_sidecar_that_cannot_be_used_names_its_file(root: UPath, content: bytes) -> None:
    put(root, "a/run.jsonl")
    put(root, "a/run.drop.yaml", content)
    with pytest.raises(InvalidDrop, match=r"a/run\.drop\.yaml"):
        find(root, "a/run").sidecar()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"agent_version: 1.10", "agent_version is read as 1.1, which is not text: put it in quotes"),
        (b"agent: 2026-01-02", "agent is read as 2026-01-02, which is not text: put it in quotes"),
        (b"suite: [a]", r"suite is \"\['a'\]\": it should be a text"),
        (b"labels: x", "labels is 'x': it should be a mapping"),
        (b"- a", "it is not a mapping of fields to values"),
    ],
)
def test_a_field_of_a_sidecar_that_cannot_be_used_is_told_in_plain_words(
    root: UPath, content: bytes, said: str
) -> None:
    put(root, "run.jsonl")
    put(root, "run.drop.yaml", content)
    with pytest.raises(InvalidDrop, match=rf"^run\.drop\.yaml: {said}$"):
        find(root, "run").sidecar()


HOSTILE: dict[str, bytes] = {
    "no such day": b"labels: {day: 2024-99-99}",
    "digits": b"labels: {n: " + b"9" * 5000 + b"}",
    "hexadecimal digits": b"labels: {n: !!int 0x" + b"9" * 5000 + b"}",
    "sexagesimal": b"labels: {n: !!int " + b"1:" * 20_000 + b"1}",
    "sexagesimal fraction": b"labels: {n: !!float " + b"1:" * 20_000 + b"1.5}",
    "nesting in flow": b"labels: " + b"[" * 30_000,
    "nesting of blocks": b"- " * 30_000,
    "a key twice": b"suite: a\nsuite: b\n",
    "aliases": b"\n".join(
        [b"a0: &a0 [" + b"x," * 100 + b"]"]
        + [b"a%d: &a%d [" % (n, n) + b"*a%d," % (n - 1) * 100 + b"]" for n in range(1, 6)]
    ),
    "no UTF-8": b"agent: \xff\xfe\x80",
    "size": b"agent: " + b"x" * (1 << 20),
    "tags": b"labels: {n: !!int '', t: !!timestamp x, b: !!bool x}",
    "binary": b"labels: {n: !!binary /w==}",
    "objects": b"labels: !!python/object/apply:os.getcwd []",
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_sidecar_is_refused_in_one_line_and_bounded_memory(root: UPath, content: bytes) -> None:
    put(root, "a/run.jsonl")
    put(root, "a/run.drop.yaml", content)
    tracemalloc.start()
    with pytest.raises(InvalidDrop, match=r"a/run\.drop\.yaml") as raised:
        find(root, "a/run").sidecar()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 << 20
    assert len(str(raised.value)) < 1000 and "\n" not in str(raised.value)


@given(st.binary(max_size=60) | st.text("aA0-:{}[],&*!|>#?%@`'\" \n.x", max_size=60).map(str.encode))
def test_any_sidecar_is_read_or_refused(content: bytes) -> None:
    root = UPath("memory://any-sidecar")
    put(root, "run.jsonl")
    put(root, "run.drop.yaml", content)
    with suppress(InvalidDrop):
        assert find(root, "run").sidecar().model_dump_json()


# Directories as drops


def test_a_folder_with_a_sidecar_of_its_own_is_one_drop(root: UPath) -> None:
    put(root, "big/_drop.yaml", b"agent: a1\n")
    put(root, "big/02.jsonl")
    put(root, "big/01.jsonl.gz")
    put(root, "big/deeper/03.json")
    put(root, "big/.hidden.jsonl")
    put(root, "single.jsonl")
    assert files_of(root) == {
        "big": ["big/01.jsonl.gz", "big/02.jsonl", "big/deeper/03.json"],
        "single": ["single.jsonl"],
    }
    assert find(root, "big").sidecar().agent == "a1"


def test_include_chooses_files_of_a_folder(root: UPath) -> None:
    put(root, "big/_drop.yaml", b"include: 'part*.jsonl'\n")
    put(root, "big/part1.jsonl")
    put(root, "big/part2.jsonl")
    put(root, "big/notes.jsonl")
    assert files_of(root) == {"big": ["big/part1.jsonl", "big/part2.jsonl"]}


def test_a_folder_drop_does_not_take_the_name_of_a_file_drop(root: UPath) -> None:
    put(root, "run.jsonl")
    put(root, "run/_drop.yaml", b"")
    put(root, "run/a.jsonl", LINE * 2)
    found = scan(root)
    assert len(found.drops) == 1
    assert len(found.problems) == 1
    (drop,) = found.drops.values()
    names = {file.source for file in drop.sources}
    assert names in ({"run.jsonl"}, {"run/a.jsonl"})


# Content


def test_content_is_bytes_and_names_and_sidecar(root: UPath) -> None:
    put(root, "run.jsonl")
    first = find(root, "run").content_hash()
    assert find(root, "run").content_hash() == first
    put(root, "run.drop.yaml", b"agent: a\n")
    second = find(root, "run").content_hash()
    put(root, "run.jsonl", LINE * 2)
    third = find(root, "run").content_hash()
    assert len({first, second, third}) == 3


# Changes

_ticks = count(1_700_000_000)


def change(path: UPath, content: bytes) -> None:
    """Write a file so that its time differs from before, whatever the clock's resolution."""
    path.write_bytes(content)
    touch(path)


def touch(path: UPath) -> None:
    if path.protocol in ("", "file", "local"):
        moment = next(_ticks)
        os.utime(path.path, (moment, moment))


class Sensor:
    """Looks again and again, and remembers as a sensor does."""

    def __init__(self, root: UPath, limit: int = 10) -> None:
        self.root, self.limit = root, limit
        self.seen: dict[str, Seen] = {}

    def look(self) -> list[tuple[str, int]]:
        """Keys to score now, with their generation."""
        found = changes(self.seen, scan(self.root).drops, Limits(self.limit, self.limit), 0)
        self.seen = found.seen
        return [(drop.key, after.generation) for drop, after in found.to_score]


def test_a_new_file_is_scored_at_the_second_look_and_once(root: UPath) -> None:
    put(root, "run.jsonl")
    sensor = Sensor(root)
    assert [sensor.look() for _ in range(4)] == [[], [("run", 1)], [], []]


def test_a_growing_file_waits_until_it_rests(tmp_path: Path) -> None:
    root = UPath(tmp_path)
    path = put(root, "run.jsonl")
    sensor = Sensor(root)
    for length in range(1, 4):
        change(path, LINE * length)
        assert sensor.look() == []
    assert sensor.look() == [("run", 1)]


def test_going_back_to_an_earlier_content_counts_as_changed(tmp_path: Path) -> None:
    root = UPath(tmp_path)
    path = put(root, "run.jsonl")
    sensor = Sensor(root)
    scored = []
    for content in (b'{"a": 1}\n', b'{"b": 1}\n', b'{"a": 1}\n'):
        change(path, content)
        scored += sensor.look() + sensor.look() + sensor.look()
    assert scored == [("run", 1), ("run", 2), ("run", 3)]


def test_a_touch_without_change_is_not_scored(tmp_path: Path) -> None:
    root = UPath(tmp_path)
    path = put(root, "run.jsonl")
    sensor = Sensor(root)
    assert sensor.look() + sensor.look() == [("run", 1)]
    touch(path)
    assert sensor.look() + sensor.look() + sensor.look() == []
    change(path, LINE * 2)
    assert sensor.look() + sensor.look() == [("run", 2)]


def test_a_changed_sidecar_counts_as_changed(tmp_path: Path) -> None:
    root = UPath(tmp_path)
    put(root, "run.jsonl")
    sensor = Sensor(root)
    assert sensor.look() + sensor.look() == [("run", 1)]
    put(root, "run.drop.yaml", b"agent: a\n")
    assert sensor.look() + sensor.look() == [("run", 2)]


def test_what_is_over_the_limit_comes_with_the_next_look(root: UPath) -> None:
    for name in "abcde":
        put(root, f"{name}.jsonl", name.encode())
    sensor = Sensor(root, limit=2)
    looks = [sensor.look() for _ in range(5)]
    assert looks == [[], [("a", 1), ("b", 1)], [("c", 1), ("d", 1)], [("e", 1)], []]


def test_a_limit_is_not_used_up_by_touched_files(tmp_path: Path) -> None:
    root = UPath(tmp_path)
    paths = [put(root, f"{name}.jsonl", name.encode()) for name in "abc"]
    sensor = Sensor(root, limit=3)
    assert len(sensor.look() + sensor.look()) == 3
    touch(paths[0])
    touch(paths[1])
    change(paths[2], b"new")
    sensor.limit = 1
    assert sensor.look() + sensor.look() == [("c", 2)]


def test_a_removed_drop_that_comes_back_is_scored_again(root: UPath) -> None:
    path = put(root, "run.jsonl")
    sensor = Sensor(root)
    assert sensor.look() + sensor.look() == [("run", 1)]
    path.unlink()
    assert sensor.look() == []
    assert "run" not in sensor.seen
    put(root, "run.jsonl", LINE * 2)
    assert [key for key, _ in sensor.look() + sensor.look()] == ["run"]


def test_unsettled_drops_are_named(root: UPath) -> None:
    put(root, "run.jsonl")
    found = changes({}, scan(root).drops, Limits(10, 10), 0)
    assert found.unsettled == ["run"]
    assert found.to_score == []


# Bringing files in


def installation(tmp_path: Path) -> Installation:
    home = Installation.at(str(tmp_path / "home"))
    prepare(home)
    return home


def names(drops: list[Drop]) -> list[str]:
    return [drop.key for drop in drops]


def test_a_file_is_copied_with_its_sidecar(tmp_path: Path) -> None:
    home = installation(tmp_path)
    put(UPath(tmp_path), "in/run.jsonl")
    put(UPath(tmp_path), "in/run.drop.yaml", b"agent: a\n")
    put(UPath(tmp_path), "in/other.jsonl")
    (drop,) = take_in(home, [tmp_path / "in" / "run.jsonl"], one_drop=False)
    assert drop.key == "run"
    assert drop.files[0].read_bytes() == LINE
    assert drop.sidecar().agent == "a"
    assert names(list(scan(home.drops).drops.values())) == ["run"]


def test_a_directory_is_many_drops_or_one(tmp_path: Path) -> None:
    home = installation(tmp_path)
    put(UPath(tmp_path), "in/a.jsonl")
    put(UPath(tmp_path), "in/deep/b.jsonl")
    assert names(take_in(home, [tmp_path / "in"], one_drop=False)) == ["a", "deep/b"]
    (whole,) = take_in(home, [tmp_path / "in"], one_drop=True)
    assert (whole.key, len(whole.files)) == ("in", 2)


def test_a_file_that_lies_in_the_drops_folder_is_not_copied(tmp_path: Path) -> None:
    home = installation(tmp_path)
    path = put(home.drops, "a/run.jsonl")
    assert names(take_in(home, [Path(path.path)], one_drop=False)) == ["a/run"]
    assert list(scan(home.drops).drops) == ["a/run"]


def test_an_input_that_holds_nothing_says_what_would_be_read(tmp_path: Path) -> None:
    home = installation(tmp_path)
    put(UPath(tmp_path), "in/notes.doc")
    for path in (tmp_path / "in", tmp_path / "in" / "notes.doc"):
        with pytest.raises(InvalidDrop, match=r"\.jsonl"):
            take_in(home, [path], one_drop=False)
        with pytest.raises(InvalidDrop, match=r"\.jsonl"):
            inspect([path])


def test_a_second_file_of_the_same_name_does_not_replace_the_first_silently(tmp_path: Path) -> None:
    home = installation(tmp_path)
    put(UPath(tmp_path), "one/run.json", b'{"raw_response": "one"}')
    put(UPath(tmp_path), "two/run.jsonl")
    take_in(home, [tmp_path / "one" / "run.json"], one_drop=False)
    try:
        (drop,) = take_in(home, [tmp_path / "two" / "run.jsonl"], one_drop=False)
    except InvalidDrop:
        return
    assert drop.files[0].read_bytes() == LINE


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *[("", "be empty"), ("a//b", "be empty"), (".", "start with"), ("..", "start with")],
        *[("a...b", "without '...'"), ("a" * 250, "at most 211 bytes")],
    ],
)
def test_a_chosen_name_that_cannot_be_used_is_told_why(tmp_path: Path, name: str, said: str) -> None:
    put(UPath(tmp_path), "run.jsonl")
    with pytest.raises(InvalidDrop, match=said):
        take_in(installation(tmp_path), [tmp_path / "run.jsonl"], one_drop=False, name=name)


def test_a_folder_whose_name_no_drop_can_have_needs_another(tmp_path: Path) -> None:
    home = installation(tmp_path)
    put(UPath(tmp_path), ".runs/run.jsonl")
    with pytest.raises(InvalidDrop, match="choose another with --as NAME"):
        take_in(home, [tmp_path / ".runs"], one_drop=True)
    assert not [*home.drops.iterdir()], "nothing is left behind"
    (drop,) = take_in(home, [tmp_path / ".runs"], one_drop=True, name="runs")
    assert drop.key == "runs"


def test_two_inputs_of_the_same_name_do_not_replace_each_other(tmp_path: Path) -> None:
    home = installation(tmp_path)
    put(UPath(tmp_path), "one/run.jsonl", b'{"raw_response": "one"}\n')
    put(UPath(tmp_path), "two/run.jsonl", b'{"raw_response": "two"}\n')
    try:
        drops = take_in(home, [tmp_path / "one" / "run.jsonl", tmp_path / "two" / "run.jsonl"], one_drop=False)
    except InvalidDrop:
        return
    assert len(drops) == 2


def test_taking_in_a_file_again_brings_its_new_content(tmp_path: Path) -> None:
    home = installation(tmp_path)
    path = put(UPath(tmp_path), "in/run.jsonl")
    take_in(home, [Path(path.path)], one_drop=False)
    path.write_bytes(LINE * 2)
    (drop,) = take_in(home, [Path(path.path)], one_drop=False)
    assert drop.files[0].read_bytes() == LINE * 2


def test_inspecting_copies_nothing(tmp_path: Path) -> None:
    put(UPath(tmp_path), "in/run.jsonl")
    (drop,) = inspect([tmp_path / "in" / "run.jsonl"])
    assert drop.key == "run"
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


# Names of files


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=300),
    st.sampled_from([".json", "_eva.jsonl"]),
)
def test_a_file_name_fits_stays_the_same_and_keeps_its_ending(stem: str, ending: str) -> None:
    name = file_name(stem, ending)
    assert len(name.encode()) <= 221 and name.endswith(ending)
    assert name == file_name(stem, ending)
    if len((stem + ending).encode()) <= 221:
        assert name == stem + ending
    else:
        assert name != file_name(stem + "x", ending)


_PARTS = st.sampled_from(["a", "b", "a.b", ".hidden", "ab"])
_FILES = st.sampled_from(
    ["a.jsonl", "b.json", "a.b.jsonl.gz", "a.jsonl.drop.yaml", "a.drop.yaml", "_drop.yaml", "ab.txt"]
)


@given(st.sets(st.tuples(st.lists(_PARTS, max_size=3), _FILES).map(lambda parts: "/".join([*parts[0], parts[1]]))))
def test_a_drop_is_found_as_a_scan_finds_it(names: set[str]) -> None:
    in_memory = UPath(f"memory://drops-{next(_numbers)}")
    in_memory.mkdir(parents=True)
    with TemporaryDirectory() as folder:
        for root in (UPath(folder), in_memory):
            for name in names:
                with suppress(NotADirectoryError, FileExistsError, IsADirectoryError):
                    put(root, name, b"" if name.endswith(".yaml") else LINE)
            drops = scan(root).drops
            assert {key: find(root, key) for key in drops} == drops
            for key in {"a", "a/a", "a/b/ab", "missing"} - drops.keys():
                with pytest.raises(InvalidDrop, match="no drop"):
                    find(root, key)


def test_a_scan_sees_what_another_process_wrote_to_a_store_meanwhile(s3: str) -> None:
    root = UPath("s3://drops/runs", endpoint_url=s3, key="any", secret="any")
    root.fs.mkdir("drops")
    put(root, "first.jsonl")
    before = scan(root).drops
    write = (
        "import s3fs, sys; store = s3fs.S3FileSystem(endpoint_url=sys.argv[1], key='any', secret='any');"
        "store.pipe({'drops/runs/first.jsonl': b'{}', 'drops/runs/second.jsonl': b'{}'})"
    )
    subprocess.run([sys.executable, "-c", write, s3], check=True)
    after = scan(root).drops
    assert set(after) == {"first", "second"}
    assert after["first"].stamp() != before["first"].stamp()
    assert find(root, "second").stamp() == after["second"].stamp()

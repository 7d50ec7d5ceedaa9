"""Which files a command reads, and what an installation keeps of a file that comes again."""

import os
import pty
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from evaluation_assets.cli.main import main
from evaluation_assets.core.intake.copying.copies import Copy
from evaluation_assets.core.intake.copying.drops import annotate, inspect, take_in
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.drops import InvalidDrop
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.formats.files.drop_files import DIRECTORY_SIDECAR
from evaluation_assets_tests.conftest import command, record


@pytest.fixture
def home(tmp_path: Path) -> Installation:
    home = Installation.at(str(tmp_path / "home"))
    prepare(home)
    return home


@pytest.fixture
def touched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The paths that are looked at; with a star where a folder is listed."""
    paths: list[str] = []

    def recording(original: Callable[..., object]) -> Callable[..., object]:
        def call(path: object = ".", *arguments: object, **options: object) -> object:
            if isinstance(path, str | bytes | os.PathLike):
                listed = f"{os.sep}*" if original.__name__ in ("scandir", "listdir") else ""
                paths.append(os.fsdecode(path) + listed)
            return original(path, *arguments, **options)

        return call

    for name in ("scandir", "listdir", "stat", "lstat", "open"):
        monkeypatch.setattr(os, name, recording(getattr(os, name)))
    yield paths


def crowd(folder: Path) -> Path:
    """A file among many, with a sidecar of its own and a neighbour that is gone."""
    folder.mkdir()
    for number in range(200):
        (folder / f"other{number}.jsonl").write_bytes(record())
    (folder / "gone.jsonl").symlink_to(folder / "nowhere.jsonl")
    (folder / DIRECTORY_SIDECAR).write_text("suite: of the others\n")
    (folder / "mine.drop.yaml").write_text("agent: me\n")
    (folder / "mine.jsonl").write_bytes(record())
    return folder / "mine.jsonl"


def others_touched(touched: list[str], mine: Path) -> set[str]:
    inside = {Path(path).name for path in touched if Path(path).parent == mine.parent}
    assert "mine.jsonl" in inside
    return {name for name in inside if not name.startswith("mine.")}


def test_a_named_file_is_read_alone(tmp_path: Path, home: Installation, touched: list[str]) -> None:
    mine = crowd(tmp_path / "in")
    touched.clear()
    (drop,) = inspect([mine])
    assert (drop.key, drop.sidecar().agent, drop.sidecar().suite) == ("mine", "me", None)
    (drop,) = take_in(home, [mine], one_drop=False)
    assert (drop.key, drop.sidecar().agent, drop.sidecar().suite) == ("mine", "me", None)
    assert others_touched(touched, mine) == set()


@pytest.mark.parametrize("name", ["import", "plan"])
def test_import_and_plan_read_the_named_file_alone(tmp_path: Path, touched: list[str], name: str) -> None:
    mine = crowd(tmp_path / "in")
    touched.clear()
    done = CliRunner().invoke(main, [name, str(mine)], env={"EVALUATION_HOME": str(tmp_path / "home")})
    assert done.exit_code == 0, done.output
    assert others_touched(touched, mine) == set()


def test_a_name_that_is_none_of_a_drop_is_said(tmp_path: Path) -> None:
    for name in ("notes.md", ".hidden.jsonl", "copying.jsonl.part"):
        (tmp_path / name).write_bytes(record())
        with pytest.raises(InvalidDrop, match="is not read: files of trajectories end in"):
            inspect([tmp_path / name])


@pytest.mark.parametrize("name", ["runs.zip", "runs.tar.gz"])
def test_an_archive_is_to_be_unpacked(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(record())
    with pytest.raises(InvalidDrop, match=f"^{name} is an archive; unpack it, and evaluate the folder$"):
        inspect([tmp_path / name])


@pytest.mark.parametrize("note", [b"", b"broken", b"[]", b"\xff"])
def test_a_damaged_note_of_where_a_drop_came_from_says_nothing(tmp_path: Path, home: Installation, note: bytes) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_bytes(record("1"))
    take_in(home, [file], one_drop=False)
    (home.drops / ".runs.source.json").write_bytes(note)
    file.write_bytes(record("2"))
    with pytest.raises(InvalidDrop, match="added or edited by hand"):
        take_in(home, [file], one_drop=False)
    (drop,) = take_in(home, [file], one_drop=False, may_replace=lambda _: True)
    assert drop.files[0].read_bytes() == file.read_bytes()


def test_another_file_of_a_known_name_is_refused_with_the_ways_out(tmp_path: Path, home: Installation) -> None:
    first, second = tmp_path / "a" / "runs.jsonl", tmp_path / "b" / "runs.jsonl"
    for path, task in ((first, "1"), (second, "2")):
        path.parent.mkdir()
        path.write_bytes(record(task))
    (drop,) = take_in(home, [first], one_drop=False)
    annotate(home, drop, suite="support")
    refused = command("evaluate", second, home=tmp_path / "home")
    assert refused.returncode == 2
    assert str(first) in refused.stderr and str(second) in refused.stderr
    assert "--as NAME" in refused.stderr and "--replace" in refused.stderr
    assert drop.files[0].read_bytes() == first.read_bytes()
    both = take_in(home, [second], one_drop=False, name="night/runs-of-b")
    assert [each.key for each in both] == ["night/runs-of-b"]
    assert both[0].files[0].read_bytes() == second.read_bytes()
    assert drop.files[0].read_bytes() == first.read_bytes()
    (replaced,) = take_in(home, [second], one_drop=False, may_replace=lambda _: True)
    assert replaced.files[0].read_bytes() == second.read_bytes()
    assert replaced.sidecar().suite == "support"


def test_one_name_for_several_drops_is_refused_with_the_way_out(tmp_path: Path, home: Installation) -> None:
    for name in ("a", "b"):
        (tmp_path / "runs").mkdir(exist_ok=True)
        (tmp_path / "runs" / f"{name}.jsonl").write_bytes(record(name))
    with pytest.raises(
        InvalidDrop, match="'night' can be that of one drop, not of 2; --as night/ puts them into one suite"
    ):
        take_in(home, [tmp_path / "runs"], one_drop=False, name="night")
    (drop,) = take_in(home, [tmp_path / "runs"], one_drop=True, name="night")
    assert drop.key == "night"
    drops = take_in(home, [tmp_path / "runs"], one_drop=False, name="nights/june/")
    assert [each.key for each in drops] == ["nights/june/a", "nights/june/b"]
    assert {each.sidecar().suite for each in drops} == {"nights"}
    with pytest.raises(InvalidDrop, match=r"'\.\./a'"):
        take_in(home, [tmp_path / "runs"], one_drop=False, name="../")


def test_a_file_that_changed_is_an_update_and_keeps_its_suite(tmp_path: Path, home: Installation) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(record("1"))
    (tmp_path / "runs.drop.yaml").write_text("agent: a\nagent_version: '1'\n")
    (drop,) = take_in(home, [path], one_drop=False)
    annotate(home, drop, suite="support")
    path.write_bytes(record("2"))
    (tmp_path / "runs.drop.yaml").write_text("agent: a\nagent_version: '2'\n")
    (again,) = take_in(home, [path], one_drop=False)
    assert again.files[0].read_bytes() == record("2")
    assert (again.sidecar().suite, again.sidecar().agent_version) == ("support", "2")


def test_what_was_changed_by_hand_is_not_overwritten(tmp_path: Path, home: Installation) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(record("1"))
    (drop,) = take_in(home, [path], one_drop=False)
    drop.files[0].write_bytes(record("by hand"))
    with pytest.raises(InvalidDrop, match="by hand"):
        take_in(home, [path], one_drop=False)
    assert drop.files[0].read_bytes() == record("by hand")


def test_the_same_content_needs_no_word(tmp_path: Path, home: Installation) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "runs.jsonl").write_bytes(record())
    (drop,) = take_in(home, [tmp_path / "a" / "runs.jsonl"], one_drop=False)
    stamp = drop.stamp()
    (again,) = take_in(home, [tmp_path / "b" / "runs.jsonl"], one_drop=False)
    assert again.stamp() == stamp


def test_a_file_that_changes_while_it_is_copied_is_an_update_the_next_time(tmp_path: Path, home: Installation) -> None:
    file = tmp_path / "d.jsonl"
    file.write_bytes(record("first"))
    (drop,) = inspect([file])
    copy = Copy(drop, "d", home.drops)
    file.write_bytes(record("second"))
    copy.make(None)
    file.write_bytes(record("third"))
    (taken,) = take_in(home, [file], one_drop=False)
    assert taken.files[0].read_bytes() == record("third")


def test_a_folder_as_one_drop_replaces_what_another_held(tmp_path: Path, home: Installation) -> None:
    for place, name in (("a", "one"), ("b", "two")):
        (tmp_path / place / "run").mkdir(parents=True)
        (tmp_path / place / "run" / f"{name}.jsonl").write_bytes(record(name))
    take_in(home, [tmp_path / "a" / "run"], one_drop=True)
    with pytest.raises(InvalidDrop, match="--as NAME"):
        take_in(home, [tmp_path / "b" / "run"], one_drop=True)
    (other,) = take_in(home, [tmp_path / "b" / "run"], one_drop=True, name="run-b")
    assert [file.name for file in other.files] == ["two.jsonl"]
    (drop,) = take_in(home, [tmp_path / "b" / "run"], one_drop=True, may_replace=lambda _: True)
    assert [file.name for file in drop.files] == ["two.jsonl"]


def test_a_folder_that_is_one_drop_leaves_the_other_drops_alone(tmp_path: Path, home: Installation) -> None:
    (tmp_path / "before.jsonl").write_bytes(record())
    take_in(home, [tmp_path / "before.jsonl"], one_drop=False)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a.jsonl").write_bytes(record())
    (tmp_path / "run" / DIRECTORY_SIDECAR).write_text("suite: support\n")
    (drop,) = take_in(home, [tmp_path / "run"], one_drop=False)
    assert (drop.key, drop.sidecar().suite) == ("run", "support")
    (before,) = take_in(home, [tmp_path / "before.jsonl"], one_drop=False)
    assert before.key == "before"


def test_on_a_terminal_the_user_is_asked(tmp_path: Path, home: Installation) -> None:
    import subprocess
    import sys

    first, second = tmp_path / "a" / "runs.jsonl", tmp_path / "b" / "runs.jsonl"
    for path, task in ((first, "1"), (second, "2")):
        path.parent.mkdir()
        path.write_bytes(record(task))
    (drop,) = take_in(home, [first], one_drop=False)
    arguments = ["evaluate", str(second), "--home", str(tmp_path / "home"), "--preprocess-only"]
    for answer, kept in ((b"n\n", first), (b"y\n", second)):
        ours, theirs = pty.openpty()
        os.write(ours, answer)
        done = subprocess.run(
            [sys.executable, "-m", "evaluation_assets.cli", *arguments],
            stdin=theirs,
            capture_output=True,
            check=False,
        )
        os.close(ours)
        os.close(theirs)
        assert b"Replace it? [y/N]" in done.stderr
        assert done.returncode == (0 if kept == second else 2), done.stderr
        assert drop.files[0].read_bytes() == kept.read_bytes()


def test_a_sidecar_that_is_no_mapping_is_copied_as_it_is(tmp_path: Path, home: Installation) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_bytes(record())
    (tmp_path / "runs.drop.yaml").write_text("[not, a, mapping]\n")
    (drop,) = take_in(home, [path], one_drop=False)
    assert drop.sidecar_file is not None
    assert yaml.safe_load(drop.sidecar_file.read_text()) == ["not", "a", "mapping"]


def test_a_table_of_a_trace_store_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "traces.csv").write_text("id,name\n")
    with pytest.raises(InvalidDrop, match="lack the steps of agents; export JSON, or fetch the traces with a source"):
        inspect([tmp_path / "traces.csv"])


def test_a_name_is_not_taken_for_an_option(tmp_path: Path, home: Installation) -> None:
    runs = tmp_path / "runs"
    project = runs / "-home-ada-shop"
    project.mkdir(parents=True)
    (project / "one.jsonl").write_bytes(record())
    (project / "two.jsonl").write_bytes(record())
    (runs / "-x.jsonl").write_bytes(record())
    for _ in range(2):
        taken = take_in(home, [runs], one_drop=False)
        assert [drop.key for drop in taken] == ["home-ada-shop/one", "home-ada-shop/two", "x"]
    with pytest.raises(InvalidDrop, match="for an option"):
        take_in(home, [runs / "-x.jsonl"], one_drop=False, name="-x")


def test_a_drop_that_has_a_hyphen_in_front_keeps_it(tmp_path: Path, home: Installation) -> None:
    (tmp_path / "-x.jsonl").write_bytes(record())
    (home.drops / "-x.jsonl").write_bytes(record())
    assert [drop.key for drop in take_in(home, [tmp_path / "-x.jsonl"], one_drop=False)] == ["-x"]

"""What lies in a folder of runs and is not read: links out of it, pipes, windows into the system."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from upath import UPath

from evaluation_assets.core.intake.copying.drops import inspect, take_in
from evaluation_assets.core.intake.copying.folders import prepare
from evaluation_assets.core.intake.drops import InvalidDrop, scan
from evaluation_assets.core.system.installation import Installation
from evaluation_assets_tests.conftest import command, record


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder of runs, and a secret beside it."""
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(record())
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.jsonl").write_bytes(record("t2", text="key-of-the-house"))
    return folder


def link_out(runs: Path) -> Path:
    (runs / "e.jsonl").symlink_to(runs.parent / "elsewhere" / "secret.jsonl")
    return runs / "e.jsonl"


def link_to_environment(runs: Path) -> Path:
    (runs / "e.jsonl").symlink_to("/proc/self/environ")
    return runs / "e.jsonl"


def pipe(runs: Path) -> Path:
    os.mkfifo(runs / "e.jsonl")
    return runs / "e.jsonl"


def device(runs: Path) -> Path:
    (runs / "e.jsonl").symlink_to("/dev/zero")
    return runs / "e.jsonl"


def sidecar_link(runs: Path) -> Path:
    (runs / "a.drop.yaml").symlink_to(runs.parent / "elsewhere" / "secret.jsonl")
    return runs / "a.drop.yaml"


def folder_sidecar_link(runs: Path) -> Path:
    (runs / "_drop.yaml").symlink_to(runs.parent / "elsewhere" / "secret.jsonl")
    return runs / "_drop.yaml"


def folder_link(runs: Path) -> Path:
    (runs / "more").symlink_to(runs.parent / "elsewhere")
    return runs / "more"


HOSTILE = (link_out, link_to_environment, pipe, device, sidecar_link, folder_sidecar_link, folder_link)


@pytest.mark.parametrize("one_drop", [True, False])
@pytest.mark.parametrize("make", HOSTILE)
def test_what_is_no_file_of_a_folder_is_left_out_and_named(
    tmp_path: Path, runs: Path, make: Callable[[Path], Path], one_drop: bool
) -> None:
    hostile = make(runs)
    home = Installation.at(str(tmp_path / "home"))
    prepare(home)
    for look in (
        lambda say: inspect([runs], one_drop=one_drop, say=say),
        lambda say: take_in(home, [runs], one_drop=one_drop, say=say),
    ):
        said: list[str] = []
        drops = look(said.append)
        assert [file.name for drop in drops for file in drop.files] == ["a.jsonl"]
        assert [line.partition(": it is ")[0] for line in said] == [f"skipped: {hostile.name}"]
    kept = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert b"key-of-the-house" not in kept


@pytest.mark.parametrize("make", HOSTILE)
def test_the_drops_folder_follows_no_link_out_of_it(runs: Path, make: Callable[[Path], Path]) -> None:
    hostile = make(runs)
    found = scan(UPath(runs))
    assert [file.source for drop in found.drops.values() for file in drop.sources] == ["a.jsonl"]
    assert [problem.partition(": ")[0] for problem in found.problems] == [hostile.name]


def test_the_environment_gets_nowhere(tmp_path: Path, runs: Path) -> None:
    link_to_environment(runs)
    home = tmp_path / "home"
    for arguments in (("import",), ("evaluate", "--preprocess-only")):
        done = command(*arguments, runs, "--one-drop", home=home, EVALUATION_SECRET="key-of-the-house")
        assert "skipped: e.jsonl: it is a link" in done.stderr
        assert "key-of-the-house" not in done.stdout + done.stderr
    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"key-of-the-house" not in kept and (home / "drops" / "runs" / "a.jsonl").exists()


def test_links_that_stay_in_the_folder_are_read(runs: Path) -> None:
    (runs / "b.jsonl").symlink_to("a.jsonl")
    (runs / "of").symlink_to(runs)
    said: list[str] = []
    assert [drop.key for drop in inspect([runs], say=said.append)] == ["a", "b"]
    assert not said


def test_a_folder_that_is_a_link_itself_is_read_under_its_own_name(tmp_path: Path, runs: Path) -> None:
    (tmp_path / "latest").symlink_to(runs)
    said: list[str] = []
    (drop,) = inspect([tmp_path / "latest"], one_drop=True, say=said.append)
    assert (drop.key, [file.name for file in drop.files], said) == ("latest", ["a.jsonl"], [])


def test_a_named_link_is_read_under_its_own_name_with_the_sidecar_beside_it(tmp_path: Path, runs: Path) -> None:
    link = link_out(runs)
    (runs / "e.drop.yaml").write_text("agent: me\n")
    home = Installation.at(str(tmp_path / "home"))
    prepare(home)
    (drop,) = take_in(home, [link], one_drop=False)
    assert (drop.key, drop.sidecar().agent) == ("e", "me")
    assert b"key-of-the-house" in drop.files[0].read_bytes() and not Path(drop.files[0].path).is_symlink()


def test_the_sidecar_of_a_named_file_may_not_lead_out_of_its_folder(runs: Path) -> None:
    sidecar_link(runs)
    said: list[str] = []
    (drop,) = inspect([runs / "a.jsonl"], say=said.append)
    assert drop.sidecar_file is None
    assert said == ["skipped: a.drop.yaml: it is a link that leads out of the folder"]


@pytest.mark.parametrize("make", [link_to_environment, pipe, device])
def test_a_named_file_that_is_no_regular_one_is_refused(runs: Path, make: Callable[[Path], Path]) -> None:
    with pytest.raises(InvalidDrop, match=r"^e\.jsonl cannot be read: it is (not a regular file|a system file)"):
        inspect([make(runs)])


def test_a_named_pipe_ends_the_command(tmp_path: Path, runs: Path) -> None:
    done = command("evaluate", pipe(runs), home=tmp_path / "home")
    assert (done.returncode, "e.jsonl cannot be read: it is not a regular file" in done.stderr) == (2, True)

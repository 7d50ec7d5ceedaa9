"""`make check` finds the tests of what changed."""

import subprocess
import sys
from pathlib import Path

import pytest

from evaluation_assets_tests.changed import (
    OF_PAGES,
    OF_THE_PACKAGE,
    ROOT,
    changed_files,
    files_with_tests,
    start_of_change,
)

TESTS = Path("evaluation_assets_tests")
ALWAYS = sorted((*OF_PAGES, *OF_THE_PACKAGE))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in (
        "core/lake/test_lake.py",
        "core/gating/test_gate.py",
        "core/gating/test_drift.py",
        "core/gating/making.py",
        *ALWAYS,
    ):
        path = tmp_path / TESTS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("evaluation_assets/core/gating/gate.py", ["core/gating/test_gate.py", *ALWAYS]),
        ("evaluation_assets/core/gating/gate.yaml", ["core/gating/test_gate.py", *ALWAYS]),
        ("evaluation_assets/core/gating/rows.py", ["core/gating/test_drift.py", "core/gating/test_gate.py", *ALWAYS]),
        ("evaluation_assets_tests/core/lake/test_lake.py", ["core/lake/test_lake.py"]),
        ("evaluation_assets_tests/core/test_removed.py", []),
        ("evaluation_assets_tests/core/gating/making.py", []),
        ("evaluation_assets/core/new_room/module.py", ALWAYS),
        ("docs/gate.md", sorted(OF_PAGES)),
        ("Makefile", []),
    ],
)
def test_a_changed_file_has_these_tests(root: Path, changed: str, tests: list[str]) -> None:
    assert files_with_tests([Path(changed)], root) == [TESTS / each for each in tests]


def test_the_tests_that_are_always_run_exist() -> None:
    assert [name for name in ALWAYS if not (Path(__file__).parent / name).exists()] == []


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments], cwd=root, check=True)


@pytest.fixture
def repository(root: Path) -> Path:
    git(root, "init", "--quiet", "--initial-branch", "main")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "first")
    return root


def test_edited_and_new_files_are_found(repository: Path) -> None:
    edited, new = TESTS / "core" / "lake" / "test_lake.py", TESTS / "core" / "test_new.py"
    (repository / edited).write_text("edited = True\n")
    (repository / new).touch()
    assert changed_files("main", repository) == [edited, new]


def test_what_is_committed_on_main_of_a_clone_has_changed_too(repository: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(repository), str(clone))
    edited = TESTS / "core" / "lake" / "test_lake.py"
    (clone / edited).write_text("edited = True\n")
    git(clone, "commit", "--quiet", "--all", "--message", "second")
    assert changed_files(start_of_change(clone), clone) == [edited]


def test_a_repository_without_main_is_told_how_to_get_it(repository: Path) -> None:
    assert start_of_change(repository) == "main"
    git(repository, "branch", "--move", "work")
    with pytest.raises(SystemExit, match="git fetch origin main:main"):
        start_of_change(repository)


@pytest.mark.slow
def test_what_failed_can_be_run_once_more_alone(tmp_path: Path) -> None:
    """`make test-again` needs the cache of pytest: without it, `--last-failed` runs all tests."""
    file = tmp_path / "test_two.py"
    file.write_text("def test_good():\n    pass\n\n\ndef test_bad():\n    assert False\n")
    settings = [
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--override-ini",
        f"cache_dir={tmp_path / 'cache'}",
    ]

    def run(*options: str) -> str:
        command = [sys.executable, "-m", "pytest", *settings, *options, str(file)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False).stdout

    assert "1 failed, 1 passed" in run("-n", "1")
    assert "1 failed" in (again := run("--last-failed"))
    assert "passed" not in again

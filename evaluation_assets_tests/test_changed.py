"""`make check` finds the tests of what changed."""

import subprocess
from pathlib import Path

import pytest

from evaluation_assets_tests.changed import changed_files, files_with_tests

TESTS = Path("evaluation_assets_tests")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in (
        "core/lake/test_lake.py",
        "core/gating/test_gate.py",
        "core/gating/test_drift.py",
        "core/gating/making.py",
    ):
        path = tmp_path / TESTS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("evaluation_assets/core/gating/gate.py", ["core/gating/test_gate.py"]),
        ("evaluation_assets/core/gating/rows.py", ["core/gating/test_drift.py", "core/gating/test_gate.py"]),
        ("evaluation_assets_tests/core/lake/test_lake.py", ["core/lake/test_lake.py"]),
        ("evaluation_assets_tests/core/test_removed.py", []),
        ("evaluation_assets_tests/core/gating/making.py", []),
        ("evaluation_assets/core/new_room/module.py", []),
        ("docs/gate.md", []),
    ],
)
def test_a_changed_file_has_these_tests(root: Path, changed: str, tests: list[str]) -> None:
    assert files_with_tests([Path(changed)], root) == [TESTS / each for each in tests]


def test_edited_and_new_files_are_found(root: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments], cwd=root, check=True)

    git("init", "--quiet", "--initial-branch", "main")
    git("add", ".")
    git("commit", "--quiet", "--message", "first")
    edited, new = TESTS / "core" / "test_lake.py", TESTS / "core" / "test_new.py"
    (root / edited).write_text("edited = True\n")
    (root / new).touch()
    assert changed_files("main", root) == [edited, new]

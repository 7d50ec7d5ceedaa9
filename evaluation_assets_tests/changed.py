"""Print the test files of what changed since a commit: `python -m evaluation_assets_tests.changed main`.

A changed test file is itself printed. For a module it is the test file of the same name; without one, all test files
in the folder of tests of the same name. Files of other kinds have no tests of their own.
"""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE, TESTS = Path("evaluation_assets"), Path("evaluation_assets_tests")


def changed_files(since: str, root: Path) -> list[Path]:
    """The files that differ from the last commit in common with `since`, and those that git does not know yet."""
    commands = (
        ["git", "diff", "--name-only", "--merge-base", since],
        ["git", "ls-files", "--others", "--exclude-standard"],
    )
    listed = (subprocess.run(each, cwd=root, capture_output=True, text=True, check=True).stdout for each in commands)
    return [Path(line) for lines in listed for line in lines.splitlines()]


def files_with_tests(changed: Iterable[Path], root: Path) -> list[Path]:
    """The existing test files of changed files, in order."""
    found: set[Path] = set()
    for path in changed:
        if path.suffix != ".py":
            continue
        if path.is_relative_to(TESTS):
            found |= {path} if path.name.startswith("test_") and (root / path).exists() else set()
        elif path.is_relative_to(PACKAGE):
            folder = TESTS / path.parent.relative_to(PACKAGE)
            own = folder / f"test_{path.name}"
            beside = (each.relative_to(root) for each in (root / folder).glob("test_*.py"))
            found |= {own} if (root / own).exists() else set(beside)
    return sorted(found)


if __name__ == "__main__":
    print(*files_with_tests(changed_files(sys.argv[1], ROOT), ROOT), sep="\n")

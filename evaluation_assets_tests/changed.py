"""Run the tests of what changed since main, before a pull request: `python -m evaluation_assets_tests.changed`.

What follows is passed on to pytest. A changed test file is itself run. For a module, or another file of the package, it
is the test file of the same name; without one, all test files in the folder of tests of the same name. A change of the
package also runs what notices a generated page, a version string or a row that was forgotten; a change of the package
or of a page, what reads both.
"""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE, TESTS = Path("evaluation_assets"), Path("evaluation_assets_tests")
OF_THE_PACKAGE = ("test_house.py", "test_versions.py")
OF_PAGES = ("test_documentation.py", "test_language.py", "test_links.py")


def start_of_change(root: Path) -> str:
    """The branch that changes are compared with: main of the repository that was cloned, else the local one."""
    for branch in ("origin/main", "main"):
        known = ["git", "rev-parse", "--verify", "--quiet", f"{branch}^{{commit}}"]
        if subprocess.run(known, cwd=root, capture_output=True, check=False).returncode == 0:
            return branch
    raise SystemExit("There is no branch main to compare with; run `git fetch origin main:main`.")


def changed_files(since: str, root: Path) -> list[Path]:
    """The files that differ from the last commit in common with `since`, and those that git does not know yet."""
    commands = (
        ["git", "diff", "--name-only", "--merge-base", since],
        ["git", "ls-files", "--others", "--exclude-standard"],
    )
    listed = (subprocess.run(each, cwd=root, stdout=subprocess.PIPE, text=True, check=True).stdout for each in commands)
    return [Path(line) for lines in listed for line in lines.splitlines()]


def files_with_tests(changed: Iterable[Path], root: Path) -> list[Path]:
    """The existing test files of changed files, in order."""
    found: set[Path] = set()
    for path in changed:
        if path.is_relative_to(PACKAGE):
            folder = TESTS / path.parent.relative_to(PACKAGE)
            own = folder / f"test_{path.stem}.py"
            beside = (each.relative_to(root) for each in (root / folder).glob("test_*.py"))
            found |= {own} if (root / own).exists() else set(beside)
            found |= {TESTS / name for name in (*OF_THE_PACKAGE, *OF_PAGES)}
        elif path.suffix == ".md":
            found |= {TESTS / name for name in OF_PAGES}
        elif path.is_relative_to(TESTS) and path.match("test_*.py"):
            found.add(path)
    return sorted(path for path in found if (root / path).exists())


def main(arguments: list[str]) -> int:
    """Run the tests, and return the exit status of pytest."""
    since = start_of_change(ROOT)
    files = [str(path) for path in files_with_tests(changed_files(since, ROOT), ROOT)]
    print(f"== changed since {since}: {' '.join(files) or 'nothing that has tests'}", flush=True)
    command = [sys.executable, "-m", "pytest", *arguments, *files]
    return subprocess.run(command, cwd=ROOT, check=False).returncode if files else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

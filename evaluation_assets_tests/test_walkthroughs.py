"""Pages that a reader follows step by step: every command on them runs and prints what they show."""

from pathlib import Path

import pytest

from evaluation_assets_tests.walkthrough import Command, File, follow, is_shown, steps

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parent.parent / "docs"


def test_the_tutorial_can_be_followed(tmp_path: Path) -> None:
    assert follow(DOCS / "tutorial.md", tmp_path) >= 12


def test_the_how_to_guides_can_be_followed(tmp_path: Path) -> None:
    assert follow(DOCS / "how_to.md", tmp_path) >= 7


def test_a_regression_becomes_a_test_and_its_relapse_fails(tmp_path: Path) -> None:
    assert follow(DOCS / "failure_groups.md", tmp_path) >= 14


def test_a_page_is_files_and_commands_in_order() -> None:
    file = '```python title="a.py"\nprint(1)\n```\n```bash\nignored\n```\n'
    page = f"{file}```console\n$ python a.py\n1\n$ false\n$ echo $?\n1\n```\n"
    assert list(steps(page)) == [File("a.py", "print(1)\n"), Command("python a.py", "1\n", 0), Command("false", "", 1)]


@pytest.mark.parametrize(
    ("printed", "shown", "expected"),
    [
        ("one\ntwo\n", "one\ntwo\n", True),
        ("one\ntwo\nthree\n", "one\n...\nthree\n", True),
        ("one\nthree\n", "one\n...\nthree\n", True),
        ("report /home/a/report.html\n", "report ...report.html\n", True),
        ("one\ntwo\n", "one\n", False),
        ("0.695\n", "0.696\n", False),
        ("one\n", "", False),
    ],
)
def test_output_is_compared_with_the_page(printed: str, shown: str, expected: bool) -> None:
    assert is_shown(printed, shown) is expected


@pytest.mark.parametrize("block", ["$ false\n", "$ true\n$ echo $?\n1\n", "$ echo 1\n2\n"])
def test_a_page_that_is_wrong_fails(tmp_path: Path, block: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```console\n{block}```\n")
    with pytest.raises(AssertionError):
        follow(page, tmp_path)

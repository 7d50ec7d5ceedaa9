"""A forked command is what a command of its own is: output, exit status, environment."""

from pathlib import Path

import pytest

from evaluation_assets_tests.conftest import SAMPLE, command, command_of_its_own


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", str(SAMPLE), "--quiet"),
        ("overview",),
        ("formats",),
        ("gate", "nope"),
        ("evaluate", "missing.jsonl"),
    ],
    ids=" ".join,
)
def test_it_prints_and_returns_the_same(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    own = command_of_its_own(*arguments, home=tmp_path / "own")
    forked = command(*arguments, home=tmp_path / "forked")
    assert forked.returncode == own.returncode
    assert forked.stdout.replace("forked", "own").splitlines()[:3] == own.stdout.splitlines()[:3]
    assert forked.stderr.replace("forked", "own") == own.stderr.replace(
        "python -m evaluation_assets.cli", "evaluation-assets"
    )


def test_what_python_reads_when_it_starts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="PYTHONPATH"):
        command("formats", home=tmp_path, PYTHONPATH=str(tmp_path))

"""What `evaluate` prints of a drop when it has ended."""

from pathlib import Path

from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.core.pipeline.test_reading import good, lines


def test_the_terminal_says_which_runs_were_drawn(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes(lines(*(good(f"run{number}") for number in range(12))))
    (tmp_path / "d.drop.yaml").write_text("share: 0.5\n")
    planned = command("plan", tmp_path / "d.jsonl", home=tmp_path / "home").stdout
    printed = command("evaluate", tmp_path / "d.jsonl", home=tmp_path / "home").stdout
    assert "of 12 runs evaluated: " in printed and "outside of the 50.0% drawn by their IDs" in printed
    assert next(line for line in printed.splitlines() if "drawn" in line) in planned

"""The table of prices in the README comes from one command."""

import re
from pathlib import Path

import pytest

from benchmarks import prices
from evaluation_assets_tests.conftest import SAMPLE

README = Path(__file__).parents[2] / "README.md"


def test_the_table_has_the_rows_of_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    prices.main(SAMPLE)
    printed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    readme = README.read_text("utf-8")
    for line in printed:
        assert f"\n{line.split(' $')[0]}" in readme
    decides, cascade, writes = ([float(price) for price in re.findall(r"\$([\d.]+)", line)] for line in printed[2:])
    assert cascade[::2] == decides and min(decides) > 0
    assert cascade[1::2] == pytest.approx([own + more for own, more in zip(decides, writes, strict=True)], abs=0.011)

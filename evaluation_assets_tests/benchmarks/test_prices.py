"""The table of prices in the README comes from one command."""

import re
from pathlib import Path

import pytest

from benchmarks import prices
from evaluation_assets_tests.conftest import SAMPLE
from evaluation_assets_tests.third_party import data

README = Path(__file__).parents[2] / "README.md"


def test_the_table_has_the_rows_of_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    prices.main(SAMPLE)
    printed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    readme = README.read_text("utf-8")
    for line in printed:
        assert f"\n{line.split(' $')[0]}" in readme
    decides, cascade, writes = map(_prices, printed[2:])
    assert min(decides) > 0
    assert cascade == pytest.approx([own + 0.2 * more for own, more in zip(decides, writes, strict=True)], abs=0.011)


@pytest.mark.slow
def test_the_prices_of_the_readme_are_those_of_the_conversations_that_it_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Half of their tasks are here: what a thousand conversations cost differs by a tenth."""
    prices.main(data("tau-bench/gpt-4o-airline.even-tasks.json"))
    readme = README.read_text("utf-8").splitlines()
    for line in capsys.readouterr().out.splitlines()[-3:]:
        (own,) = [each for each in readme if each.startswith(line.split(" $")[0])]
        assert _prices(own) == pytest.approx(_prices(line), rel=0.13), own


def _prices(line: str) -> list[float]:
    return [float(price) for price in re.findall(r"\$([\d.]+)", line)]

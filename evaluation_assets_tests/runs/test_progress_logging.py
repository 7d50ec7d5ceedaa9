"""Progress on a terminal, and log lines of the product after an evaluation in the same process."""

import io

import pytest
from rich.console import Console

from evaluation_assets.runs.progress import LOG, Figures, RunProgress


def test_log_lines_reach_the_caller_again_after_a_run() -> None:
    with RunProgress(quiet=True).over(1):
        assert not LOG.propagate
    assert LOG.propagate


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (60, "28.8/s, ~2 min left, $0.0590, 40% of the input cached"),
        (40, "28.8/s, ~2 min left, $0.0590"),
        (28, "28.8/s, ~2 min left, $0.0590"),
        (4, "28.…"),
    ],
)
def test_figures_that_do_not_fit_are_left_out_whole(width: int, shown: str) -> None:
    console = Console(width=width, file=io.StringIO())
    with console.capture() as captured:
        console.print(Figures("28.8/s, ~2 min left, $0.0590, 40% of the input cached"))
    assert captured.get() == f"{shown}\n"

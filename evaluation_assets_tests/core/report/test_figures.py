"""How figures are written in reports and on the terminal."""

import pytest

from evaluation_assets.cli.overview import _cell
from evaluation_assets.core.report.render import environment


def test_a_score_just_below_zero_has_no_sign() -> None:
    assert environment().filters["score"](-0.001) == "0.00"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.00004, "0.00004"), (-1e-17, "0.000"), (0.0, "0.000"), (0.25, "0.250"), (None, "-"), (True, "yes")],
)
def test_a_small_cost_is_not_shown_as_none(value: float | None, text: str) -> None:
    assert _cell(value) == text

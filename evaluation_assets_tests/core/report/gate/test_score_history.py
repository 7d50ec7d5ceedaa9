"""Which drop of a suite was evaluated before another."""

import pytest

from evaluation_assets.core.report.gate.score_history import drop_before

ROWS = [{"drop": drop, "metric": metric} for drop in ("a", "b", "c") for metric in ("cost_usd", "overall")]


@pytest.mark.parametrize(("drop", "before"), [("a", None), ("b", "a"), ("c", "b"), ("not evaluated yet", "c")])
def test_the_drop_before_another(drop: str, before: str | None) -> None:
    assert drop_before(ROWS, drop) == before


def test_a_suite_without_history_has_no_drop_before() -> None:
    assert drop_before([], "a") is None

"""Distributions of scores."""

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.report.render import tenths_text
from evaluation_assets.core.report.scores.distributions import statistic
from evaluation_assets.core.scoring.intervals import wilson


@given(st.lists(st.floats(0, 1) | st.none(), max_size=50))
def test_every_score_is_counted_in_its_tenth(values: list[float | None]) -> None:
    known = [value for value in values if value is not None]
    tenths = statistic(values).tenths
    assert sum(tenths) == len(known)
    for place, count in enumerate(tenths):
        low, high = place / 10, (place + 1) / 10
        assert count >= sum(low + 1e-9 < value < high - 1e-9 for value in known)


def test_bounds_belong_to_the_tenth_above_and_1_to_the_last() -> None:
    assert statistic([0.0, 0.1, 0.5, 1.0]).tenths == [1, 1, 0, 0, 0, 1, 0, 0, 0, 1]


def test_values_that_are_no_scores_have_no_tenths() -> None:
    assert statistic([12.0, 0.5]).tenths == []
    assert statistic([]).tenths == []


def test_a_distribution_is_told_in_words() -> None:
    assert tenths_text(statistic([0.25, 0.21, 1.0, None])) == "3 scores: 2 from 0.2 to 0.3, 1 from 0.9 to 1.0"
    assert tenths_text(statistic([0.0])) == "1 score: 1 from 0.0 to 0.1"


def test_scores_that_are_all_0_or_1_have_the_interval_of_rates_and_others_that_do_not_vary_none() -> None:
    tasks = list(range(20))
    low, high = wilson(20, 20)
    full, same = statistic([1.0] * 20, tasks), statistic([0.9] * 20, tasks)
    assert (full.ci_low, full.ci_high) == (pytest.approx(low), high)
    assert (same.ci_low, same.ci_high) == (None, None)
    for template in ("report.md.j2", "report.html.j2"):
        legend = (files("evaluation_assets.core.report") / "templates" / template).read_text("utf-8")
        assert "scores that are all 0 or 1 have Wilson's" in legend

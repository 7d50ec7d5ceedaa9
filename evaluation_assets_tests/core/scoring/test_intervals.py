"""Confidence intervals and standard errors against SciPy's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation_assets.core.scoring.intervals import clustered, mean_of_tasks, wilson

shares = st.floats(0, 1, width=32)


@given(st.integers(1, 200), st.data())
def test_wilsons_interval_holds_the_rate_and_stays_a_rate(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, n))
    low, high = wilson(successes, n)
    wanted = stats.binomtest(successes, n).proportion_ci(0.95, "wilson")
    assert (low, high) == pytest.approx((wanted.low, wanted.high), abs=1e-9)
    assert 0 <= low <= successes / n <= high <= 1


@given(st.lists(shares, min_size=3, max_size=30))
def test_clusters_of_one_give_the_usual_standard_error(values: list[float]) -> None:
    mean, error, degrees = clustered(values, range(len(values)))
    assert (mean, degrees) == (pytest.approx(np.mean(values)), len(values) - 1)
    assert error == pytest.approx(stats.sem(values), abs=1e-9)


@given(st.lists(shares, min_size=2, max_size=20))
def test_repeating_every_value_in_its_cluster_makes_nothing_surer(values: list[float]) -> None:
    once = clustered(values, range(len(values)))
    twice = clustered([*values, *values], [*range(len(values)), *range(len(values))])
    assert twice == pytest.approx(once, abs=1e-9)


def test_outcomes_get_wilsons_interval_and_one_task_none() -> None:
    assert mean_of_tasks([1.0, 0.0, 1.0, 1.0]).low == pytest.approx(wilson(3, 4)[0])
    assert mean_of_tasks([0.7]).low is None

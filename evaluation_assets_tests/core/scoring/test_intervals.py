"""Confidence intervals and standard errors against SciPy's own."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.scoring.intervals import (
    Interval,
    clustered,
    interval_of_mean,
    mean_of_clustered_means,
    mean_of_tasks,
    rate_interval,
    share_interval,
    wilson,
)

shares = st.floats(0, 1, width=32)


@given(st.integers(1, 200), st.data())
def test_wilsons_interval_holds_the_rate_and_stays_a_rate(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, n))
    low, high = wilson(successes, n)
    wanted = scipy.stats.binomtest(successes, n).proportion_ci(0.95, "wilson")
    assert (low, high) == pytest.approx((wanted.low, wanted.high), abs=1e-9)
    assert 0 <= low <= successes / n <= high <= 1


@given(st.lists(shares, min_size=3, max_size=30))
def test_clusters_of_one_give_the_usual_standard_error(values: list[float]) -> None:
    mean, error, degrees = clustered(values, range(len(values)))
    assert (mean, degrees) == (pytest.approx(np.mean(values)), len(values) - 1)
    assert error == pytest.approx(scipy.stats.sem(values), abs=1e-9)


@given(st.lists(shares, min_size=2, max_size=20))
def test_repeating_every_value_in_its_cluster_makes_nothing_surer(values: list[float]) -> None:
    once = clustered(values, range(len(values)))
    twice = clustered([*values, *values], [*range(len(values)), *range(len(values))])
    assert twice == pytest.approx(once, abs=1e-9)


def test_a_rate_has_the_interval_of_its_effective_number_of_tasks() -> None:
    assert rate_interval([[True, True], [False, False], [True, False]]) == wilson(1.5, 3)
    one_task_has_most_runs = [[True] * 40, *([False] for _ in range(9))]
    low, high = rate_interval(one_task_has_most_runs)
    assert low < 40 / 49 < high
    assert high - low > 0.7, "40 trials of one task are one observation"
    values = [float(outcome) for outcomes in one_task_has_most_runs for outcome in outcomes]
    tasks = [number for number, outcomes in enumerate(one_task_has_most_runs) for _ in outcomes]
    found = interval_of_mean([(values, tasks)])
    assert (found.low, found.high) == (low, high), "a mean of outcomes is the same rate"


@pytest.mark.parametrize("tasks", [10, 40])
@pytest.mark.parametrize("mean", [0.5, 0.9])
def test_the_interval_of_a_rate_over_repeated_trials_covers_and_is_not_that_of_tasks_that_agree(
    tasks: int, mean: float
) -> None:
    random = np.random.default_rng(7)
    covered, widths, runs = 0, [], 300
    for _ in range(runs):
        chances = random.beta(2 * mean, 2 * (1 - mean), tasks)
        outcomes = [(random.random(4) < chance).tolist() for chance in chances]
        low, high = rate_interval(outcomes)
        covered += low <= mean <= high
        whole = wilson(sum(map(sum, outcomes)) / 4, tasks)
        widths.append((high - low) / (whole[1] - whole[0]))
    assert covered / runs >= 0.95 - 3 * (0.95 * 0.05 / runs) ** 0.5
    assert np.mean(widths) < 0.9


def test_a_share_of_each_task_has_the_interval_of_its_trials() -> None:
    outcomes = [[True, True, False], [False] * 3, [True] * 3, [True, False, False], [False] * 3, [True] * 3]
    shares = [sum(each) / 3 for each in outcomes]
    assert share_interval(shares, 18) == pytest.approx(rate_interval(outcomes))
    assert share_interval([1.0, 0.0, 1.0, 1.0], 4) == pytest.approx(wilson(3, 4))


def test_pass_hat_2_is_covered_where_few_tasks_pass() -> None:
    random = np.random.default_rng(2)
    true, covered, runs = 2 * 3 / (10 * 11), 0, 300
    for _ in range(runs):
        passed = random.binomial(4, random.beta(2, 8, 10))
        low, high = share_interval([n * (n - 1) / 12 for n in passed.tolist()], 40)
        covered += low <= true <= high
    assert covered / runs >= 0.95 - 3 * (0.95 * 0.05 / runs) ** 0.5


def test_means_of_few_tasks_and_of_equal_ones_have_no_interval() -> None:
    assert mean_of_tasks([0.7]).low is None
    assert mean_of_tasks([0.7, 0.8, 0.7, 0.9]).low is None
    assert mean_of_tasks([0.7] * 20).low is None
    assert mean_of_tasks([0.7, 0.8, 0.7, 0.9, 0.6]).low is not None


def _by_task(values: list[float], tasks: int) -> list[int]:
    return [index % tasks for index in range(len(values))]


@given(st.lists(shares, min_size=5, max_size=40))
def test_the_interval_of_a_mean_holds_it_and_stays_a_share(values: list[float]) -> None:
    found = interval_of_mean([(values, _by_task(values, 5))])
    assert found.n == 5
    if found.low is not None and found.high is not None:
        assert 0 <= found.low <= np.mean(values) + 1e-9
        assert np.mean(values) - 1e-9 <= found.high <= 1


@given(st.lists(shares, min_size=6, max_size=30), st.lists(shares, min_size=6, max_size=30))
def test_the_mean_of_means_weighs_groups_equally_and_knows_that_they_share_tasks(
    one: list[float], other: list[float]
) -> None:
    mean, error, degrees = mean_of_clustered_means([(one, _by_task(one, 6)), (other, _by_task(other, 6))])
    assert mean == pytest.approx((np.mean(one) + np.mean(other)) / 2, abs=1e-9)
    assert degrees == 5
    same = mean_of_clustered_means([(one, _by_task(one, 6))] * 2)
    assert same[1] == pytest.approx(clustered(one, _by_task(one, 6))[1], abs=1e-9)
    assert error <= (clustered(one, _by_task(one, 6))[1] + clustered(other, _by_task(other, 6))[1]) / 2 + 1e-9


def test_few_tasks_and_equal_scores_have_no_interval_and_outcomes_have_wilsons() -> None:
    assert interval_of_mean([([0.1, 0.5, 0.9, 0.4], range(4))]) == Interval(None, None, 4)
    assert interval_of_mean([([0.1, 0.5, 0.9, 0.4] * 9, [*range(4)] * 9)]) == Interval(None, None, 4)
    assert interval_of_mean([([0.7] * 8, range(8))]) == Interval(None, None, 8)
    low, high = wilson(8, 8)
    assert interval_of_mean([([1.0] * 16, [*range(8)] * 2)]) == Interval(low, high, 8)
    mixed = interval_of_mean([([1.0, 0.0] * 8, [index // 4 for index in range(16)])])
    assert mixed == Interval(None, None, 4)

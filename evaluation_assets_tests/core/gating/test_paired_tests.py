"""The gate's tests against SciPy's own, and their error rates."""

import numpy as np
import pytest
import scipy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation_assets.core.gating.paired_tests import (
    Noise,
    compare_outcomes,
    compare_scores,
    holm,
    tasks_needed,
    tasks_to_pass,
    tasks_to_show,
)


@given(arrays(float, st.integers(2, 40), elements=st.floats(-1, 1, width=32)))
def test_scores_are_compared_by_students_t(differences: np.ndarray) -> None:
    assume(differences.std() > 1e-6)
    found = compare_scores(differences, 0.05, 0.05)
    assert found.p_regression == pytest.approx(scipy.stats.ttest_1samp(differences, 0, alternative="less")[1])
    assert found.p_non_inferior == pytest.approx(scipy.stats.ttest_1samp(differences, -0.05, alternative="greater")[1])
    wanted = scipy.stats.ttest_1samp(differences, 0).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high))


def statistic(lost: np.ndarray, gained: np.ndarray) -> np.ndarray:
    return (lost - gained) / np.sqrt(np.maximum(lost + gained, 1))


def chances(tasks: int, lost: float, gained: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every outcome of this many tasks as numbers lost and gained, with its probability."""
    grid = np.array([(x, y) for x in range(tasks + 1) for y in range(tasks + 1 - x)])
    thirds = np.column_stack([grid, tasks - grid.sum(axis=1)])
    return grid[:, 0], grid[:, 1], scipy.stats.multinomial.pmf(thirds, tasks, [lost, gained, 1 - lost - gained])


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 14), st.data())
def test_outcomes_are_compared_by_the_exact_unconditional_test(tasks: int, draw: st.DataObject) -> None:
    lost = draw.draw(st.integers(0, tasks))
    gained = draw.draw(st.integers(0, tasks - lost))
    found = compare_outcomes(lost, gained, tasks, 0.05, 0.05)
    assert -1 <= found.low < found.high <= 1
    if lost <= gained:
        assert found.p_regression == 1
        return
    worst = 0.0
    for share in np.linspace(0.005, 1, 400):
        x, y, chance = chances(tasks, share / 2, share / 2)
        worst = max(worst, chance[statistic(x, y) >= (lost - gained) / (lost + gained) ** 0.5 - 1e-9].sum())
    assert found.p_regression == pytest.approx(worst, abs=2e-3)


@pytest.mark.parametrize("tasks", [10, 30, 50])
def test_the_test_of_outcomes_keeps_its_level_and_finds_more_than_mcnemars(tasks: int) -> None:
    x, y, _ = chances(tasks, 0.1, 0.1)
    significant = compare_outcomes(x, y, tasks, 0.05, 0.05).p_regression <= 0.05
    conditional = np.array(
        [
            lost > 0 and scipy.stats.binom.sf(lost - 1, lost + gained, 0.5) <= 0.05
            for lost, gained in zip(x, y, strict=True)
        ]
    )
    for share in np.linspace(0.01, 1, 100):
        assert chances(tasks, share / 2, share / 2)[2][significant].sum() <= 0.0505
    power = chances(tasks, 0.2, 0.05)[2]
    assert power[significant].sum() > power[conditional].sum()


@pytest.mark.parametrize(("tasks", "changed"), [(20, 2), (30, 6), (50, 10)])
def test_the_detectable_decrease_of_outcomes_is_found_with_the_power(tasks: int, changed: int) -> None:
    decrease = float(compare_outcomes(changed / 2, changed / 2, tasks, 0.05, 0.05, 0.8).detectable)
    x, y, chance = chances(tasks, changed / 2 / tasks + decrease, changed / 2 / tasks)
    significant = compare_outcomes(x, y, tasks, 0.05, 0.05).p_regression <= 0.05
    assert chance[significant].sum() == pytest.approx(0.8, abs=0.005)


@pytest.mark.parametrize(("tasks", "decrease"), [(8, 0.312), (11, 0.238), (12, 0.221), (58, 0.050)])
def test_outcomes_of_which_none_changed_show_the_decrease_that_seldom_loses_no_task(
    tasks: int, decrease: float
) -> None:
    found = compare_outcomes(0, 0, tasks, 0.05, 0.05)
    assert found.detectable == pytest.approx(decrease, abs=5e-4)
    assert scipy.stats.binom.pmf(0, tasks, found.detectable) == pytest.approx(0.05)
    assert tasks_to_show(float(found.detectable), 0.05) == tasks


@given(arrays(float, st.integers(5, 60), elements=st.floats(-1, 1, width=32)), st.integers(1, 4))
def test_the_detectable_decrease_of_scores_is_alphas_and_powers_quantiles(values: np.ndarray, metrics: int) -> None:
    assume(values.std() > 1e-6)
    found = compare_scores(values, 0.05, 0.05, 0.8, metrics=metrics)
    degrees = len(values) - 1
    quantiles = scipy.stats.t.ppf(1 - 0.05 / metrics, degrees) + scipy.stats.t.ppf(0.8, degrees)
    assert found.detectable == pytest.approx(quantiles * scipy.stats.sem(values))


def test_the_interval_of_outcomes_is_agresti_and_mins() -> None:
    found = compare_outcomes(3, 6, 20, 0.05, 0.05)
    error = (3.5 + 6.5 - 3**2 / 22) ** 0.5 / 22
    assert found.low == pytest.approx(3 / 22 - scipy.stats.norm.ppf(0.95) * error)
    assert found.effect == pytest.approx(3 / 20)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_monotone_and_never_below_the_p_value(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    pairs = sorted(zip(p_values, adjusted, strict=True))
    assert all(p <= q <= 1 for p, q in pairs)
    assert [q for _, q in pairs] == sorted(q for _, q in pairs)
    assert min(adjusted) == pytest.approx(min(1, len(p_values) * min(p_values)))


def test_holm_by_hand() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])


@pytest.mark.parametrize("changed", [0.18, 0.3, 0.5])
def test_as_many_tasks_as_are_said_to_be_needed_let_an_unchanged_run_pass(changed: float) -> None:
    needed = tasks_to_pass(Noise(changed**0.5, changed), 0.25, 0.05, 0.8, 0.95, 51)
    passes = []
    for tasks in (needed, needed - 12):
        flips = np.arange(tasks + 1)
        found = compare_outcomes(flips / 2, flips / 2, tasks, 0.05, 0.05, 0.8).detectable <= 0.25
        passes.append(float(scipy.stats.binom.pmf(flips, tasks, changed)[found].sum()))
    assert passes[0] >= 0.9
    assert needed == 51 or passes[1] < 0.9, "and not many more"


def test_as_many_tasks_as_are_said_to_be_needed_let_unchanged_scores_pass() -> None:
    needed = tasks_to_pass(Noise(0.6), 0.25, 0.05, 0.8, 0.95, 9)
    random = np.random.default_rng(1)
    found = compare_scores(random.normal(0, 0.6, (2000, needed)), 0.05, 0.05, 0.8).detectable <= 0.25
    assert found.mean() == pytest.approx(0.95, abs=0.02)


def test_a_run_of_which_every_outcome_changed_detects_little() -> None:
    assert float(compare_outcomes(10, 10, 20, 0.05, 0.05, 0.8).detectable) > 0.4


@pytest.mark.parametrize(("spread", "drop", "n"), [(0.15, 0.05, 58), (0.30, 0.10, 58), (0.30, 0.05, 225)])
def test_tasks_needed(spread: float, drop: float, n: int) -> None:
    assert tasks_needed(spread, drop, 0.05, 0.8) == pytest.approx(n, abs=1)

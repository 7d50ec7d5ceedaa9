"""Single tasks that fell: how often noise alone is called a fall, and what is found."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation_assets.core.gating.single_tasks import benjamini_hochberg, p_outcomes, p_scores


@given(arrays(float, st.integers(1, 60), elements=st.floats(0, 1)))
def test_the_adjustment_is_scipys(p_values: np.ndarray) -> None:
    assert benjamini_hochberg(p_values) == pytest.approx(scipy.stats.false_discovery_control(p_values))


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_outcomes_of_trials_are_compared_by_fishers_exact_test(before: int, now: int, draw: st.DataObject) -> None:
    passed, then = draw.draw(st.integers(0, before)), draw.draw(st.integers(0, now))
    table = [[then, now - then], [passed, before - passed]]
    found = p_outcomes(np.array([passed / before]), np.array([before]), np.array([then / now]), np.array([now]))
    assert found[0] == pytest.approx(scipy.stats.fisher_exact(table, "less")[1])


def test_one_trial_on_each_side_shows_nothing() -> None:
    assert p_outcomes(np.array([1.0, 1.0, 0.0]), 1, np.array([0.0, 1.0, 1.0]), 1) == pytest.approx([0.5, 1.0, 1.0])


@pytest.mark.parametrize("tasks", [20, 50, 100])
@pytest.mark.parametrize("heavy", [False, True])
def test_noise_alone_is_rarely_a_fall(tasks: int, heavy: bool) -> None:
    random, runs = np.random.default_rng(tasks), 2000
    spread = np.where(np.arange(tasks) % 2, 0.12, 0.06) if heavy else 0.1
    differences = random.normal(0, 1, (runs, tasks)) * spread
    found = (benjamini_hochberg(p_scores(differences)) <= 0.05).any(axis=1)
    assert found.mean() <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_a_task_that_falls_far_beyond_the_noise_is_found_and_no_other() -> None:
    differences = np.random.default_rng(4).normal(0.02, 0.03, 50)
    differences[7] = -0.5
    assert list(np.flatnonzero(benjamini_hochberg(p_scores(differences)) <= 0.05)) == [7]


def test_without_any_rise_the_noise_is_unknown() -> None:
    assert p_scores(np.array([0.0] * 20 + [-0.5])) == pytest.approx(np.ones(21))

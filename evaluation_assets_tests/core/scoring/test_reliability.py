"""What judges and panels are worth, against definitions and on recorded judges."""

from statistics import fmean, pstdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.scoring.agreement import agreement
from evaluation_assets.core.scoring.reliability import (
    alpha_interval,
    alpha_of,
    cohen_kappa,
    components,
    effective_judges,
    influence,
    kappa_interval,
    retest_std,
    table_of,
)

score = st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0])


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_kappa_is_1_for_agreement_and_does_not_depend_on_order_or_side(pairs: list[tuple[bool, bool]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    kappa = cohen_kappa(first, second)
    assert kappa == cohen_kappa(second, first)
    assert cohen_kappa(first[::-1], second[::-1]) == kappa
    assert kappa is None or kappa <= 1
    assert cohen_kappa(first, first) == (1.0 if len(set(first)) == 2 else None)


def test_retest_spread_by_hand() -> None:
    """Two verdicts that differ by d have the variance d**2 / 2; a subject judged once says nothing."""
    assert retest_std([[0.9, 0.7], [0.5, 0.5], [0.1]]) == pytest.approx((0.02 / 2) ** 0.5)
    assert retest_std([[0.1], []]) is None


def test_kappa_by_hand() -> None:
    first, second = [1] * 25 + [0] * 25, [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    assert cohen_kappa([], []) is None


def test_intervals_hold_the_value_and_need_ten_subjects() -> None:
    random = np.random.default_rng(3)
    truth = random.random(80) < 0.6
    judged = np.where(random.random(80) < 0.2, ~truth, truth)
    kappa = cohen_kappa(judged.tolist(), truth.tolist())
    low, high = kappa_interval(judged.tolist(), truth.tolist())
    assert kappa is not None and low is not None and high is not None
    assert low < kappa < high
    assert kappa_interval([1, 0], [1, 0]) == (None, None)
    ratings = np.column_stack([truth, judged]).astype(float)
    low, high = alpha_interval(ratings)
    assert low is not None and high is not None
    assert low < (alpha_of(ratings) or 0) < high


@pytest.mark.parametrize(("tasks", "trials"), [(20, 1), (20, 5)])
@pytest.mark.parametrize("accuracy", [0.75, 0.97])
def test_the_interval_of_kappa_covers_it_over_tasks_with_repeated_runs(
    tasks: int, trials: int, accuracy: float
) -> None:
    random = np.random.default_rng(2)
    kappa, covered, runs = 2 * accuracy - 1, 0, 150
    for _ in range(runs):
        truth = np.repeat(random.random(tasks) < 0.5, trials)  # runs of a task succeed and are misjudged together
        judged = np.where(np.repeat(random.random(tasks) < accuracy, trials), truth, ~truth)
        clusters = np.repeat(np.arange(tasks), trials).tolist()
        low, high = kappa_interval(judged.tolist(), truth.tolist(), clusters)
        assert low is not None and high is not None and low < high
        covered += low <= kappa <= high
    assert covered / runs >= 0.95 - 3 * (0.95 * 0.05 / runs) ** 0.5


@given(st.lists(st.lists(score | st.none(), min_size=3, max_size=3), min_size=1, max_size=12))
def test_alpha_of_a_matrix_is_alpha_of_the_score_table(items: list[list[float | None]]) -> None:
    rows = [
        {"criterion": "c", "n_scored": len(known), "mean": fmean(known), "std": pstdev(known)}
        for item in items
        if (known := [value for value in item if value is not None])
    ]
    wanted = agreement(rows)["c"].alpha if agreement(rows) else None
    found = alpha_of(np.array([[np.nan if value is None else value for value in item] for item in items]))
    assert (found is None) == (wanted is None)
    assert found is None or found == pytest.approx(wanted, abs=1e-9)


def test_icc_of_shrout_and_fleiss_own_example() -> None:
    ratings = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)
    found = components(ratings)
    assert found.icc_single == pytest.approx(0.29, abs=0.005)
    assert found.icc_panel == pytest.approx(0.62, abs=0.005)
    assert (found.n_subjects, found.n_judges) == (6, 4)
    assert components(np.full((5, 3), 0.5)).icc_single is None


def test_independent_judges_count_each_and_copies_count_once() -> None:
    random = np.random.default_rng(1)
    labels = random.random(2000).tolist()
    independent = np.column_stack([np.array(labels) + random.normal(0, 0.3, 2000) for _ in range(4)])
    assert effective_judges(independent, labels) == pytest.approx(4, abs=0.3)
    copies = np.column_stack([independent[:, 0]] * 4)
    assert effective_judges(copies, labels) == pytest.approx(1)
    assert effective_judges(independent[:, :1], labels) is None


def test_influence_is_what_leaving_a_judge_out_would_move() -> None:
    scores = {"a": [0.2, 0.4, None], "b": [0.2, 0.4, 0.5], "lenient": [0.8, 1.0, 0.8]}
    found = influence(scores)
    assert found["lenient"] == pytest.approx(fmean([0.4 - 0.2, 0.6 - 0.4, 0.65 - 0.5]))
    assert influence({"alone": [0.5]}) == {"alone": None}
    assert table_of(scores).shape == (3, 3)

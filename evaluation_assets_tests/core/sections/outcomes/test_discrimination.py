"""AUROC and its bound."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from evaluation_assets.core.sections.outcomes.discrimination import auroc

RUNS = st.lists(st.tuples(st.integers(-3, 3), st.booleans(), st.integers(0, 4)), min_size=2, max_size=40).filter(
    lambda runs: len({won for _, won, _ in runs}) == 2
)


@given(RUNS)
def test_the_value_is_that_of_scikit_learn_and_the_bound_is_below(runs: list[tuple[int, bool, int]]) -> None:
    scores, won, tasks = (np.array(column) for column in zip(*runs, strict=True))
    found = auroc([scores], won, tasks)
    assert found.value == pytest.approx(roc_auc_score(won, scores))
    assert 0 <= found.low <= found.value + 1e-12


@given(RUNS)
def test_a_monotone_transformation_changes_nothing(runs: list[tuple[int, bool, int]]) -> None:
    scores, won, tasks = (np.array(column) for column in zip(*runs, strict=True))
    assert auroc([np.exp(scores / 2)], won, tasks) == auroc([scores.astype(float)], won, tasks)


def test_runs_of_one_task_count_as_one() -> None:
    draw = np.random.RandomState(1)
    scores, won = draw.normal(size=40), np.arange(40) % 2 == 0
    scores = scores + won
    tasks = np.arange(40)
    copied = [np.repeat(each, 10) for each in (scores, won, tasks)]
    once, often = auroc([scores], won, tasks), auroc([copied[0]], copied[1], copied[2])
    assert often.value == pytest.approx(once.value)
    assert often.low == pytest.approx(once.low)
    assert auroc([copied[0]], copied[1], np.arange(400)).low > once.low + 0.05


def test_a_few_runs_that_are_ranked_right_are_no_certainty() -> None:
    won = np.arange(12) < 6
    found = auroc([won.astype(float)], won, np.arange(12))
    assert found.value == 1
    assert 0.6 < found.low < 0.95


@pytest.mark.slow
def test_the_bound_holds_in_nineteen_of_twenty_drops() -> None:
    """Scores with an AUROC of 0.76 (normal, one standard deviation apart), half of their variance between tasks."""
    held = 0
    for seed in range(400):
        draw = np.random.RandomState(seed)
        tasks = np.repeat(np.arange(25), 4)
        won = draw.random(100) < 0.5
        scores = won + draw.normal(size=25)[tasks] * np.sqrt(0.5) + draw.normal(size=100) * np.sqrt(0.5)
        held += auroc([scores], won, tasks).low <= 0.7602
    assert held >= 400 * 0.93

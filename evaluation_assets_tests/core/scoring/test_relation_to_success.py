"""How scores are related to success."""

import random

import pytest

from evaluation_assets.core.scoring.relation_to_success import relation


def test_the_chance_that_a_success_scores_higher_is_counted_pair_by_pair() -> None:
    drawn = random.Random(0)
    scores = [drawn.choice((0.1, 0.5, 0.5, 0.9)) for _ in range(60)]
    outcomes = [drawn.random() < 0.4 for _ in scores]
    won = [score for score, outcome in zip(scores, outcomes, strict=True) if outcome]
    lost = [score for score, outcome in zip(scores, outcomes, strict=True) if not outcome]
    pairs = [(one > other) + (one == other) / 2 for one in won for other in lost]
    found = relation(scores, outcomes, list(range(60)))
    assert found is not None
    assert found.auroc == pytest.approx(sum(pairs) / len(pairs))
    assert (found.n_succeeded, found.n_failed) == (len(won), len(lost))


def test_an_interval_needs_five_tasks_and_a_relation_five_runs_of_each_outcome() -> None:
    scores, outcomes = [0.9, 0.8, 0.7, 0.6, 0.5] * 2, [True] * 5 + [False] * 5
    few = relation(scores, outcomes, [number % 4 for number in range(10)])
    assert few is not None
    assert (few.auroc, few.low, few.high) == (0.5, None, None)
    assert relation(scores[1:], outcomes[1:], list(range(9))) is None


def test_trials_of_a_task_do_not_count_as_independent() -> None:
    scores, outcomes = [0.9, 0.4, 0.7, 0.6, 0.5, 0.8] * 5, ([True] * 3 + [False] * 3) * 5
    alone = relation(scores, outcomes, list(range(30)))
    repeated = relation(scores, outcomes, [number % 6 for number in range(30)])
    assert alone is not None
    assert repeated is not None
    assert alone.low is not None
    assert repeated.low is not None
    assert repeated.low < alone.low


def test_the_interval_covers_the_true_value() -> None:
    drawn = random.Random(1)
    covered = 0
    for _ in range(200):
        tasks = [task for task in range(25) for _ in range(4)]
        outcomes = [drawn.random() < 0.5 for _ in tasks]
        found = relation([drawn.gauss() for _ in tasks], outcomes, tasks)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.5 <= found.high
    assert covered >= 180

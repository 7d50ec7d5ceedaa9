"""A planted length bias is found, and none is invented."""

from random import Random

import pytest

from evaluation_assets.core.review.length_bias import LengthSlope, slope_at_equal_label, slope_of_padding


def answers(seed: int, bias: float, tasks: int = 12, trials: int = 3) -> LengthSlope:
    """Answers whose good ones are longer; a judge that likes each doubling by `bias`, and tasks that it likes."""
    random = Random(seed)
    scores, labels, lengths, names = [], [], [], []
    for task in range(tasks):
        liked, typical = random.gauss(0, 0.1), random.uniform(6, 9)
        for _ in range(trials):
            good = random.random() < 0.5
            doublings = typical + good + random.gauss(0, 1)
            scores.append(0.3 + 0.4 * good + liked + bias * doublings + random.gauss(0, 0.1))
            labels.append(float(good))
            lengths.append(round(2**doublings))
            names.append(f"task {task}")
    return slope_at_equal_label(scores, labels, lengths, names)


def test_a_planted_bias_is_found() -> None:
    found = [answers(seed, 0.08, tasks=25) for seed in range(40)]
    covered = sum((each.low or 0) <= 0.08 <= (each.high or 0) for each in found)
    assert covered >= 35
    assert sum((each.low or 0) > 0 for each in found) >= 30
    assert {each.basis for each in found} == {"labels"}


def test_no_bias_is_invented_although_good_answers_are_longer() -> None:
    found = [answers(seed, 0.0) for seed in range(200)]
    assert sum((each.low or 0) > 0 or (each.high or 0) < 0 for each in found) <= 19, "5% of 200 and 3 standard errors"


def test_where_nothing_can_be_said_there_is_a_reason() -> None:
    few = slope_at_equal_label([0.5] * 4, [1.0] * 4, [10] * 4, ["a", "b", "c", "d"])
    assert few.slope is None and few.basis == "4 labelled answers of 4 tasks; at least 10 of 5 are needed"
    alike = slope_at_equal_label([0.1 * n for n in range(10)], [1.0] * 10, [64] * 10, list("abcdefghij"))
    assert alike.slope is None and alike.basis == "answers with equal labels have equal lengths"
    assert slope_of_padding([(0.5, 0.6, 2.0)]).slope is None


def test_padding_gives_the_rise_for_each_doubling() -> None:
    found = slope_of_padding([(0.3, 0.5, 4.0), (0.5, 0.7, 4.0), (0.2, 0.3, 2.0), (0.2, 0.3, 2.0), (0.4, 0.6, 4.0)])
    assert found.slope == pytest.approx(0.1) and found.basis == "padding"

"""The length bias of a recorded judge, and maps that hold on unseen tasks."""

from random import Random

import pytest

from benchmarks.alignment import Run, length_slope, measured
from evaluation_assets_tests.third_party import data


def test_the_length_bias_of_the_judge_of_judgebench_is_not_shown_by_its_pairs() -> None:
    slope = length_slope(data("judgebench"))
    assert slope.basis == "labels"
    assert (slope.slope, slope.low, slope.high) == pytest.approx((0.036, -0.104, 0.177), abs=0.001)


def test_a_map_of_a_lenient_judge_is_better_on_unseen_tasks() -> None:
    random = Random(0)
    qualities = [(f"task {task}", random.random()) for task in range(200) for _ in range(2)]
    runs = [Run(task, float(quality > 0.5), min(1.0, quality + 0.3)) for task, quality in qualities]
    found = measured(runs, seed=0)
    assert found.is_adopted and found.kappa < 0.7 < 0.9 < found.kappa_after
    assert found.bias > 0.1 and abs(found.bias_after) < 0.1

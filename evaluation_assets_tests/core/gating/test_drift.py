"""Drift over nights: how rarely it alarms without a change, and how soon with one."""

import numpy as np
import pytest

from evaluation_assets.core.gating.drift import drift, night


def test_drift_alarms_rarely_without_a_change_and_soon_with_one() -> None:
    random = np.random.default_rng(7)
    tasks, nights, runs = 40, 30, 200

    def alarms(shift: float) -> list[bool]:
        found = []
        for _ in range(runs):
            baseline = random.normal(0.7, 0.2, tasks)
            z = [night(random.normal(0.7 - shift, 0.2, tasks) - baseline, 1) for _ in range(nights)]
            found.append(drift([value for value in z if value is not None], 0.05).alarm is not None)
        return found

    # 0.05 and three Monte-Carlo standard errors of 200 runs
    assert np.mean(alarms(0.0)) <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5
    assert np.mean(alarms(0.15)) >= 0.9


def test_the_charts_of_drift_by_hand() -> None:
    found = drift([-2.0, -2.0, 1.0], 0.05)
    assert found.cusum == pytest.approx((1.5, 3.0, 1.5))
    assert found.e_values[0] == pytest.approx(np.mean([np.exp(2 * k - k * k / 2) for k in (0.5, 1, 1.5, 2)]))
    assert drift([], 0.05).alarm is None


@pytest.mark.parametrize("tasks", [2, 3, 5])
def test_a_few_tasks_alarm_no_more_often(tasks: int) -> None:
    random = np.random.default_rng(1)
    runs = 200
    alarms = 0
    for _ in range(runs):
        means = random.uniform(0.2, 0.8, tasks)
        baseline = random.normal(means, 0.1)
        z = [night(random.normal(means, 0.1) - baseline, 1) for _ in range(60)]
        alarms += drift([value for value in z if value is not None], 0.05).alarm is not None
    assert alarms / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_a_night_in_which_all_tasks_fall_alike_is_the_worst() -> None:
    all_fell, all_but_one, none = night([-1.0] * 20, 1), night([-1.0] * 19 + [0.0], 1), night([0.0] * 20, 1)
    assert all_fell is not None
    assert all_but_one is not None
    assert all_fell < all_but_one < -5
    assert none == 0.0
    assert drift([all_fell], 0.05).alarm == "e_process"
    assert night([-1.0], 1) is None

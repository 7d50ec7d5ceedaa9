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

"""Error rates of the gate: by simulation of whole runs, and measured on a suite's own history."""

import numpy as np
import pytest

from benchmarks import gate
from evaluation_assets.core.gating.calibration import calibrate
from evaluation_assets.core.gating.settings import GateSettings

pytestmark = pytest.mark.slow

RUNS = 300


def margin(rate: float) -> float:
    """Three Monte-Carlo standard errors."""
    return 3 * (rate * (1 - rate) / RUNS) ** 0.5


@pytest.mark.parametrize("metrics", [1, 3])
@pytest.mark.parametrize("tasks", [30, 50, 100])
def test_unchanged_runs_fail_in_at_most_5_per_cent(tasks: int, metrics: int) -> None:
    settings = GateSettings(metrics=tuple(f"metric-{index}" for index in range(metrics)))
    found = gate.verdicts(tasks, 0.0, RUNS, settings, metrics)
    assert found["fail"] / RUNS <= 0.05 + margin(0.05)


def test_a_true_drop_of_a_tenth_on_100_tasks_is_caught() -> None:
    found = gate.verdicts(100, 0.10, RUNS, GateSettings(metrics=("metric-0",)))
    assert found["fail"] / RUNS >= 0.8 - margin(0.8)
    assert found["fail"] + found["pass"] + found["warn"] == RUNS


def runs(n: int, tasks: int, spread: float, seed: int = 0) -> list[dict[str, float]]:
    random = np.random.default_rng(seed)
    difficulty = random.uniform(0.3, 0.9, tasks)
    return [
        {f"t{index}": float(value) for index, value in enumerate(difficulty + random.normal(0, spread, tasks))}
        for _ in range(n)
    ]


def test_history_tells_the_false_alarms_and_the_smallest_detectable_decrease() -> None:
    found = calibrate("overall", [runs(5, 60, 0.15)], GateSettings())
    assert found is not None
    assert (found.source, found.n_tasks, found.n_runs) == ("runs", 60, 5)
    assert found.rates[0].fails <= 0.06
    assert found.pairs == 20
    assert found.smallest_decrease is not None and 0.05 <= found.smallest_decrease <= 0.12
    fails = [rates.fails for rates in found.rates]
    assert fails == sorted(fails)
    for rates in found.rates:
        assert rates.fails + rates.warns + rates.passes + rates.inconclusive == pytest.approx(1)


def test_noise_costs_sight() -> None:
    quiet, loud = (calibrate("overall", [runs(4, 40, spread)], GateSettings()) for spread in (0.05, 0.3))
    assert quiet is not None and loud is not None
    assert quiet.smallest_decrease is not None and loud.smallest_decrease is not None
    assert quiet.smallest_decrease < loud.smallest_decrease
    assert loud.tolerance_false_alarms > 0.1 > quiet.tolerance_false_alarms


def test_outcomes_are_calibrated_by_their_own_test() -> None:
    random = np.random.default_rng(2)
    rates = random.uniform(0.3, 1.0, 80)
    history = [{f"t{i}": float(random.random() < rate) for i, rate in enumerate(rates)} for _ in range(4)]
    found = calibrate("success", [history], GateSettings())
    assert found is not None
    assert found.rates[0].fails <= 0.055
    assert found.smallest_decrease is not None and found.smallest_decrease > 0.1


def test_versions_that_ran_once_are_compared_with_each_other() -> None:
    one, other = runs(1, 50, 0.1, seed=1), runs(1, 50, 0.1, seed=1)
    other[0] = {task: value - 0.3 for task, value in other[0].items()}
    found = calibrate("overall", [one, other], GateSettings())
    assert found is not None
    assert found.source == "versions"
    assert found.rates[0].fails <= 0.06


def test_the_same_history_gives_the_same_numbers() -> None:
    history = [runs(3, 30, 0.2)]
    assert calibrate("overall", history, GateSettings()) == calibrate("overall", history, GateSettings())


def test_runs_whose_tasks_go_up_and_down_together_give_themselves_away() -> None:
    history = [
        {task: value + shift for task, value in run.items()}
        for run, shift in zip(runs(4, 60, 0.05), (0.0, 0.15, 0.3, 0.45), strict=True)
    ]
    found = calibrate("overall", [history], GateSettings())
    assert found is not None
    assert (found.pairs, found.pairs_failed) == (12, 6)


def test_a_single_task_that_falls_beyond_noise_is_counted_as_a_warning() -> None:
    steady = runs(4, 60, 0.002)
    one_breaks = [steady[0] | {"t7": 0.0}, *steady[1:]]
    quiet, loud = (calibrate("overall", [history], GateSettings()) for history in (steady, one_breaks))
    assert quiet is not None and loud is not None
    assert (quiet.rates[0].effect, loud.rates[0].effect) == (0, 0)
    assert loud.rates[0].warns > quiet.rates[0].warns + 0.1


def test_one_run_says_nothing() -> None:
    assert calibrate("overall", [runs(1, 30, 0.2)], GateSettings()) is None
    assert calibrate("overall", [], GateSettings()) is None

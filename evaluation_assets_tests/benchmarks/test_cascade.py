"""The cascade on recorded judges of AgentProcessBench, with labels of people."""

from statistics import fmean

import numpy as np
import pytest

from benchmarks.cascade import FOLDER, UNSEEN, Steps, measured, read_steps


@pytest.fixture(scope="module")
def steps() -> Steps:
    if not FOLDER.is_dir():
        pytest.skip(f"no copy of RUCBM/AgentProcessBench in {FOLDER}")
    return read_steps(FOLDER)


@pytest.mark.slow
def test_accepted_verdicts_are_wrong_as_seldom_as_promised(steps: Steps) -> None:
    for alpha, seed in ((0.12, 1), (0.15, 2)):
        found = list(measured(steps, alpha, "trajectory", 60, seed))
        assert fmean(each.errors <= alpha for each in found) >= 0.95
        assert fmean(each.accepted > 0 for each in found) >= 0.5


@pytest.mark.slow
def test_a_fifth_of_the_calls_reach_the_best_judge_at_an_agreement_that_is_no_worse(steps: Steps) -> None:
    found = list(measured(steps, 0.2, "trajectory", 40))
    assert fmean(each.errors <= each.alpha for each in found) >= 0.95
    assert fmean(each.asked for each in found) <= 0.2
    highest = np.quantile([each.kappa for each in found], 0.975)
    assert highest >= np.quantile([each.kappa_of_best for each in found], 0.025), "the intervals overlap"
    assert fmean(each.kappa - each.kappa_of_best for each in found) >= -0.02


def test_judges_that_chose_nothing_save_nearly_as_many_calls(steps: Steps) -> None:
    """With the alpha that the labels of a split choose, and other judges than the method was made with."""
    for stages in UNSEEN:
        found = list(measured(read_steps(FOLDER, stages), None, "trajectory", 10))
        assert fmean(each.errors <= each.alpha for each in found) >= 0.9
        assert fmean(each.asked for each in found) <= 0.3
        assert fmean(each.kappa - each.kappa_of_best for each in found) >= -0.02

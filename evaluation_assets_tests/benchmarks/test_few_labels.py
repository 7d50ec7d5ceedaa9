"""A cascade on small sets of labels accepts verdicts of good judges, and none of bad ones."""

from statistics import fmean

from benchmarks.cascade import errors_of, measured
from benchmarks.few_labels import FIRST, SECOND, conversations, pairs, process_runs
from evaluation_assets_tests.third_party import data


def test_good_judges_are_trusted() -> None:
    steps = process_runs(data("agent-process-bench").parent)
    assert len(steps.tasks) == 125 and max(errors_of(steps.labelled, judge) for judge in (FIRST, SECOND)) < 0.1
    found = list(measured(steps, 0.3, "trajectory", 3))
    assert all(each.errors <= 0.3 for each in found)
    assert fmean(each.asked for each in found) < 0.2


def test_judges_that_err_as_often_as_a_coin_are_not() -> None:
    for steps, errors in (
        (conversations(data("tau2-bench").parent), 0.36),
        (pairs(data("judgebench").parent), 0.49),
    ):
        assert errors_of(steps.labelled, FIRST) > errors
        assert not any(each.accepted for each in measured(steps, 0.3, "trajectory", 3))

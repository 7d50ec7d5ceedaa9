"""Models of outcomes: what they learn, and that they learn nothing where there is nothing."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from evaluation_assets.core.sections.outcomes.agreement import agreements
from evaluation_assets.core.sections.outcomes.model import fit, too_few
from evaluation_assets_tests.core.sections.outcomes.made_runs import a_run, drawn, noise


@pytest.mark.slow
@pytest.mark.parametrize("task_level", [False, True])
def test_outcomes_that_nothing_explains_yield_no_model(task_level: bool) -> None:
    """Twenty times, with outcomes by run and by task: at most one false model."""
    trusted = 0
    for seed in range(20):
        runs = noise(seed)
        succeeded = drawn(seed, len(runs))
        if task_level:
            succeeded = [succeeded[4 * (number // 4)] for number in range(len(runs))]
        trusted += fit(runs, succeeded).is_trusted
    assert trusted <= 1


def test_constant_traits_yield_no_model() -> None:
    runs = [a_run(f"task {number % 20}", {"steps": 1.0}) for number in range(80)]
    found = fit(runs, drawn(0, 80))
    assert not found.is_trusted
    assert np.all(np.isfinite(found.probabilities(runs, agreements(runs))))


def test_a_task_that_alone_explains_its_outcome_is_not_learned() -> None:
    """The words of the answer name the task: within a task they predict perfectly, beyond it nothing."""
    succeeded = [number % 2 == 0 for number in range(20) for _ in range(4)]
    runs = [a_run(f"task {number}", answer=f"word{number} other{number}") for number in range(20) for _ in range(4)]
    assert not fit(runs, succeeded).is_trusted


def test_what_explains_outcomes_is_learned_calibrated_and_the_same_each_time() -> None:
    draw = np.random.RandomState(3)
    runs, succeeded = [], []
    for run in noise(3, tasks=40):
        won = bool(draw.random() < 0.6)
        figures = {**run.figures, "failed_calls": float(draw.normal(0.0 if won else 2.0))}
        runs.append(replace(run, figures=figures))
        succeeded.append(won)
    found = fit(runs, succeeded)
    assert (found.runs, found.tasks) == (160, 40)
    assert found.is_trusted
    assert found.auroc.value == pytest.approx(0.92, abs=0.05)
    predicted = found.probabilities(runs, agreements(runs))
    assert predicted.mean() == pytest.approx(np.mean(succeeded), abs=0.05)
    again = fit(runs, succeeded)
    assert again.auroc == found.auroc
    assert np.array_equal(again.probabilities(runs, agreements(runs)), predicted)


def test_disagreement_with_other_runs_of_the_task_is_learned() -> None:
    """Three of four runs of a task do the same, and are right; the fourth is not. Tasks have nothing in common."""
    runs, succeeded = [], []
    for task in range(20):
        for trial in range(4):
            done = (f"change {task}",) if trial else (f"mistake {task}",)
            runs.append(a_run(f"task {task}", {"steps": 1.0}, answer=f"done {done[0]}", changes=done))
            succeeded.append(trial > 0)
    found = fit(runs, succeeded)
    assert found.auroc.value > 0.95
    fresh = [a_run("new", answer=f"done {what}", changes=(what,)) for what in ("right", "right", "wrong")]
    right, _, wrong = found.probabilities(fresh, agreements(fresh))
    assert right > 0.5 > wrong


@pytest.mark.parametrize(
    ("succeeded", "tasks", "why"),
    [
        ([True, False] * 14, [str(n) for n in range(28)], "28 runs of 28 tasks"),
        ([True, False] * 20, ["a", "b"] * 20, "40 runs of 2 tasks"),
        ([True] * 35 + [False] * 5, [str(n) for n in range(40)], "35 succeeded"),
    ],
)
def test_too_few_runs_are_named(succeeded: list[bool], tasks: list[str], why: str) -> None:
    assert why in (too_few(succeeded, tasks) or "")


def test_one_failing_task_leaves_folds_without_a_failure() -> None:
    runs = noise(5)
    succeeded = [run.task_id not in ("task 0", "task 1", "task 2") for run in runs]
    assert too_few(succeeded, [run.task_id for run in runs]) is None
    assert 0 <= fit(runs, succeeded).auroc.low <= 1


@pytest.mark.filterwarnings("error")
def test_few_runs_of_an_outcome_give_no_warning() -> None:
    runs = noise(1)
    found = fit(runs, [number % (len(runs) // 8) != 0 for number in range(len(runs))])
    assert np.all(np.isfinite(found.probabilities(runs, agreements(runs))))


def test_a_drop_without_predictions_need_not_wait_for_scipy() -> None:
    slow = "{'scipy.sparse', 'scipy.special'}"
    code = f"import evaluation_assets.core.pipeline.outcomes, sys; print({slow} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

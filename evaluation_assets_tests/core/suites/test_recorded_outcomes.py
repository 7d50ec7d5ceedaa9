"""What scores without a model say about recorded outcomes, on recorded runs of others."""

import pytest
from upath import UPath

from benchmarks import outcomes
from evaluation_assets.core.suites.calls import run_of
from evaluation_assets.core.suites.case_results import CaseIndex, evaluate
from evaluation_assets.core.suites.formats.registry import load_suite
from evaluation_assets.core.traces.formats.base import DropFile
from evaluation_assets.core.traces.formats.registry import read_trajectories
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.third_party import data


@pytest.mark.parametrize("name", ["tau-bench", "tau2-bench"])
def test_a_suite_of_gold_calls_foretells_success_better_than_their_plain_recall(name: str) -> None:
    found = [(outcomes.suite_scores(run), run.success is True) for run in outcomes.runs(data(""), name)]
    recall = outcomes.auroc((scores[0], success) for scores, success in found)
    score = outcomes.auroc((scores[1], success) for scores, success in found)
    assert score is not None and recall is not None
    assert score > 0.9 > recall


def test_the_scores_of_recorded_runs_by_their_own_gold_actions() -> None:
    path = data("tau-bench/gpt-4o-airline.even-tasks.json")
    suite = load_suite(UPath(path)).suite
    index = CaseIndex(suite.cases)
    runs = [
        run
        for run in read_trajectories([DropFile(UPath(path), path.name)], UnmappedFields())
        if isinstance(run, Trajectory)
    ]
    results = []
    for run in runs:
        case = index.find(run.task_id, run.task)
        assert case is not None
        results.append((evaluate(case, run_of(run), suite), run.success))
    won, lost = ([result.score or 0.0 for result, success in results if success is each] for each in (True, False))
    assert sum((a > b) + (a == b) / 2 for a in won for b in lost) / (len(won) * len(lost)) > 0.9
    assert sum(result.passed == success for result, success in results) >= 0.9 * len(results)


@pytest.mark.parametrize("name", ["tau-bench", "tau2-bench", "agent-process-bench", "Who&When"])
@pytest.mark.slow
def test_the_embedded_judge_calls_hardly_a_failed_run_done(name: str) -> None:
    found = [outcomes.judged(run) for run in outcomes.runs(data(""), name)]
    for scored in (
        [(each.completion, each.success) for each in found],
        [(each.session_completion, each.success) for each in found],
    ):
        completion = outcomes.Completion.of(scored)
        assert completion.runs
        assert completion.failed_called_done <= 0.1 * completion.failed
        assert completion.right >= 0.9 * completion.spoken

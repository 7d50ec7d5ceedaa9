"""What scores without a model say about recorded outcomes, on recorded runs of others."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from evaluation_assets_tests.third_party import data


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "outcomes.py"
    spec = importlib.util.spec_from_file_location("outcomes_benchmark", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["tau-bench", "tau2-bench", "agent-process-bench", "Who&When"])
def test_the_embedded_judge_calls_hardly_a_failed_run_done(benchmark: ModuleType, name: str) -> None:
    found = [benchmark.judged(run) for run in benchmark.runs(data(""), name)]
    for scored in (
        [(each.completion, each.success) for each in found],
        [(each.session_completion, each.success) for each in found],
    ):
        completion = benchmark.Completion.of(scored)
        assert completion.runs
        assert completion.failed_called_done <= 0.1 * completion.failed
        assert completion.right >= 0.9 * completion.spoken

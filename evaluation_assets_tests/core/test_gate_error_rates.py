"""Error rates of the gate on recorded trials: 25 tasks of tau-bench with four each, 25 questions with five each."""

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import dagster as dg
import pytest

from evaluation_assets.core.home import Home
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.definitions import build_definitions
from evaluation_assets_tests.conftest import Installation
from evaluation_assets_tests.third_party import data

RUNS = 300
DROPS = {
    "airline": "tau-bench/gpt-4o-airline.even-tasks.json",
    "hotpot": "agent-process-bench/hotpotqa.even-queries.jsonl",
}


def most(rate: float) -> float:
    """A rate and three Monte-Carlo standard errors."""
    return rate + 3 * (rate * (1 - rate) / RUNS) ** 0.5


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "gate.py"
    spec = importlib.util.spec_from_file_location("gate_benchmark", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Both files, evaluated by the embedded judge."""
    home = Home.at(str(tmp_path_factory.mktemp("trials") / "home"))
    with dg.DagsterInstance.ephemeral() as instance:
        installation = Installation(home, build_definitions(home, Panel()), instance)
        for key, name in DROPS.items():
            source = data(name)
            place = Path(home.drops.path) / f"{key}{source.suffix}"
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, place)
            assert installation.run(key, ops={"preprocess": {"config": {"on_violation": "flag"}}}).success
        yield home


@pytest.mark.parametrize("metric", ["success", "overall"])
@pytest.mark.parametrize("tasks", [50, 100])
def test_unchanged_runs_pass(benchmark: ModuleType, evaluated: Home, metric: str, tasks: int) -> None:
    found = benchmark.on_trials(metric, benchmark.trials_of(evaluated, list(DROPS), metric), tasks, RUNS)
    assert found["fail"] / RUNS <= most(0.05)
    assert found["warn"] / RUNS <= most(0.05)
    assert found["pass"] / RUNS >= 0.8


def test_a_decrease_of_a_tenth_is_found_as_often_as_by_the_best_exact_test(
    benchmark: ModuleType, evaluated: Home
) -> None:
    trials = benchmark.trials_of(evaluated, list(DROPS), "success")
    found = benchmark.on_trials("success", trials, 100, RUNS, decrease=0.1)
    assert found["fail"] > found["conditional"]
    assert found["fail"] >= found["mid-p"] - 0.02 * RUNS

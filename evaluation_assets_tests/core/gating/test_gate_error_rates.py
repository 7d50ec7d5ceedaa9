"""Error rates of the gate on recorded trials: 25 tasks of tau-bench with four each, 25 questions with five each."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from benchmarks import gate
from evaluation_assets.core.gating.calibration import BatchGate
from evaluation_assets.core.gating.settings import GateSettings
from evaluation_assets.core.judging.panel import Panel
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.definitions import build_definitions
from evaluation_assets_tests.conftest import Workspace
from evaluation_assets_tests.third_party import data

pytestmark = pytest.mark.slow

RUNS = 20_000
DROPS = {
    "airline": "tau-bench/gpt-4o-airline.even-tasks.json",
    "hotpot": "agent-process-bench/hotpotqa.even-queries.jsonl",
}


def most(rate: float) -> float:
    """A rate and two Monte-Carlo standard errors, 0.003 of 0.05."""
    return rate + 2 * (rate * (1 - rate) / RUNS) ** 0.5


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Both files, evaluated by the embedded judge."""
    home = Installation.at(str(tmp_path_factory.mktemp("trials") / "home"))
    with dg.DagsterInstance.ephemeral() as instance:
        installation = Workspace(home, build_definitions(home, Panel()), instance)
        for key, name in DROPS.items():
            source = data(name)
            place = Path(home.drops.path) / f"{key}{source.suffix}"
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, place)
            assert installation.run(key, ops={"evaluate_drop": {"config": {"on_violation": "flag"}}}).success
        yield home


@pytest.mark.parametrize("metric", ["success", "overall"])
@pytest.mark.parametrize(
    ("drops", "tasks"), [("airline", 50), ("hotpot", 50), ("airline hotpot", 50), ("airline hotpot", 100)]
)
def test_unchanged_runs_pass(evaluated: Installation, metric: str, drops: str, tasks: int) -> None:
    trials = gate.trials_of(evaluated, drops.split(), metric)
    found = gate.on_trials(metric, *gate.unchanged(trials, tasks, RUNS))
    assert found["fail"] / RUNS <= most(0.05)
    assert found["warn"] / RUNS <= most(0.05)
    assert found["pass"] / RUNS >= 0.8


@pytest.mark.parametrize("metric", ["success", "overall"])
def test_the_gate_decides_one_run_as_many(evaluated: Installation, metric: str) -> None:
    before, after = gate.unchanged(gate.trials_of(evaluated, list(DROPS), metric), 50, 30)
    settings = GateSettings(metrics=(metric,))
    for lower in (0.0, 0.03, 0.2):
        one_by_one = [
            gate.outcome_of({metric: one}, {metric: other - lower}, settings).verdict
            for one, other in zip(before, after, strict=True)
        ]
        assert BatchGate(metric, 1, settings).verdicts(before, after - lower).tolist() == one_by_one


def test_a_decrease_of_a_tenth_is_found_as_often_as_by_the_best_exact_test(evaluated: Installation) -> None:
    before, after = gate.unchanged(gate.trials_of(evaluated, list(DROPS), "success"), 100, RUNS)
    found = gate.on_trials("success", before, gate.worsened(after, 0.1))
    assert found["fail"] > found["conditional"]
    assert found["fail"] >= found["mid-p"] - 0.01 * RUNS

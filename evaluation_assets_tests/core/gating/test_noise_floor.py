"""The noise floor: what repeated trials of the same tasks show."""

import json
from collections import defaultdict
from itertools import combinations
from math import sqrt
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from evaluation_assets.core.gating.noise_floor import (
    NoiseFloor,
    NotRepeated,
    Trials,
    noise_floor,
    reworded_tasks,
    trials_of,
)
from evaluation_assets.core.gating.paired_tests import compare_scores
from evaluation_assets.core.gating.task_metrics import DropMetrics, TaskValue
from evaluation_assets.core.scoring.reliability import one_way_icc, one_way_icc_interval
from evaluation_assets_tests.conftest import command, record
from evaluation_assets_tests.third_party import data


def floor_of(passed: dict[str, Trials]) -> NoiseFloor:
    return noise_floor("success", passed, 0.05, 0.8)


@pytest.mark.slow
def test_figures_of_tau_bench_are_those_of_its_runs(tmp_path: Path) -> None:
    """25 airline tasks of gpt-4o with 4 trials each, from the file to the command, counted by hand."""
    file = data("tau-bench") / "gpt-4o-airline.even-tasks.json"
    assert command("evaluate", file, "--as", "airline", "--quiet", home=tmp_path).returncode == 0
    floor = json.loads(command("noise", "airline", "--format", "json", home=tmp_path).stdout)
    rewards: dict[str, list[int]] = defaultdict(list)
    for run in json.loads(file.read_text("utf-8")):
        rewards[str(run["task_id"])].append(int(run["reward"]))
    assert (floor["tasks"], floor["runs"], floor["fewest_trials"]) == (25, 100, 4)
    for k, found in enumerate(floor["pass_hat"], 1):
        every = fmean(fmean(all(draw) for draw in combinations(own, k)) for own in rewards.values())
        assert found["value"] == pytest.approx(every) and found["low"] < every < found["high"]
    assert [round(each["value"], 3) for each in floor["pass_hat"]] == [0.49, 0.387, 0.34, 0.32]
    assert floor["flips"] == sum(len(set(own)) == 2 for own in rewards.values()) == 9
    differ = fmean(fmean(a != b for a, b in combinations(own, 2)) for own in rewards.values())
    assert floor["disagreement"]["value"] == pytest.approx(differ)
    assert 0.3 < floor["icc"]["low"] < floor["icc"]["value"] < 1


def test_one_trial_of_each_task_measures_no_noise() -> None:
    """20 airline tasks of gpt-4.1 in tau2-bench, each run once; with a second agent's runs as trials, some differ."""
    passed: list[dict[str, bool]] = []
    for file in sorted((data("tau2-bench") / "ab").glob("*.json")):
        runs = json.loads(file.read_text("utf-8"))["simulations"]
        passed.append({str(run["task_id"]): run["reward_info"]["reward"] == 1 for run in runs})
    with pytest.raises(NotRepeated, match="0 of 20 tasks have several trials"):
        floor_of({task: Trials(1, own) for task, own in passed[0].items()})
    first, second = passed
    floor = floor_of({task: Trials(2, own + second[task]) for task, own in first.items()})
    differ = sum(own != second[task] for task, own in first.items())
    assert floor.flips == differ > 0
    assert floor.pass_hat[1].value == pytest.approx(sum(own and second[task] for task, own in first.items()) / 20)


def test_icc_is_that_of_the_analysis_of_variance() -> None:
    groups = [[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 1, 0]]
    values = np.array(groups, float)
    between = 3 * ((values.mean(axis=1) - values.mean()) ** 2).sum() / 3
    within = ((values - values.mean(axis=1, keepdims=True)) ** 2).sum() / 8
    assert one_way_icc(groups) == pytest.approx((between - within) / (between + 2 * within))
    assert one_way_icc([[1, 1], [1, 1]]) is None
    assert one_way_icc([[0, 1], [1, 0]]) == pytest.approx(-1)


@pytest.mark.parametrize(
    ("tasks", "trials", "often"), [(20, 4, (9, 1)), (12, 3, (5, 1)), (30, (2, 7), (3, 1)), (50, 4, (0.5, 0.1))]
)
def test_the_interval_of_icc_covers_it_also_where_most_tasks_always_pass(
    tasks: int, trials: int | tuple[int, int], often: tuple[float, float]
) -> None:
    random = np.random.default_rng(5)
    covered = []
    for _ in range(300):
        sizes = np.full(tasks, trials) if isinstance(trials, int) else random.integers(*trials, tasks, endpoint=True)
        passed = random.binomial(sizes, random.beta(*often, tasks))
        low, high = one_way_icc_interval(
            [[1.0] * own + [0.0] * (n - own) for own, n in zip(passed, sizes, strict=True)]
        )
        if low is not None and high is not None:
            assert -1 <= low < high <= 1
            covered.append(low <= 1 / (sum(often) + 1) <= high)
    assert len(covered) > 270
    assert np.mean(covered) >= 0.88, "0.90 but for chance"


def test_tasks_that_never_flip_measure_no_noise() -> None:
    floor = floor_of({f"t{number}": Trials(4, 4 * (number % 2)) for number in range(12)})
    assert (floor.detectable, floor.needed, floor.flips) == (None, [], 0)
    assert floor.flipped.high is not None and floor.flipped.high > 0.2, "12 tasks do not rule flips out"
    assert floor.icc.value == pytest.approx(1)


def test_the_gate_finds_the_detectable_decrease_with_the_stated_power() -> None:
    random = np.random.default_rng(7)
    tasks, trials, runs = 40, 4, 4000
    truth = random.uniform(0.25, 0.95, tasks)
    noise = fmean(share * (1 - share) for share in truth)
    per_task = [Trials(1000, round(1000 * share)) for share in truth]
    found = noise_floor("success", {str(n): each for n, each in enumerate(per_task)}, 0.05, 0.8, [0.1])
    seen = (found.detectable or 0) / sqrt(2 * noise / 1000) * sqrt(2 * noise / trials)
    before = random.binomial(trials, truth, (runs, tasks)) / trials
    after = random.binomial(trials, truth - seen, (runs, tasks)) / trials
    power = float((compare_scores(after - before, 0.05, 0.05).p_regression <= 0.05).mean())
    assert 0.75 < power < 0.86
    needed = found.needed[0].trials
    assert needed == pytest.approx(trials * (seen / 0.1) ** 2, abs=1)


def test_runs_of_reworded_tasks_are_trials_and_told() -> None:
    """Simulated users of tau-bench say the same in other words in each trial."""
    one, two = (
        DropMetrics(drop=name, suite=None, tasks={"t": words}, metrics={"success": {"t": TaskValue(1.0, 1.0, 1.0)}})
        for name, words in (("a", "1"), ("b", "2"))
    )
    assert trials_of([one, two], "success") == trials_of([one, one], "success") == {"t": Trials(2, 2)}
    assert (reworded_tasks([one, two]), reworded_tasks([one, one])) == ({"t"}, set())


def _drop(passed: list[bool], marked: str) -> bytes:
    return b"".join(
        record(f"t{number}", f"<answer>{marked}</answer>", success=own) for number, own in enumerate(passed)
    )


def test_several_evaluated_drops_are_the_trials_of_their_tasks(tmp_path: Path) -> None:
    home = tmp_path / "home"
    nights = [[True] * 6 + [False] * 4, [True] * 5 + [False, True] + [False] * 3]
    for night, passed in enumerate(nights):
        (tmp_path / f"n{night}.jsonl").write_bytes(_drop(passed, f"answer {night}"))
        assert command("evaluate", tmp_path / f"n{night}.jsonl", "--quiet", home=home).returncode == 0
    alone = command("noise", "n0", home=home)
    assert alone.returncode == 2 and "0 of 10 tasks have several trials of success" in alone.stderr
    done = command("noise", "n0", "n1", "--decrease", "0.1", "--format", "json", home=home)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["tasks"], found["runs"], found["flips"], found["pass_hat"][1]["value"]) == (10, 20, 2, 0.5)
    assert found["needed"] == [{"decrease": 0.1, "trials": found["needed"][0]["trials"]}]
    text = command("noise", "n0", "n1", home=home).stdout
    assert "2 of 10 tasks passed and failed: 0.200" in text and "trials of each task in each run" in text
    for night, version in enumerate(("1.0", "1.1")):
        (home / "drops" / f"n{night}.drop.yaml").write_text(f"agent_version: '{version}'\n")
    assert command("evaluate", "--all", "--quiet", home=home).returncode == 0
    warned = " ".join(command("noise", "n0", "n1", home=home).stderr.split())
    assert "the runs are of different versions (1.0, 1.1), whose difference counts as noise here" in warned
    unknown = command("noise", "n9", home=home)
    assert unknown.returncode == 2 and "evaluated drops: n0, n1" in unknown.stderr


def test_runs_that_are_left_out_are_counted() -> None:
    trials = {"a": Trials(3, 2), "b": Trials(3, 1), "once": Trials(1, 1)}
    assert noise_floor("success", trials, 0.05, 0.8, all_runs=12).runs_left_out == 6
    assert noise_floor("success", trials, 0.05, 0.8).runs_left_out == 1

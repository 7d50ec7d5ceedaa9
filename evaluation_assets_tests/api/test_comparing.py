"""Comparisons from Python are those of the gate, and say which tasks got worse."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

import evaluation_assets as ea
from evaluation_assets_tests.api.conftest import Evaluated
from evaluation_assets_tests.conftest import command
from evaluation_assets_tests.towns import TASKS


def test_a_comparison_has_the_differences_of_each_task(evaluated: Evaluated) -> None:
    found = ea.compare(evaluated.good, evaluated.worse)
    assert (found.verdict, found.passed, found.blocks) == ("fail", False, True)
    success = found.metrics.to_dict("index")["success"]
    assert success["difference"] == pytest.approx(-(TASKS - 1) / TASKS)
    assert success["ci_low"] < success["difference"] < success["ci_high"] < 0
    assert success["n_tasks"] == TASKS
    tasks = found.tasks.query("metric == 'success'").set_index("task_id")["difference"].to_dict()
    assert tasks == {f"task-{number}": float(-(number > 0)) for number in range(TASKS)}
    by_task = [each.difference for each in found.changes if each.metric == "overall"]
    assert fmean(by_task) == pytest.approx(found.metrics.to_dict("index")["overall"]["difference"])


def test_it_is_what_the_gate_says_of_a_promoted_baseline(evaluated: Evaluated, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(evaluated.folder / "in", tmp_path / "in" / "support")
    assert command("evaluate", tmp_path / "in", "--quiet", home=home).returncode == 0
    stored = ea.load_home(home)
    file = stored["support/good"].promote(reason="first", by="ada")
    assert json.loads(file.read_text())["promoted_by"] == "ada"
    said = json.loads(command("gate", "support/worse", "--format", "json", home=home).stdout)
    del said["report_url"]
    gated = stored["support/worse"].gate()
    assert gated.outcome.model_dump(mode="json") == said
    assert stored["support/worse"].gate("support").outcome == gated.outcome
    assert stored["support/worse"].gate(file).outcome == gated.outcome
    assert stored["support/worse"].gate(str(file)).outcome == gated.outcome
    compared = ea.compare("support/good", "support/worse", home=home)
    assert compared.outcome == gated.outcome
    assert stored["support/good"].gate().check().passed
    with_suite_of_its_own = evaluated.worse.gate(file)
    assert with_suite_of_its_own.verdict == "fail", "a drop without a suite is compared with a baseline that is named"


def test_a_baseline_is_a_drop_or_a_result_too(evaluated: Evaluated) -> None:
    gated = evaluated.worse.gate("good")
    assert gated.outcome == ea.compare(evaluated.good, evaluated.worse).outcome
    assert evaluated.worse.gate(evaluated.good).outcome == gated.outcome
    assert evaluated.good.gate("good").check().verdict == "pass"


def test_what_regressed_is_in_the_error(evaluated: Evaluated) -> None:
    with pytest.raises(ea.GateFailed) as failed:
        evaluated.worse.gate("good").check()
    said = str(failed.value)
    assert said.startswith("worse against good: FAIL")
    assert "success -0.917 on 12 tasks" in said
    assert re.search(r"tasks that fell \(11\).*\n    task-1: success 1.00 -> 0.00", said)
    assert "largest decreases of success" not in said, "a task is listed once, by one rule"
    assert said.endswith(f"report: {evaluated.worse.report}")


def test_tasks_are_named_of_a_metric_of_which_none_fell_enough_to_be_listed(evaluated: Evaluated) -> None:
    found = evaluated.worse.gate("good")
    without = replace(found, outcome=found.outcome.model_copy(update={"fallen_tasks": []}))
    assert "\n  largest decreases of success\n    task-1: 1.000 -> 0.000\n" in without.summary()
    (of_success,) = (each for each in found.outcome.metrics if each.metric == "success")
    of_cost = of_success.model_copy(update={"metric": "cost_usd"})
    changes = (ea.TaskChange("t", "cost_usd", 1.0, 3.0),)
    costlier = replace(found, outcome=found.outcome.model_copy(update={"metrics": [of_cost]}), changes=changes)
    assert "\n  largest increases of cost_usd\n    t: 1.000 -> 3.000\n" in costlier.summary()


def test_the_worst_tasks_come_first(evaluated: Evaluated) -> None:
    found = ea.compare(evaluated.good, evaluated.worse)
    assert [each.task_id for each in found.worst("success", 2)] == ["task-1", "task-10"]
    decreases = [each.decrease for each in found.worst("overall")]
    assert decreases == sorted(decreases, reverse=True) and decreases[-1] > 0
    assert ea.compare(evaluated.worse, evaluated.good).worst("success") == []
    assert ea.TaskChange("t", "cost_usd", 1.0, 3.0).decrease == 2.0, "more cost is worse"


def test_an_unknown_baseline_names_those_there_are(evaluated: Evaluated, tmp_path: Path) -> None:
    with pytest.raises(ea.UnknownName, match=r"no baseline 'main'; promoted baselines: none; evaluated drops: .*good"):
        evaluated.good.gate("main")
    with pytest.raises(ea.UnknownName, match=r"no baseline .*none\.json"):
        evaluated.good.gate(tmp_path / "none.json")
    with pytest.raises(ea.UnknownName, match=r"there is no baseline for good. Name a drop or a file with baseline="):
        evaluated.good.gate()
    (tmp_path / "broken.json").write_text("{}")
    with pytest.raises(ea.UnusableInput, match=r"broken\.json is not a valid baseline"):
        evaluated.good.gate(tmp_path / "broken.json")


def test_names_of_tasks_are_escaped_in_a_notebook(evaluated: Evaluated, tmp_path: Path) -> None:
    hostile = b'"task_id":"<script>alert(1)</script>\\u001b[2J'
    for name in ("good", "worse"):
        content = (evaluated.folder / "in" / f"{name}.jsonl").read_bytes()
        (tmp_path / f"{name}.jsonl").write_bytes(content.replace(b'"task_id":"task', hostile))
    results = [ea.evaluate(tmp_path / f"{name}.jsonl", home=tmp_path / "home") for name in ("good", "worse")]
    found = ea.compare(*results)
    assert "&lt;script&gt;alert(1)" in found._repr_html_()
    assert "<script" not in found._repr_html_()
    assert "\x1b" not in found._repr_html_() + found.summary() + str(found)

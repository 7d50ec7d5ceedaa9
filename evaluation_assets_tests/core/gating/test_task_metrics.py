"""What a drop achieved, task by task."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from upath import UPath

from evaluation_assets.core.gating.participants import Participants
from evaluation_assets.core.gating.task_metrics import (
    WITHOUT_JUDGES,
    DropMetrics,
    TaskValue,
    case_metrics,
    estimate_of,
    metric_rows,
    read_metrics,
)
from evaluation_assets.core.intake.facts import MetricsFacts
from evaluation_assets.core.intake.sidecar import Sidecar
from evaluation_assets.core.lake.stored import Stored, Stream, batched, write
from evaluation_assets.core.lake.tables import PREPROCESSED_TRAJECTORIES, TASK_METRICS, TOOL_USE_RESULTS
from evaluation_assets.core.scoring.intervals import share_interval
from evaluation_assets.core.traces.trajectories.model import Agent, Usage
from evaluation_assets.core.traces.trajectories.trajectory_rows import trajectory_row
from evaluation_assets_tests.core.making import trajectory


def stored(path: UPath, *trials: dict[str, Any]) -> Stored:
    rows = [
        trajectory_row("s/d", replace(trajectory("<answer>1</answer>"), **{"id": f"r{index}", "trial": index} | trial))
        for index, trial in enumerate(trials)
    ]
    write(path, Stream(PREPROCESSED_TRAJECTORIES, batched(rows, PREPROCESSED_TRAJECTORIES)))
    return Stored(PREPROCESSED_TRAJECTORIES, path)


def score(trajectory_id: str, value: float | None) -> dict[str, Any]:
    return {"trajectory_id": trajectory_id, "criterion": "overall", "adjusted_mean": value}


def test_trials_are_averaged_and_the_unknown_is_left_out(tmp_path: Path) -> None:
    runs = stored(
        UPath(tmp_path) / "t.parquet",
        {"success": True, "duration_s": 4.0, "usage": Usage(cost_usd=0.2)},
        {"success": False, "duration_s": None, "usage": Usage(cost_usd=0.0)},
    )
    rows = {
        row["metric"]: row
        for row in metric_rows(
            "s/d", runs, [score("r0", 0.4), score("r1", None)], {"r1": {"pass_rate": True}}, {}, Participants(), {}
        )
    }
    found = {name: (row["value"], row["best"], row["n_known"], row["n_trials"]) for name, row in rows.items()}
    assert found == {
        "overall": (0.4, 0.4, 1, 2),
        "success": (0.5, 1.0, 2, 2),
        "pass_rate": (1.0, 1.0, 1, 2),
        "cost_usd": (0.2, 0.2, 1, 2),
        "latency_s": (4.0, 4.0, 1, 2),
    }


def test_prompts_of_simulated_users_tell_a_task_in_any_order(tmp_path: Path) -> None:
    """A drop of the same runs in another order had other tasks."""
    trials = [{"id": "r0", "task": "Cancel it."}, {"id": "r1", "task": "Please cancel."}]
    digests = {
        row["task_digest"]
        for name, own in (("a", trials), ("b", trials[::-1]))
        for row in metric_rows(
            "s/d", stored(UPath(tmp_path) / f"{name}.parquet", *own), [score("r0", 1)], {}, {}, Participants(), {}
        )
    }
    assert len(digests) == 1


def test_a_metric_that_one_task_lacks_is_null_there(tmp_path: Path) -> None:
    runs = stored(UPath(tmp_path) / "t.parquet", {"task_id": "a", "success": True}, {"task_id": "b"})
    rows = [row for row in metric_rows("s/d", runs, [], {}, {}, Participants(), {}) if row["metric"] == "success"]
    assert [(row["task_id"], row["value"], row["n_known"]) for row in rows] == [("a", 1.0, 1), ("b", None, 0)]


def test_metrics_come_back_from_their_table_with_what_they_are_of(tmp_path: Path) -> None:
    runs = stored(UPath(tmp_path) / "t.parquet", {"task_id": "a", "success": True}, {"task_id": "b", "task": "other"})
    facts = MetricsFacts(
        sidecar=Sidecar(suite="s", agent="x", agent_version="2"),
        content="c0",
        comparability={"quorum": "1"},
        kept_out={"j": "kappa 0.1"},
    )
    rows = metric_rows("s/d", runs, [score("r0", 0.25), score("r1", 0.5)], {}, {}, Participants(), {})
    path = UPath(tmp_path) / "m.parquet"
    write(path, Stream(TASK_METRICS, batched(rows, TASK_METRICS), facts=facts.footer))
    found = read_metrics("s/d", Stored(TASK_METRICS, path))
    assert (found.suite, found.agent, found.agent_version, found.content) == ("s", "x", "2", "c0")
    assert (found.comparability, found.kept_out) == ({"quorum": "1"}, {"j": "kappa 0.1"})
    assert {task: value.value for task, value in found.metrics["overall"].items()} == pytest.approx(
        {"a": 0.25, "b": 0.5}
    )
    assert list(found.metrics["success"]) == ["a"]
    assert found.tasks["a"] != found.tasks["b"]


def test_every_metric_of_the_suite_comes_from_its_results(tmp_path: Path) -> None:
    unknown = {column.name: None for column in TOOL_USE_RESULTS.schema}
    case = unknown | {
        "drop": "s/d", "trajectory_id": "r0", "passed": False, "score": 0.7, "completed": True,
        "coverage": 0.5, "keyword_score": None, "efficiency": 0.25,
    }  # fmt: skip
    path = UPath(tmp_path) / "c.parquet"
    write(path, Stream(TOOL_USE_RESULTS, batched([case, unknown | {"case_id": "not run"}], TOOL_USE_RESULTS)))
    cases = case_metrics(Stored(TOOL_USE_RESULTS, path))
    runs = stored(UPath(tmp_path) / "t.parquet", {"task_id": "a"})
    rows = metric_rows("s/d", runs, [], cases, {}, Participants(), {})
    assert {row["metric"]: row["value"] for row in rows} == {
        "pass_rate": 0.0, "suite_score": 0.7, "completed": 1.0, "tool_coverage": 0.5, "efficiency": 0.25
    }  # fmt: skip


def test_the_table_says_which_metrics_need_no_judges() -> None:
    (column,) = (each for each in TASK_METRICS.columns if each.name == "metric")
    missing = [name for name in sorted(WITHOUT_JUDGES) if f"`{name}`" not in column.meaning]
    assert not missing, f"name {', '.join(missing)} in the meaning of `metric`, core/lake/tables/gating.py"


MAIN = Agent(id="main", name="coder", model="m", version="2")


@pytest.mark.parametrize(
    ("agents", "sidecar", "said"),
    [
        ([(MAIN,), (MAIN,)], {}, ("coder", "2", "m")),
        ([(MAIN, Agent(id="helper", model="small"))], {}, ("coder", "2", "m, small")),
        ([(MAIN,), (Agent(id="main"),)], {}, ("coder", "2", "m")),
        ([(MAIN,), (replace(MAIN, version="3"),)], {}, ("coder", None, "m")),
        ([(MAIN,)], {"agent": "mine", "model": "other"}, ("mine", "2", "other")),
        ([()], {}, (None, None, None)),
    ],
)
def test_agent_version_and_model_are_those_of_the_file(
    tmp_path: Path, agents: list[tuple[Agent, ...]], sidecar: dict[str, str], said: tuple[str | None, ...]
) -> None:
    runs = stored(UPath(tmp_path) / "t.parquet", *({"agents": each, "success": True} for each in agents))
    seen = Participants()
    rows = list(metric_rows("s/d", runs, [], {}, {}, seen, {}))
    facts = MetricsFacts(sidecar=Sidecar.model_validate({"suite": "s", **sidecar}), participants=seen.agreed())
    path = UPath(tmp_path) / "m.parquet"
    write(path, Stream(TASK_METRICS, batched(rows, TASK_METRICS), facts=facts.footer))
    found = read_metrics("s/d", Stored(TASK_METRICS, path))
    assert (found.agent, found.agent_version, found.model) == said
    again = replace(found, drop="s/e")
    assert (found.version == again.version) == (found.agent is not None and found.agent_version is not None)


def test_a_kind_of_finding_is_a_metric_of_all_trials_of_a_drop_that_has_it(tmp_path: Path) -> None:
    tasks = [{"task_id": task} for task in ("a", "a", "b")]
    runs = stored(UPath(tmp_path) / "t.parquet", *tasks)
    rows = list(metric_rows("s/d", runs, [], {}, {}, Participants(), {"loop": {"r0"}}))
    assert {row["task_id"]: (row["value"], row["best"], row["worst"]) for row in rows} == {
        "a": (0.5, 0.0, 1.0),
        "b": (0.0, 0.0, 0.0),
    }


def test_a_kind_that_was_searched_for_and_not_found_is_0() -> None:
    searched = DropMetrics(drop="d", suite="s", tasks={"a": "1"}, metrics={}, detectors="1")
    assert searched.metric("finding.loop") == {"a": TaskValue(0.0, 0.0, 0.0)}
    assert searched.metric("success") == replace(searched, detectors="").metric("finding.loop") == {}


def test_a_history_has_the_intervals_of_reports() -> None:
    shares = [1.0, 0.5, 0.75, 1.0, 1.0, 0.25]
    assert estimate_of("success", shares, 24).low == pytest.approx(share_interval(shares, 24)[0])
    assert estimate_of("overall", shares).high == 1.0
    assert estimate_of("overall", [0.6] * 9).low is None
    assert estimate_of("latency_s", [1.0] * 9).low is None
    assert estimate_of("overall", [0.4, 0.6]).low is None

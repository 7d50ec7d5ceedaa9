"""Predicted outcomes in the chain: learned in one drop, shown in another."""

import random
from pathlib import Path
from typing import Any

import dagster as dg
import orjson
import pytest

from evaluation_assets_tests.conftest import Workspace


def shop_runs(seed: int, *, tasks: range, is_known: bool, is_explained: bool = True) -> bytes:
    """Four runs of each task. Those that fail call one tool again and again, or else fail by chance."""
    draw = random.Random(seed)
    lines = []
    for task in tasks:
        for trial in range(4):
            failed = draw.random() < 0.5
            searches = 1 + draw.randrange(2) + (4 + draw.randrange(3)) * (failed and is_explained)
            lines.append(_run(task, trial, searches, failed if is_known else None))
    return b"\n".join(map(orjson.dumps, lines))


def with_gold_actions(runs: bytes) -> bytes:
    """The runs as tau-bench writes them. Those that failed lack the gold action of their task."""
    lines = []
    for number, record in enumerate(map(orjson.loads, runs.splitlines())):
        actions = [] if record["success"] else [{"name": "cancel_order", "kwargs": {}}]
        task = {"user_id": "ada", "instruction": "Ask.", "actions": actions, "outputs": []}
        about = {"task_id": int(record["task_id"].split()[1]), "trial": number % 4, "info": {"task": task}}
        lines.append(orjson.dumps({**about, "reward": float(record["success"]), "traj": record["messages"]}))
    return b"\n".join(lines)


def _run(task: int, trial: int, searches: int, failed: bool | None) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Where is order {1000 + task}?"}]
    for number in range(searches):
        arguments = f'{{"order": "{1000 + task}", "page": {number}}}'
        called = {"id": f"c{number}", "type": "function", "function": {"name": "find_order", "arguments": arguments}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [called]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"page {number}: nothing new"})
    messages.append({"role": "assistant", "content": f"Order {1000 + task} is on its way."})
    known = {} if failed is None else {"success": not failed}
    return {"id": f"run-{task}-{trial}", "task_id": f"order {task}", "messages": messages, **known}


def metadata(result: dg.ExecuteInProcessResult) -> dict[str, Any]:
    (made,) = [
        event.materialization
        for event in result.get_asset_materialization_events()
        if event.asset_key == dg.AssetKey("predicted_outcomes")
    ]
    return {name: value.value for name, value in made.metadata.items()}


@pytest.mark.slow
def test_runs_without_an_outcome_are_predicted_from_those_with_one(installation: Workspace) -> None:
    installation.drop("shop/known", shop_runs(1, tasks=range(15), is_known=True))
    installation.drop("shop/new", shop_runs(2, tasks=range(20, 24), is_known=False))
    installation.drop("elsewhere/new", shop_runs(3, tasks=range(20, 24), is_known=False))

    known = installation.run("shop/known")
    assert installation.rows("shop/known", "predicted_outcomes") == []
    assert metadata(known)["reason"] == "all have an outcome"

    new = installation.run("shop/new")
    rows = installation.rows("shop/new", "predicted_outcomes")
    assert len(rows) == 16
    calls = {row["trajectory_id"]: row["n_tool_calls"] for row in installation.rows("shop/new", "raw_trajectories")}
    assert all((row["success_probability"] < 0.5) == (calls[row["trajectory_id"]] > 3) for row in rows)
    assert {(row["model"], row["training_runs"], row["training_tasks"]) for row in rows} == {("suite shop", 60, 15)}
    assert all(0.6 < row["auroc_low"] < row["auroc"] <= 1 and row["claims_success"] for row in rows)
    told = metadata(new)
    failed = sum(row["success_probability"] < 0.5 for row in rows)
    assert (told["runs"], told["likely_failed"], told["model"]) == (16, failed, "suite shop")
    assert "reason" not in told

    likely = {row["trajectory_id"] for row in rows if row["success_probability"] < 0.5}
    queue = installation.rows("shop/new", "review_queue")
    assert {row["trajectory_id"] for row in queue[: len(likely)]} == likely
    assert {row["stratum"] for row in queue[: len(likely)]} == {"likely_failure"}
    assert all(row["stratum"] != "likely_failure" for row in queue[len(likely) :])
    assert all("likely failed, p = ." in row["detail"] for row in queue[: len(likely)])
    page = Path(installation.home.reports("shop/new").path) / "report.html"
    assert page.read_text().count("likely failed, p = .") >= len(likely)

    installation.run("shop/new")
    assert installation.rows("shop/new", "predicted_outcomes") == rows

    elsewhere = installation.run("elsewhere/new")
    assert all(row["success_probability"] is None for row in installation.rows("elsewhere/new", "predicted_outcomes"))
    assert "0 runs of 0 tasks have a recorded outcome" in metadata(elsewhere)["reason"]


def test_a_model_below_the_bound_gives_no_number_and_says_why(installation: Workspace) -> None:
    installation.drop("shop/known", shop_runs(1, tasks=range(15), is_known=True, is_explained=False))
    installation.drop("shop/new", shop_runs(2, tasks=range(20, 22), is_known=False))
    installation.run("shop/known")
    told = metadata(installation.run("shop/new"))
    rows = installation.rows("shop/new", "predicted_outcomes")
    assert [row["success_probability"] for row in rows] == [None] * 8
    assert all(row["auroc_low"] <= 0.6 and row["training_runs"] == 60 for row in rows)
    assert told["reason"].startswith("no predictions: the AUROC is at least")


def test_what_was_expected_of_runs_foretells_nothing(installation: Workspace) -> None:
    runs = shop_runs(1, tasks=range(15), is_known=True, is_explained=False)
    installation.drop("shop/known", with_gold_actions(runs))
    installation.drop("shop/new", shop_runs(2, tasks=range(20, 22), is_known=False))
    installation.run("shop/known")
    found = installation.rows("shop/known", "findings")
    failed = {row["trajectory_id"] for row in installation.rows("shop/known", "raw_trajectories") if not row["success"]}
    assert {row["trajectory_id"] for row in found if row["detector"] == "recorded_expectations"} == failed
    assert metadata(installation.run("shop/new"))["reason"].startswith("no predictions: the AUROC is at least")


@pytest.mark.parametrize("named", [True, False])
def test_without_a_suite_the_agent_counts_or_else_the_drop_alone(installation: Workspace, named: bool) -> None:
    known = installation.drop("known", shop_runs(1, tasks=range(15), is_known=True))
    new = installation.drop("new", shop_runs(2, tasks=range(20, 21), is_known=False))
    if named:
        for path in (known, new):
            Path(path.parent / f"{path.stem}.drop.yaml").write_text("agent: clerk\n")
    installation.run("known")
    installation.run("new")
    rows = installation.rows("new", "predicted_outcomes")
    assert {row["model"] for row in rows} == ({"agent clerk"} if named else {None})
    assert all((row["success_probability"] is not None) == named for row in rows)


def test_a_run_is_not_predicted_by_a_model_that_was_fitted_on_it(installation: Workspace) -> None:
    """Runs are dropped again with their outcomes; then the drop without is evaluated again."""
    installation.drop("shop/again", shop_runs(1, tasks=range(15), is_known=True))
    installation.drop("shop/known", shop_runs(2, tasks=range(20, 31), is_known=True))
    installation.drop("shop/new", shop_runs(1, tasks=range(15), is_known=False))
    for drop in ("shop/again", "shop/known"):
        installation.run(drop)
    told = metadata(installation.run("shop/new"))
    rows = installation.rows("shop/new", "predicted_outcomes")
    assert {row["training_runs"] for row in rows} == {44}
    assert told["left_out_of_training"] == 60


@pytest.mark.slow
def test_a_damaged_drop_of_the_suite_is_passed_over(installation: Workspace) -> None:
    installation.drop("shop/known", shop_runs(1, tasks=range(15), is_known=True))
    installation.drop("shop/broken", shop_runs(4, tasks=range(15), is_known=True))
    installation.drop("shop/new", shop_runs(2, tasks=range(20, 21), is_known=False))
    installation.run("shop/broken")
    installation.run("shop/known")  # the last one, which the report compares the new drop with
    Path(installation.table("shop/broken", "raw_trajectories").path.path).write_bytes(b"PAR1 cut")
    assert installation.run("shop/new").success
    assert {row["training_runs"] for row in installation.rows("shop/new", "predicted_outcomes")} == {60}

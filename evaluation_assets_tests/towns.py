"""A suite of twelve tasks about towns: runs that are good or bad, and a baseline of good ones."""

from typing import Any

import dagster as dg

from evaluation_assets_tests.conftest import Workspace, call, record

TASKS = 12
GATE = "regression_gate"


def run_of(number: int, *, good: bool) -> bytes:
    """One run of a task: one that finds and answers, or one that fails at everything."""
    if good:
        found = f"The town of number {number} has 4{number} inhabitants, says the census."
        text = call(f"inhabitants of town {number}", found) + f"<answer>The town has 4{number} inhabitants.</answer>"
    else:
        text = call(f"x{number}", "Error: timeout") + call(f"y{number}", "Error: timeout")
    task = {"task_description": f"How many people live in town {number}?"}
    return record(f"task-{number}", text, success=good, duration=10.0 + number, **task)


def runs(good: int, bad: int = 0) -> bytes:
    return b"".join(run_of(number, good=number < good) for number in range(good + bad))


def promote(installation: Workspace, drop: str, **config: Any) -> dg.ExecuteInProcessResult:
    settings = {"promoted_by": "ada", "reason": "release 1", **config}
    return installation.run(drop, "promote_baseline", ops={"baseline": {"config": settings}})


def check_of(result: dg.ExecuteInProcessResult) -> dg.AssetCheckEvaluation:
    return next(check for check in result.get_asset_check_evaluations() if check.check_name == GATE)


def accept(installation: Workspace) -> Workspace:
    """Make ten good runs the baseline of the suite `s`."""
    installation.drop("s/base", runs(TASKS))
    assert installation.run("s/base").success
    assert promote(installation, "s/base").success
    return installation

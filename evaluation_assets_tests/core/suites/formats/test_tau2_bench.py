"""Tasks of tau2-bench as cases."""

import json
from pathlib import Path
from typing import Any

import pytest
from upath import UPath

from evaluation_assets.core.suites.formats.registry import LoadedSuite, load_suite

INSTRUCTIONS = {
    "domain": "hotel",
    "reason_for_call": "You want another room.",
    "known_info": "You are Ada.\nYour booking is K67.",
    "unknown_info": "The price of other rooms",
    "task_instructions": "Do not accept a smaller one.",
}
ACTION = {"name": "change_room", "arguments": {"booking": "K67", "room": 12}}


def task(name: str, actions: list[dict[str, Any]], **criteria: Any) -> dict[str, Any]:
    scenario = {"persona": "In a hurry", "instructions": INSTRUCTIONS}
    return {"id": name, "user_scenario": scenario, "evaluation_criteria": {"actions": actions, **criteria}}


def read(tmp_path: Path, content: Any) -> LoadedSuite:
    path = tmp_path / "hotel.json"
    path.write_text(json.dumps(content))
    return load_suite(UPath(path))


@pytest.mark.parametrize("wrapped", [True, False])
def test_a_task_is_a_case_with_its_user(tmp_path: Path, wrapped: bool) -> None:
    tasks = [task("1", [ACTION], communicate_info=["12"])]
    loaded = read(tmp_path, {"tasks": tasks, "simulations": []} if wrapped else tasks)
    (case,) = loaded.suite.cases
    assert (loaded.format, case.id, case.message) == ("tau2-bench", "1", "You want another room.")
    assert (case.match, case.keywords, case.category) == ("same_effects", ("12",), "hotel")
    assert case.user is not None and case.user.persona == "In a hurry"
    assert case.user.goal == "You want another room.\n\nDo not accept a smaller one."
    assert case.user.facts == (
        "You are Ada.",
        "Your booking is K67.",
        "What you do not know: The price of other rooms",
    )


def test_only_what_the_benchmark_compares_is_expected(tmp_path: Path) -> None:
    by_user = {"name": "restart_phone", "arguments": {}, "requestor": "user"}
    some = ACTION | {"compare_args": ["booking"]}
    tasks = [
        task("state", [some, by_user]),
        task("actions", [ACTION], reward_basis=["ACTION"]),
        task("said", [ACTION], reward_basis=["COMMUNICATE"], communicate_info=[12]),
    ]
    state, actions, said = read(tmp_path, tasks).suite.cases
    (call,) = state.expected_calls
    assert (call.parameters.keys(), call.other_parameters) == ({"booking"}, "allowed")
    assert (actions.match, actions.expected_calls[0].other_parameters) == ("superset", "forbidden")
    assert (said.match, said.expected_calls, said.keywords) == (None, (), ("12",))


def test_what_is_no_task_is_left_out_with_a_reason(tmp_path: Path) -> None:
    broken = task("2", [{"arguments": {}}])
    loaded = read(tmp_path, [task("1", [ACTION]), broken, task("3", []) | {"user_scenario": None}])
    assert [case.id for case in loaded.suite.cases] == ["1"]
    assert [(each.task, each.reason[:22]) for each in loaded.incomplete] == [
        ("2", "it is not as expected:"),
        ("3", "it is not as expected:"),
    ]

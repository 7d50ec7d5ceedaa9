"""Eval sets of Google ADK as cases."""

import json
from pathlib import Path
from typing import Any

import pytest
from upath import UPath

from evaluation_assets.core.suites.formats.registry import LoadedSuite, load_suite

CALL = {"name": "set_device", "args": {"device": "lamp", "status": "OFF"}}


def content(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text, "function_call": None}]}


def invocation(said: str, **between: Any) -> dict[str, Any]:
    return {"user_content": content("user", said), "final_response": content("model", "It is off."), **between}


def eval_set(*invocations: dict[str, Any]) -> dict[str, Any]:
    return {"eval_set_id": "home", "eval_cases": [{"eval_id": "lamp", "conversation": list(invocations)}]}


def loaded(tmp_path: Path, document: Any) -> LoadedSuite:
    path = tmp_path / "home.evalset.json"
    path.write_text(json.dumps(document))
    return load_suite(UPath(path))


EVENTS = {"invocation_events": [{"author": "agent", "content": {"parts": [{"function_call": CALL}]}}]}


@pytest.mark.parametrize("between", [{"tool_uses": [CALL], "tool_responses": []}, EVENTS], ids=["uses", "events"])
def test_a_conversation_is_a_case_with_its_calls(tmp_path: Path, between: dict[str, Any]) -> None:
    first = invocation("Turn the lamp off.", intermediate_data=between)
    (case,) = loaded(tmp_path, eval_set(first, invocation("Thanks."))).suite.cases
    assert (case.id, case.prompt, case.match) == ("lamp", "Turn the lamp off.\n\nThanks.", "exact")
    (call,) = case.expected_calls
    assert (call.tool, call.other_parameters) == ("set_device", "forbidden")
    assert {name: rule.equals for name, rule in call.parameters.items()} == CALL["args"]


def test_names_in_camel_case_are_those_of_the_api(tmp_path: Path) -> None:
    turn = {"userContent": content("user", "Off."), "intermediateData": {"toolUses": [CALL]}}
    (case,) = loaded(tmp_path, {"evalCases": [{"evalId": "lamp", "conversation": [turn]}]}).suite.cases
    assert (case.id, case.prompt, [call.tool for call in case.expected_calls]) == ("lamp", "Off.", ["set_device"])


def test_a_list_of_turns_is_one_conversation(tmp_path: Path) -> None:
    use = {"tool_name": "set_device", "tool_input": CALL["args"]}
    turns = [
        {"query": "Off.", "expected_tool_use": [use], "reference": "It is off."},
        {"query": "Is it?", "expected_tool_use": [], "reference": "Yes."},
    ]
    (case,) = loaded(tmp_path, turns).suite.cases
    assert (case.id, case.prompt, len(case.expected_calls)) == ("home", "Off.\n\nIs it?", 1)


def test_no_call_is_expected_only_where_the_set_says_so(tmp_path: Path) -> None:
    (silent,) = loaded(tmp_path, eval_set(invocation("Hi.", intermediate_data={"tool_uses": []}))).suite.cases
    assert silent.should_not_call_tools
    untold = loaded(tmp_path, eval_set(invocation("Hi.")))
    assert untold.suite.cases == () and "it expects nothing" in untold.incomplete[0].reason

"""Lists of test cases in the fields of tutorials, as files that people have."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from upath import UPath

from evaluation_assets.core.suites.calls import Call
from evaluation_assets.core.suites.case_results import Run, evaluate
from evaluation_assets.core.suites.formats.registry import LoadedSuite, load_suite
from evaluation_assets.core.suites.suite import InvalidSuite

CALLS = [
    {
        "id": "C1",
        "user_message": "How warm is it in Oslo?",
        "expected_tool_calls": [
            {
                "tool_name": "get_weather",
                "required_params": {"city": "Oslo", "units": None},
                "forbidden_params": ["days"],
            }
        ],
        "expected_output_contains": ["Oslo"],
        "max_tool_calls": 2,
        "max_latency_ms": 9000,
    },
    {"id": "C2", "user_message": "What is a fjord?", "should_not_call_tools": True},
]
TOOLS_USED = [
    {
        "id": 7,
        "query": "What is a fjord, and which one is the longest?",
        "expected_tools": ["wiki", "search"],
        "expected_answer_contains": ["Norway", "glacier"],
        "optimal_steps": 2,
        "category": "geography",
    }
]


def loaded(folder: Path, content: Any, name: str = "mine.json") -> LoadedSuite:
    text = yaml.safe_dump(content) if name.endswith("yaml") else json.dumps(content, indent=1)
    if name.endswith("jsonl"):
        text = "\n".join(map(json.dumps, content))
    (folder / name).write_text(text)
    return load_suite(UPath(folder / name))


@pytest.mark.parametrize("name", ["mine.json", "mine.yaml", "mine.jsonl"])
def test_cases_with_calls_check_tools_parameters_and_keywords(tmp_path: Path, name: str) -> None:
    found = loaded(tmp_path, CALLS, name)
    assert (found.format, found.suite.name, found.suite.weighting) == ("test-cases", "mine", "calls")
    with_call, without = found.suite.cases
    assert (with_call.max_calls, with_call.max_latency_ms) == (2, 9000)

    def passes(**arguments: Any) -> bool:
        run = Run(calls=(Call("get_weather", arguments),), answer="In Oslo it is 4 degrees.")
        return evaluate(with_call, run, found.suite).passed is True

    assert passes(city="Oslo", units="celsius")
    assert not passes(city="Bergen", units="celsius"), "another value"
    assert not passes(city="Oslo"), "a parameter without a value has to be there"
    assert not passes(city="Oslo", units="celsius", days=1), "forbidden"
    assert evaluate(without, Run(calls=(Call("wiki", {}),)), found.suite).score == 0
    assert evaluate(without, Run(calls=()), found.suite).score == 1


def test_cases_with_tools_are_weighed_by_completion_and_pass_from_0_6(tmp_path: Path) -> None:
    found = loaded(tmp_path, TOOLS_USED)
    assert (found.suite.weighting, found.suite.min_score) == ("completion", 0.6)
    (case,) = found.suite.cases
    assert (case.id, case.category, case.optimal_steps) == ("7", "geography", 2)
    answer = "It is a valley that a glacier made and the sea filled; many are in Norway."
    run = Run(calls=(Call("wiki", {"q": "fjord"}),), answer=answer)
    result = evaluate(case, run, found.suite)
    # completed .30, half of the tools .125, both keywords .30, no step too many .15
    assert result.score == pytest.approx(0.875)
    assert result.coverage == 0.5


def test_an_object_may_have_tools_beside_the_cases(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools = [{"name": "get_weather", "description": "The weather.", "input_schema": schema}]
    found = loaded(tmp_path, {"test_cases": CALLS, "tools": tools, "min_pass_rate": 0.85})
    assert found.suite.min_pass_rate == 0.85
    assert [tool.parameters for tool in found.suite.tools or ()] == [schema]


def test_all_faults_are_said_with_line_and_field(tmp_path: Path) -> None:
    wrong = [
        {**CALLS[0], "expected_tool_calls": [{"tool_name": "a", "param_validators": {"units": "lambda v: v"}}]},
        {**CALLS[1], "id": "C3", "max_calls": 3},
        {**CALLS[1], "id": "C4", "expected_tool_calls": [{"tool_name": "a"}]},
    ]
    with pytest.raises(InvalidSuite) as refused:
        loaded(tmp_path, {"test_cases": wrong}, "mine.yaml")
    first, second, third = re.split(r"\. |(?<=\?) ", str(refused.value))
    assert "mine.yaml:2" in first and "test_cases[0].expected_tool_calls[0].param_validators: functions cannot" in first
    assert "test_cases[1].max_calls: unknown field" in second
    assert "should_not_call_tools and expected_calls exclude each other" in third


def test_a_case_that_expects_nothing_is_listed(tmp_path: Path) -> None:
    found = loaded(tmp_path, [*CALLS, {"id": "C5", "user_message": "Hello?"}])
    (incomplete,) = found.incomplete
    assert incomplete.task == "C5" and incomplete.reason.endswith(
        "`should_not_call_tools: true` says that no call is right"
    )


@pytest.mark.parametrize(("listed", "asked"), [("expected_tool_calls", "user_message"), ("expected_tools", "query")])
def test_an_empty_list_of_calls_and_nothing_else_says_that_none_is_needed(
    tmp_path: Path, listed: str, asked: str
) -> None:
    found = loaded(tmp_path, [*CALLS, {"id": "C5", asked: "Hello?", listed: []}])
    case = found.suite.cases[-1]
    assert (found.incomplete, case.id, case.should_not_call_tools) == ((), "C5", True)


@pytest.mark.parametrize(("without_id", "line"), [(0, 1), (1, 5)])
def test_a_case_without_an_id_is_named_by_its_line(tmp_path: Path, without_id: int, line: int) -> None:
    cases = [{"id": each, "query": "What is a fjord?", "expected_tools": ["wiki"]} for each in range(3)]
    del cases[without_id]["id"]
    with pytest.raises(InvalidSuite, match=rf"^mine\.yaml:{line}: \[{without_id}\]\.id: is missing$"):
        loaded(tmp_path, cases, "mine.yaml")

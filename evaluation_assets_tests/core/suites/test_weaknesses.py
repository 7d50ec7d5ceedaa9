"""Weaknesses of suites, each in the smallest suite that has it and in one that does not."""

from typing import Any

import pytest
from upath import UPath

from evaluation_assets.core.suites.formats.registry import load_suite
from evaluation_assets.core.suites.suite import Suite
from evaluation_assets.core.suites.weaknesses import FEW, Weakness, coverage, weaknesses

TOOLS = [
    {"name": "look_up", "parameters": {"type": "object", "properties": {"item": {"type": "string"}}}},
    {"name": "order", "parameters": {"type": "object", "properties": {"count": {"type": "integer"}}}},
]


def of(*cases: dict[str, Any], **fields: Any) -> list[Weakness]:
    given = [{"id": str(number), "message": f"task {number}"} | case for number, case in enumerate(cases)]
    return weaknesses(Suite.model_validate({"name": "s", "cases": given} | fields))


def kinds(*cases: dict[str, Any], **fields: Any) -> set[str]:
    """What is weak about single cases and tools."""
    return {found.kind for found in of(*cases, **fields)} - {"few_cases", "always_calls", "same_length"}


ASK = {"expected_calls": [{"tool": "look_up", "parameters": {"item": "A3"}}]}


@pytest.mark.parametrize(
    ("cases", "kind"),
    [
        (
            [{"message": "How many?", "answer": "12"}, {"message": " how  MANY? ", "answer": "13"}],
            "contradicting_cases",
        ),
        ([{"message": "How many?", "answer": "12"}, {"message": "How many?", "answer": "12"}], "repeated_case"),
        ([{"message": "Is it Mount Fuji or K2?", "answer": "Mount  Fuji"}], "answer_in_task"),
        ([{"message": "中国的首都是不是北京市？", "answer": "北京市"}], "answer_in_task"),
        ([{"message": "首都是北京还是上海？", "answer": "北京"}], "answer_in_task"),
        ([{"message": "ソウルは首都？ソウルです。", "answer": "ソウル"}], "answer_in_task"),
        ([{"message": "Compare BERT and GPT.", "keywords": ["bert", "GPT"]}], "keywords_in_task"),
        ([{"message": "How many of A3?", "keywords": ["3"]}], "keywords_in_task"),  # as the score looks for it
        ([{"message": "Why?", "answer": "because " * 11}], "answer_form"),
        ([{"message": "How long is it?", "answer": "-3.1416"}], "answer_form"),
        *(
            ([{"message": "When was it?", "answer": answer}], "answer_form")
            for answer in (
                "July 20, 1969",
                "20 July 1969",
                "1969-07-20",
                "20.07.1969",
                "1969年7月20日",
                "2:05 pm",
                "14:00",
            )
        ),
    ],
)
def test_a_weak_case_is_named(cases: list[dict[str, Any]], kind: str) -> None:
    (found,) = [each for each in of(*cases) if each.kind == kind]
    assert found.cases == tuple(str(number) for number in range(len(cases)))
    assert kinds(*cases) == {kind}


@pytest.mark.parametrize(
    "case",
    [
        {"message": "Is there a K2?", "answer": "K2"},  # short answers occur by chance
        {"message": "Say NOT_FOUND if there is none.", "answer": "NOT_FOUND"},
        {"message": "What is written on the sunflower?", "answer": "flower"},  # a part of a word
        {"message": "Compare BERT and GPT.", "keywords": ["bert", "decoder"]},
        {"message": "How long is it?", "answer": {"value": "3.1416", "tolerance": 0.01}},
        {"message": "What does it cost?", "answer": "19.99"},
        {"message": "Which version?", "answer": "3.1416.2"},
        {"message": "When was it (YYYY-MM-DD)?", "answer": "1969-07-20"},
        {"message": "When was it, in ISO format?", "answer": "1969-07-20"},
        {"message": "When was it? Answer like 12 May 2001.", "answer": "20 July 1969"},
        {"message": "In which year?", "answer": "1969"},
        {"message": "In which month?", "answer": "May"},
        {"message": "这是什么？一个杯", "answer": "杯"},
    ],
)
def test_a_case_without_a_weakness_is_not(case: dict[str, Any]) -> None:
    assert kinds(case) == set()


def test_tools_that_no_case_needs_and_calls_that_cannot_be_made() -> None:
    assert kinds(ASK, tools=TOOLS) == {"unused_tool"}
    assert kinds(ASK, {"expected_calls": [{"tool": "order", "parameters": {"count": 2}}]}, tools=TOOLS) == set()
    wrong = [{"expected_calls": [{"tool": name, "parameters": {"count": "two"}}]} for name in ("order", "send")]
    assert kinds(ASK, *wrong, tools=TOOLS) == {"call_against_schema", "unknown_tool"}
    # a value that only has to match a pattern, or that may be absent, is none that breaks a definition
    loose = {"tool": "order", "parameters": {"count": {"regex": "[0-9]"}, "more": {"equals": 1, "optional": True}}}
    assert kinds(ASK, {"expected_calls": [loose]}, tools=TOOLS) == set()


def test_keywords_that_weigh_too_little_to_fail_a_run_are_named() -> None:
    worded = ASK | {"keywords": ["three"]}
    (found,) = [each for each in of(ASK, worded, worded) if each.kind == "soft_keywords"]
    assert found.cases == ("1", "2") and "they are 0.1 of the score, and min_score is 0.8" in found.detail
    assert kinds(ASK, ASK | {"answer": "3"}) == set() == kinds({"message": "m", "keywords": ["three"]})
    assert kinds(worded, min_score=0.95) == set() == kinds(worded, weighting="completion")


def test_coverage_of_a_suite() -> None:
    few = {found.kind for found in of(ASK, ASK)}
    assert {"few_cases", "always_calls", "same_length"} <= few
    enough = [
        ASK,
        {"expected_calls": [*ASK["expected_calls"], *ASK["expected_calls"]]},
        {"should_not_call_tools": True},
    ]
    many = [enough[number % 3] for number in range(FEW)]
    assert not {found.kind for found in of(*many)} & {"few_cases", "always_calls", "same_length"}
    suite = Suite.model_validate(
        {
            "name": "s",
            "cases": [{"id": str(n), "message": "m", "category": "a"} | case for n, case in enumerate(enough)],
        }
    )
    assert coverage(suite) == {
        "category": {"a": 3},
        "expected calls": {"0": 1, "1": 1, "2": 1},
        "tool": {"look_up": 2},
    }


def test_the_weak_cases_of_the_examples_are_named() -> None:
    folder = UPath(__file__).parents[3] / "examples" / "suites"
    of_suite = {"few_cases", "always_calls", "same_length", "soft_keywords"}
    found = {
        file.stem: [each.cases for each in weaknesses(load_suite(file).suite) if each.kind not in of_suite]
        for file in folder.iterdir()
    }
    cases = [("T001_current_weather",), ("T003_no_tool_needed",)]
    assert found == {"weather": cases, "research": [], "calculator": []}

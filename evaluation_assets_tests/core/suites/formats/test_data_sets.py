"""Data sets of questions and answers, in the forms in which stores, libraries and spreadsheets keep them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.suites.case_results import Run, evaluate
from evaluation_assets.core.suites.formats.base import Item, Source
from evaluation_assets.core.suites.formats.data_sets import detect, read
from evaluation_assets.core.suites.formats.registry import LoadedSuite, load_suite
from evaluation_assets.core.suites.suite import InvalidSuite

_ASKED, _RIGHT = "What is the capital of Peru?", "Lima"
_LANGFUSE = {"id": "u", "datasetId": "d", "input": {"question": _ASKED}, "expectedOutput": _RIGHT, "status": "ACTIVE"}
_MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": _ASKED}]


def _loaded(folder: Path, content: Any, name: str = "mine.jsonl") -> LoadedSuite:
    lines = "\n".join(map(json.dumps, content)) if isinstance(content, list) else json.dumps(content, indent=1)
    (folder / name).write_text(content if isinstance(content, str) else lines)
    return load_suite(UPath(folder / name))


@pytest.mark.parametrize(
    "content",
    [
        [{"question": _ASKED, "answer": _RIGHT}],
        {"data": [_LANGFUSE], "meta": {"page": 1, "totalItems": 1}},
        [{"id": "u", "inputs": {"question": _ASKED}, "outputs": {"answer": _RIGHT}, "metadata": {}}],
        [{"inputs": {"anything": _ASKED}, "expectations": {"expected_response": _RIGHT}}],
        [{"input": _MESSAGES, "ideal": _RIGHT}],
        [{"input": {"messages": _MESSAGES}, "ideal": [_RIGHT]}],
        [{"item": {"question": _ASKED, "correct_label": _RIGHT}}],
        [{"task_id": "u", "Question": _ASKED, "Final answer": _RIGHT, "Level": 1}],
        [{"user_input": _ASKED, "reference": _RIGHT, "reference_contexts": ["..."]}],
        [{"query": _ASKED, "ground_truth": _RIGHT}],
        [{"problem": _ASKED, "answer": f"It is no port.\n#### {_RIGHT}"}],
    ],
)
def test_a_question_and_its_answer_are_found_under_usual_names(tmp_path: Path, content: Any) -> None:
    found = _loaded(tmp_path, content)
    (case,) = found.suite.cases
    assert (found.format, case.prompt, case.keywords, case.answer) == ("data-set", _ASKED, (_RIGHT,), None)
    assert case.id in ("u", "case-1") and found.incomplete == ()
    assert evaluate(case, Run(calls=(), answer="The capital of Peru is Lima."), found.suite).passed
    assert not evaluate(case, Run(calls=(), answer="It is Cusco."), found.suite).passed


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_spreadsheet_is_a_data_set(tmp_path: Path, delimiter: str) -> None:
    rows = [("id", "question", "answer"), ("a", '"Where, and when?"', "Callao"), ("b", '"Two\nlines"', "7")]
    found = _loaded(tmp_path, "\ufeff" + "\n".join(map(delimiter.join, rows)), "mine.csv")
    assert [(case.id, case.message) for case in found.suite.cases] == [("a", "Where, and when?"), ("b", "Two\nlines")]
    for broken, said in (
        ('question,answer\n"a,b\n', r"mine\.csv:1: not CSV: unexpected end of data"),
        ("question,answer\na,b,c\n", r"mine\.csv:2: the row has more cells than the header"),
    ):
        with pytest.raises(InvalidSuite, match=said):
            _loaded(tmp_path, broken, "mine.csv")


@pytest.mark.parametrize(
    ("right", "answer", "passes"),
    [
        (12, "That makes 12.", True),
        ("1,200", "1200", True),
        ("3", "13", False),
        ("yes", "Yes.", True),
        ("no", "I do not know", False),
        ("C", "C", True),
        (True, "true", True),
    ],
)
def test_numbers_and_words_of_few_letters_are_the_whole_answer(
    tmp_path: Path, right: Any, answer: str, passes: bool
) -> None:
    found = _loaded(tmp_path, [{"question": "How many?", "answer": right}])
    (case,) = found.suite.cases
    assert evaluate(case, Run(calls=(), answer=answer), found.suite).passed is passes


@pytest.mark.parametrize(
    "call",
    [
        {"name": "dock", "input_parameters": {"berth": 4}},
        {"name": "dock", "args": {"berth": 4}},
        {"tool_name": "dock", "tool_input": {"berth": 4}},
    ],
)
def test_expected_tools_are_expected_calls(tmp_path: Path, call: dict[str, Any]) -> None:
    (case,) = _loaded(tmp_path, [{"input": "Dock at berth 4", "expected_tools": [call]}]).suite.cases
    (expected,) = case.expected_calls
    assert (expected.tool, expected.parameters["berth"].equals) == ("dock", 4)
    (case,) = _loaded(tmp_path, [{"input": "Dock", "expected_tools": ["dock"]}]).suite.cases
    assert [each.tool for each in case.expected_calls] == ["dock"]


def test_what_no_rule_can_check_is_left_out_with_the_reason(tmp_path: Path) -> None:
    rows = [
        {"question": "Why?", "answer": "Because " * 20},
        {"question": "Which?", "answer": ["red", "blue"]},
        {"question": "Which?", "choices": ["red", "blue"], "answer": 1},
        {"question": "Who?"},
        {"answer": "Lima"},
        {"question": _ASKED, "answer": _RIGHT},
    ]
    found = _loaded(tmp_path, rows)
    assert [case.id for case in found.suite.cases] == ["case-6"]
    assert [(each.line, each.reason.partition(";")[0]) for each in found.incomplete] == [
        (1, "its answer of 159 characters can be worded otherwise"),
        (2, "it has 2 right answers"),
        (3, "its answer is a choice among several"),
        (4, "it has no answer"),
        (5, "it has no message"),
    ]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["question", "input", "answer", "role"]), inner)
    ),
    max_leaves=9,
)


@given(
    st.lists(st.dictionaries(st.sampled_from(["id", "question", "inputs", "answer", "expected_tools", "item"]), values))
)
def test_any_rows_are_cases_or_left_out(rows: list[dict[str, Any]]) -> None:
    source = Source(UPath("mine.jsonl"), "", tuple(Item(number, row) for number, row in enumerate(rows, 1)))
    detect(source)
    draft = read(source)
    assert len(draft.cases) + len(draft.incomplete) <= max(len(rows), 3)
    assert all(case.prompt.strip() for _, case in draft.cases)


@pytest.mark.parametrize(
    "row",
    [
        {"question": _ASKED, "answer": "Cusco", "trajectory": [{"action": "look"}]},
        {"task": _ASKED, "steps": [{"tool": "look"}], "answer": "Cusco"},
        {"task": _ASKED, "messages": _MESSAGES, "answer": "Cusco"},
        {"input": _ASKED, "output": "Cusco", "latency_ms": 300},
        {"question": _ASKED, "answer": "Cusco", "correct": False},
        {"id": "u", "run_type": "chain", "inputs": {"input": _ASKED}, "outputs": {"output": "Cusco"}},
    ],
)
def test_the_answer_of_a_run_is_not_the_right_one(tmp_path: Path, row: Any) -> None:
    with pytest.raises(InvalidSuite, match="no kind of suite"):
        _loaded(tmp_path, [row])
    found = _loaded(tmp_path, [row, {"question": "?", "answer": _RIGHT}])
    assert [each.reason for each in found.incomplete] == ["it is a run, whose answer need not be right"]


@pytest.mark.parametrize(
    "row",
    [
        {"question": _ASKED, "answer": "Cusco", "ground_truth": _RIGHT},
        {"input": _ASKED, "outputs": {"answer": "Cusco"}, "reference_outputs": {"answer": _RIGHT}},
        {"question": _ASKED, "prediction": "Cusco", "answer": _RIGHT, "correct": False, "latency": 3},
        {"question": _ASKED, "answer": _RIGHT, "target": "capitals", "reference": "atlas.org"},
        {"question": _ASKED, "answers": {"text": [_RIGHT, "lima"], "answer_start": [3, 3]}},
        {"row_idx": 0, "row": {"question": _ASKED, "answer": _RIGHT}, "truncated_cells": []},
        {"authors": [{"name": "Ana"}], "rows": [{"row_idx": 0, "row": {"question": _ASKED, "answer": _RIGHT}}]},
    ],
)
def test_the_right_answer_comes_before_others(tmp_path: Path, row: Any) -> None:
    (case,) = _loaded(tmp_path, [row] if "authors" not in row else row).suite.cases
    assert (case.prompt, case.keywords) == (_ASKED, (_RIGHT,))


def test_all_lists_of_questions_are_read(tmp_path: Path) -> None:
    splits = {name: [{"question": name, "answer": _RIGHT}] for name in ("train", "test")}
    assert [case.message for case in _loaded(tmp_path, splits).suite.cases] == ["train", "test"]


def test_an_instruction_with_its_input_is_the_question(tmp_path: Path) -> None:
    (case,) = _loaded(tmp_path, [{"instruction": "Sum them.", "input": "1, 2", "output": "3"}]).suite.cases
    assert case.message == "Sum them.\n\n1, 2"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"answer": "B", "A": "Cusco", "B": _RIGHT}, "choice"),
        ({"answer": "B", "option_a": "Cusco", "option_b": _RIGHT}, "choice"),
        ({"answer": r"\frac{1}{2}"}, "LaTeX"),
        ({"answer": "N/A"}, "no answer"),
        ({"answer": _RIGHT, "expected_tools": [{"arguments": {}}]}, "expected tools"),
        ({"__expected": "llm-rubric: Is it nice?"}, "no answer"),
    ],
)
def test_what_no_rule_can_check_is_left_out(tmp_path: Path, row: Any, said: str) -> None:
    found = _loaded(tmp_path, [{"question": _ASKED, **row}, {"question": "?", "answer": _RIGHT}])
    assert [said in each.reason for each in found.incomplete] == [True] and len(found.suite.cases) == 1


@pytest.mark.parametrize(
    ("given", "value"), [(r"so $x = \boxed{2}$.", "2"), ("#### 7", "7"), (r"C:\pictures", r"C:\pictures")]
)
def test_an_answer_may_follow_its_derivation(tmp_path: Path, given: str, value: str) -> None:
    (case,) = _loaded(tmp_path, [{"problem": _ASKED, "solution": given}]).suite.cases
    assert value == (case.answer.value if case.answer else case.keywords[0])


def test_spreadsheets_have_empty_rows_and_cells_with_lists(tmp_path: Path) -> None:
    rows = 'sep=;\ninput;expected_tools;__expected\n;;\nWhere?;look, "ask";contains:Lima\nWhen?;["look"];7\n;;\n'
    found = _loaded(tmp_path, rows.replace('"', "'").replace("['look']", '"[""look""]"').replace("'", ""), "mine.csv")
    assert [[call.tool for call in case.expected_calls] for case in found.suite.cases] == [["look", "ask"], ["look"]]
    assert found.suite.cases[0].keywords == (_RIGHT,) and found.incomplete == ()
    with pytest.raises(InvalidSuite, match="two columns are called 'answer'"):
        _loaded(tmp_path, "question,answer,answer\na,b,c\n", "mine.csv")


def test_an_empty_list_of_expected_tools_without_an_answer_says_that_no_call_is_needed(tmp_path: Path) -> None:
    rows = [
        {"input": "Forecast?", "expected_tools": ["forecast"]},
        {"input": "Hello?", "expected_tools": []},
        {"input": _ASKED, "answer": _RIGHT, "expected_tools": []},
        {"input": "Bye?", "expected_tools": None},
    ]
    found = _loaded(tmp_path, rows)
    assert [case.should_not_call_tools for case in found.suite.cases] == [False, True, False]
    assert [task.reason for task in found.incomplete] == ["it has no answer"]

"""Calls and results in the elements of Hermes, in the forms that models write them."""

from pathlib import Path

import pytest

from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories

ONE = '{"name": "look_up", "arguments": {"order": 17}}'
OTHER = '{"name": "count", "arguments": {"of": "B-2"}}'


def conversation(call: str, *returned: str) -> list[dict[str, str]]:
    results = "\n".join(f"<tool_response>\n{each}\n</tool_response>" for each in returned)
    said = [("human", "Is order 17 paid?"), ("gpt", call), ("tool", results), ("gpt", "It is paid.")]
    return [{"from": speaker, "value": text} for speaker, text in said]


@pytest.mark.parametrize(
    "element",
    [
        "{'arguments': {'order': 17}, 'name': 'look_up'}",  # as Python prints it
        f"```json\n{ONE}\n```",
        ONE + "}",
        '{"type": "function", "function": {"name": "look_up", "arguments": {"order": 17}}}',
    ],
)
def test_a_call_in_an_element_may_be_no_strict_json(tmp_path: Path, element: str) -> None:
    path = written(tmp_path, {"conversations": conversation(f"<tool_call>\n{element}\n</tool_call>", "paid")})
    (run,) = trajectories(path)
    assert (run.final_answer, calls_of(run)) == ("It is paid.", [("look_up", {"order": 17}, "paid")])
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize("several", [f"{ONE}\n{OTHER}", f"{ONE}, {OTHER}", f"[{ONE}, {OTHER}]"])
def test_an_element_may_have_several_calls(tmp_path: Path, several: str) -> None:
    path = written(tmp_path, {"conversations": conversation(f"<tool_call>\n{several}\n</tool_call>", "paid", "3")})
    (run,) = trajectories(path)
    assert calls_of(run) == [("look_up", {"order": 17}, "paid"), ("count", {"of": "B-2"}, "3")]
    assert summary_of(path).trust == "complete"


def test_calls_and_results_that_python_printed_find_each_other(tmp_path: Path) -> None:
    printed = "{'name': 'look_up', 'arguments': {'note': \"it's\", 'paid': None}}"
    call = f"<tool_call>\n{printed}\n</tool_call>\n<tool_call>\n{OTHER}\n</tool_call>"
    results = ("{'name': 'count', 'content': '3'}", "{'name': 'look_up', 'content': {'paid': True}}")
    path = written(tmp_path, {"conversations": conversation(call, *results)})
    (run,) = trajectories(path)
    assert calls_of(run) == [
        ("look_up", {"note": "it's", "paid": None}, '{\n  "paid": true\n}'),
        ("count", {"of": "B-2"}, "3"),
    ]
    assert summary_of(path).trust == "complete"


def test_texts_in_arguments_may_have_line_breaks(tmp_path: Path) -> None:
    call = '<tool_call>\n{"name": "run", "arguments": {"code": "a = 1\nprint(a)"}}\n</tool_call>'
    (run,) = trajectories(written(tmp_path, {"conversations": conversation(call, "1")}))
    assert calls_of(run) == [("run", {"code": "a = 1\nprint(a)"}, "1")]


def test_a_last_element_may_lack_its_end(tmp_path: Path) -> None:
    path = written(tmp_path, {"conversations": conversation(f"I look.\n<tool_call>\n{ONE}", "paid")})
    (run,) = trajectories(path)
    assert calls_of(run) == [("look_up", {"order": 17}, "paid")]
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize(
    "cut", ['{"name": "look_up", "arguments": {"order": 17', "{'name': 'look_up'", "I look it up."]
)
def test_what_is_no_call_is_said_to_be_unread(tmp_path: Path, cut: str) -> None:
    path = written(tmp_path, {"conversations": conversation(f"<tool_call>\n{cut}", "paid")})
    assert summary_of(path).trust == "doubtful"

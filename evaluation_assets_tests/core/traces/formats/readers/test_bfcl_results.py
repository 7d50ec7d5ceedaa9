"""Result files of the Berkeley Function-Calling Leaderboard."""

import json
from pathlib import Path
from typing import Any

import pytest
from upath import UPath

from evaluation_assets.core.sections.findings.detecting import detected
from evaluation_assets.core.suites.calls import run_of
from evaluation_assets.core.suites.case_results import evaluate
from evaluation_assets.core.suites.formats.registry import load_suite
from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.trajectories.model import Trajectory, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, read, trajectories
from evaluation_assets_tests.third_party import data

RESULTS = FIXTURES / "bfcl_results" / "results.jsonl"
COUNTS = {"input_token_count": 10, "output_token_count": 5, "latency": 0.5}
DEEP = ("a" + ".b" * 900 + "(x=1)", "f(x=" + "-" * 900 + "1)", "__import__('os').system('x')")
PRICE = ("shop.price", {"sku": "A-1", "size": 2}, None)


def test_answers_of_one_turn_have_their_calls_tokens_and_duration() -> None:
    calls, text, refusal, _ = trajectories(RESULTS)
    assert calls_of(calls) == [("shop_stock", {"sku": "A-1"}, None), ("shop_stock", {"sku": "B-2"}, None)]
    assert (calls.task_id, calls.usage, calls.duration_s) == (
        "parallel_0",
        Usage(input_tokens=119, output_tokens=56),
        1.5,
    )
    assert calls_of(text) == [("shop.price", {"sku": "A-1", "currency": "EUR", "sizes": [1, 2]}, None)]
    assert (refusal.calls, refusal.final_answer) == ([], "None of the functions can tell the weather.")


def test_a_log_has_what_users_said_and_tools_returned() -> None:
    run = trajectories(RESULTS)[-1]
    assert [turn.user_message for turn in run.turns] == ["What is in notes?", "Remove it."]
    assert calls_of(run) == [
        ("cd", {"folder": "notes"}, '{"current": "notes"}'),
        ("ls", {}, '{"files": ["a.txt"]}'),
        ("rm", {"file": "a.txt"}, '{"error": "No such file: a.txt"}'),
    ]
    assert (run.usage, run.duration_s) == (Usage(input_tokens=600, output_tokens=60), 2.0)
    assert run.turns[-1].interactions[-1].response == "It is removed."


def test_several_turns_without_their_log_are_read_in_order(tmp_path: Path) -> None:
    result = [[[{"cd": '{"folder": "notes"}'}], "[ls(), cat(file='a.txt')]"], ["Done."]]
    (run,) = trajectories(written(tmp_path, {"id": "multi_turn_base_0", "result": result}))
    assert calls_of(run) == [("cd", {"folder": "notes"}, None), ("ls", {}, None), ("cat", {"file": "a.txt"}, None)]
    assert run.final_answer == "Done."


@pytest.mark.parametrize(
    "answer",
    [
        'shop.price(sku="A-1", size=2);',
        '[{"name": "shop.price", "parameters": {"sku": "A-1", "size": 2}}]',
        '\n{"tool_calls": [{"name": "shop.price", "arguments": {"sku": "A-1", "size": 2}}]}',
        '<tool_call>\n{"arguments": {"sku": "A-1", "size": 2}, "name": "shop.price"}\n</tool_call>',
        'shop.price\n{"sku": "A-1", "size": 2}',
    ],
)
def test_a_text_that_consists_of_calls_is_calls(tmp_path: Path, answer: str) -> None:
    (run,) = trajectories(written(tmp_path, {"id": "simple_0", "result": answer, **COUNTS}))
    assert calls_of(run) == [PRICE]


@pytest.mark.parametrize(
    ("answer", "arguments"),
    [
        ("sort('a.txt', reverse=True)", {"args": ["a.txt"], "reverse": True}),
        ("sort(lines=[*first, 2], **more)", {"lines": "[*first, 2]", "kwargs": "more"}),
    ],
)
def test_what_is_no_literal_stays_as_it_is_written(tmp_path: Path, answer: str, arguments: dict[str, Any]) -> None:
    (run,) = trajectories(written(tmp_path, {"id": "simple_0", "result": answer, **COUNTS}))
    assert calls_of(run) == [("sort", arguments, None)]


@pytest.mark.parametrize(
    "answer", ["It costs 5 (with tax).", "x = price(1)", "price(1) + 2", "[1, 2]", "(" * 9000, *DEEP]
)
def test_other_texts_are_answers(tmp_path: Path, answer: str) -> None:
    (run,) = trajectories(written(tmp_path, {"id": "simple_0", "result": answer, **COUNTS}))
    assert (run.calls, run.final_answer) == ([], answer)


def test_an_error_of_the_endpoint_is_a_rejected_record_with_its_text(tmp_path: Path) -> None:
    broken = {"id": "simple_0", "result": "Error during inference: HTTP 500", **COUNTS}
    path = written(tmp_path, broken, {"id": "simple_1", "result": "Hello.", **COUNTS})
    (rejection, run) = read(path)
    assert isinstance(rejection, Rejection) and "HTTP 500" in rejection.detail
    assert isinstance(run, Trajectory) and run.task_id == "simple_1"


@pytest.mark.slow
def test_recorded_answers_have_the_official_verdicts() -> None:
    """Of 2024, by an older edition of the questions: one in fifty gold answers was changed."""
    folder, agreed = data("bfcl/runs/2024-08-11"), 0
    kinds = {"simple_python": "simple", "multiple": "multiple_function", "parallel": "parallel_function"}
    for category, name in kinds.items():
        suite = load_suite(UPath(data(f"bfcl/v4/BFCL_v4_{category}.json"))).suite
        (results,) = (folder / "result").glob(f"*/*_test_{name}_result.json")
        (scores,) = (folder / "score").glob(f"*/{name}_score.json")
        wrong = {json.loads(line)["id"] for line in scores.read_text().splitlines()[1:]}
        passed = [
            evaluate(case, run_of(run), suite).passed
            for case, run in zip(suite.cases, trajectories(results), strict=True)
        ]
        agreed += sum(verdict == (number not in wrong) for number, verdict in enumerate(passed, 1))
    assert agreed >= 0.98 * 800


def test_answers_alone_have_no_finding_that_needs_the_question(tmp_path: Path) -> None:
    alone = trajectories(RESULTS)[:3]
    assert [detected(run) for run in alone] == [[], [], []]
    call = {"id": "c", "function": {"name": "shop_stock", "arguments": '{"sku": "AB-1234"}'}}
    made = {"role": "assistant", "content": None, "tool_calls": [call]}
    (answer,) = trajectories(written(tmp_path, {"messages": [made]}))
    (run,) = trajectories(written(tmp_path, {"messages": [{"role": "user", "content": "Is AB-1235 there?"}, made]}))
    assert detected(answer) == []
    assert {found.kind for found in detected(run)} == {"unsupported_argument", "cut_off"}

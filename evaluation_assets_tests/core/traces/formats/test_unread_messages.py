"""What stands between messages or beside them, and was or was not said in the run."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories

ASKED = {"role": "user", "content": "Where is order 17?"}
SAID = {"role": "assistant", "content": "It is on its way."}
CALL = {"id": "c1", "type": "function", "function": {"name": "find_order", "arguments": '{"id": 17}'}}
SEARCHED = [
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "on its way"},
    SAID,
]


@pytest.mark.parametrize(
    ("between", "unknown"),
    [
        ("hello", {"text between messages": 1}),
        ([ASKED], {"list between messages": 1}),
        ({"content": "hello"}, {"message without a role": 1}),
        ({}, {}),
        ({"usage": {"input_tokens": 3}}, {}),
        (None, {}),
    ],
)
def test_only_words_of_nobody_between_messages_are_told(tmp_path: Path, between: Any, unknown: dict[str, int]) -> None:
    summary = summary_of(written(tmp_path, {"messages": [ASKED, between, SAID]}))
    assert (dict(summary.unknown_parts), summary.trust) == (unknown, "doubtful" if unknown else "complete")


@pytest.mark.parametrize("form", [lambda messages: messages, lambda messages: orjson.dumps(messages).decode()])
def test_messages_that_nobody_read_are_told_also_as_json_text(tmp_path: Path, form: Any) -> None:
    other = {"role": "assistant", "content": "It was lost."}
    doubtful = summary_of(written(tmp_path, {"messages": [ASKED, SAID], "more": form([ASKED, other])}))
    assert dict(doubtful.unknown_parts) == {"messages in more": 1}
    assert summary_of(written(tmp_path, {"messages": [ASKED, SAID], "more": form([ASKED, SAID])})).trust == "complete"


@pytest.mark.parametrize("name", ["reference_trajectory", "expected_messages", "golden", "ground_truth_calls"])
def test_calls_of_a_run_to_compare_with_are_not_missing(tmp_path: Path, name: str) -> None:
    summary = summary_of(written(tmp_path, {"messages": [ASKED, SAID], name: SEARCHED}))
    assert (summary.trust, summary.calls_in_source) == ("complete", 0)


def test_answers_beside_the_messages_that_they_answer_are_runs_of_one_task(tmp_path: Path) -> None:
    runs = trajectories(written(tmp_path, {"prompt": [ASKED], "responses": [SEARCHED, [SAID]]}))
    assert [run.task for run in runs] == [ASKED["content"]] * 2
    assert len({run.task_id for run in runs}) == 1 and [len(calls_of(run)) for run in runs] == [1, 0]


def test_the_task_of_runs_without_a_user_is_the_one_above_them(tmp_path: Path) -> None:
    runs = trajectories(written(tmp_path, {"task": "Find order 17", "runs": [{"messages": SEARCHED}] * 2}))
    assert [run.task for run in runs] == ["Find order 17"] * 2
    named = trajectories(written(tmp_path, {"task": "orders", "runs": [{"messages": [ASKED, *SEARCHED]}] * 2}))
    assert [run.task for run in named] == [ASKED["content"]] * 2


def test_times_that_count_from_the_start_of_a_run_are_no_dates(tmp_path: Path) -> None:
    (run,) = trajectories(written(tmp_path, {"messages": [{**ASKED, "timestamp": 0}, {**SAID, "timestamp": 10}]}))
    assert (run.started_at, run.duration_s) == (None, 10)

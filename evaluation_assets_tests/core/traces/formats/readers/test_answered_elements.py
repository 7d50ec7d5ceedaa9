"""Calls as elements with what came back behind them, in chat messages, in rollouts and in tagged text."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.traces.formats.messages.answered_elements import with_answered_elements
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories

TEXT = (
    "<think>I look.</think>\n<search>author of Dune</search>\n<information>Doc 1: by Herbert.</information>\n"
    "<think>Check.</think><python>print(1)</python><output>1</output>\n<think>It is Herbert.</think>\n"
    "<answer>Frank Herbert</answer>"
)
CALLS = [("search", {"query": "author of Dune"}, "Doc 1: by Herbert."), ("python", {"code": "print(1)"}, "1")]
QUESTION = "Who wrote Dune?"
PROMPT = f"<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n{QUESTION}<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize(
    "record",
    [
        {"messages": [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": TEXT}]},
        {"input": PROMPT, "output": TEXT, "score": 1.0, "step": 3},
        {"input": f"user\n{QUESTION}\nassistant\n", "output": TEXT, "score": 1.0, "step": 3},
    ],
)
def test_calls_and_what_came_back_are_read(tmp_path: Path, record: dict[str, object]) -> None:
    (run,) = trajectories(path := written(tmp_path, record))
    assert calls_of(run) == CALLS
    assert (run.task, run.final_answer) == (QUESTION, "Frank Herbert")
    assert [run.piece(step.thought) for step in run.steps if step.thought] == ["I look.", "Check.", "It is Herbert."]
    assert summary_of(path).trust == "complete"


def test_in_tagged_text_information_behind_a_call_is_its_result(tmp_path: Path) -> None:
    text = "<think>I look.</think><search>author</search>\n<information>Herbert.</information><answer>Herbert</answer>"
    (run,) = trajectories(written(tmp_path, {"task_id": "t", "task_description": QUESTION, "raw_response": text}))
    (call,) = run.calls
    assert call.call is not None and call.call.name == "search"
    assert call.result is not None and run.piece(call.result.content) == "Herbert."
    alone = "<think>I look.</think>Here is <information>Herbert.</information><answer>Herbert</answer>"
    (run,) = trajectories(written(tmp_path, {"task_id": "t", "task_description": QUESTION, "raw_response": alone}))
    assert run.calls == []


@pytest.mark.parametrize(
    "text",
    ["<search>x</search> and no result", "<draft>x</draft><output>y</output>", "<search>x<information>y</information>"],
)
def test_other_elements_are_text(tmp_path: Path, text: str) -> None:
    messages = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": text}]
    (run,) = trajectories(written(tmp_path, {"messages": messages}))
    assert (run.calls, run.final_answer) == ([], text)


PARTS = ("<search>", "</search>", "<information>", "</information>", "<output>", "</output>", "<think>", "a b", "\n")


@given(st.lists(st.sampled_from(PARTS), max_size=30).map("".join))
def test_nothing_is_lost(text: str) -> None:
    message = {"role": "assistant", "content": text}
    pieces = list(with_answered_elements([message]))
    told = "".join(
        piece.get("reasoning_content", "")
        + "".join(str(call["arguments"]["query"]) for call in piece.get("tool_calls", ()))
        + piece.get("content", "")
        for piece in pieces
    )
    assert told.count("a b") == text.count("a b")


@pytest.mark.parametrize(
    "text",
    [
        "<search>" * 100_000 + "</search>",
        "<search>x</search><information>" * 50_000,
        "<search>" * 50_000 + "<python>" * 50_000 + "</python>" * 50_000,
        "<search>x</search>" * 50_000 + "<information>",
    ],
)
def test_many_open_elements_take_no_time(text: str) -> None:
    message = {"role": "assistant", "content": text}
    assert list(with_answered_elements([message])) == [message]


def test_an_element_that_was_left_open_before_is_no_part_of_the_call(tmp_path: Path) -> None:
    text = "<search>never sent. <search>author</search><information>Herbert.</information>It is Herbert."
    messages = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": text}]
    (run,) = trajectories(written(tmp_path, {"messages": messages}))
    assert calls_of(run) == [("search", {"query": "author"}, "Herbert.")]

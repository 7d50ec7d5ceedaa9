"""Contents of messages that a database keeps as JSON text."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.formats.files.content_texts import with_contents
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories

ASKED = [{"type": "text", "text": "Is order 17 paid?"}]
CALL = [{"type": "tool_use", "id": "c1", "name": "look_up", "input": {"order": 17}}]
RESULT = [{"type": "tool_result", "tool_use_id": "c1", "content": "paid"}]
SAID = [{"type": "text", "text": "It is paid."}]
MESSAGES = [("user", ASKED), ("assistant", CALL), ("user", RESULT), ("assistant", SAID)]
STORED = [{"role": role, "content": json.dumps(blocks)} for role, blocks in MESSAGES]


@pytest.mark.parametrize("records", [[{"task_id": "t-1", "messages": STORED}], STORED, [STORED]])
def test_contents_may_be_kept_as_text(tmp_path: Path, records: list[Any]) -> None:
    path = written(tmp_path, *records)
    (run,) = trajectories(path)
    assert (run.task, run.final_answer) == ("Is order 17 paid?", "It is paid.")
    assert calls_of(run) == [("look_up", {"order": 17}, "paid")]
    assert summary_of(path).trust == "complete"


def test_plain_texts_may_stand_beside_them(tmp_path: Path) -> None:
    (run,) = trajectories(written(tmp_path, {"messages": [{"role": "user", "content": "Is it paid?"}, *STORED[1:]]}))
    assert (run.task, run.final_answer, len(run.calls)) == ("Is it paid?", "It is paid.", 1)


@pytest.mark.parametrize(
    "content",
    [
        "[1, 2]",
        "[]",
        '["a"]',
        '[{"type": "text"}]',
        '[{"type": "circle", "text": "a"}]',
        '[{"type": ["text"], "text": "a"}]',
        '[{"type": "text", "text": "a"}',
        '[{"type": "text", "text": "a"}] is a block',
    ],
)
def test_other_texts_are_what_was_said(content: str) -> None:
    message = {"role": "user", "content": content}
    assert with_contents(message) is message


def test_one_text_that_only_looks_so_keeps_all_as_they_are() -> None:
    messages = [{"role": "user", "content": '[{"type": "circle", "text": "a"}]'}, STORED[3]]
    assert with_contents(messages) is messages


def test_what_a_tool_returned_stays_as_it_is() -> None:
    message = {"role": "tool", "tool_call_id": "c1", "content": json.dumps(SAID)}
    assert with_contents({"messages": [message]}) == {"messages": [message]}

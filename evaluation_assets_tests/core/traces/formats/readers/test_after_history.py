"""Exchanges that stand beside the history that the agent was given with them."""

from pathlib import Path

import pytest

from evaluation_assets.core.traces.trajectories.model import JsonObject
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import trajectories

EARLIER = [{"role": "user", "content": "Is order 7 paid?"}, {"role": "assistant", "content": "It is."}]


@pytest.mark.parametrize("history", ["chat_history", "conversationHistory", "history", "previous_messages"])
@pytest.mark.parametrize(("asked", "answered"), [("user_query", "response"), ("message", "reply"), ("input", "output")])
def test_what_is_asked_after_a_history_is_its_last_turn(
    tmp_path: Path, history: str, asked: str, answered: str
) -> None:
    path = written(tmp_path, {history: EARLIER, asked: "And order 8?", answered: "Order 8 is open."})
    (run,) = trajectories(path)
    assert [turn.user_message for turn in run.turns] == ["Is order 7 paid?", "And order 8?"]
    assert "Order 8 is open." in run.text
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize(
    "record",
    [
        {"chat_history": EARLIER, "question": "Is order 7 paid?", "response": "It is."},
        {"chat_history": EARLIER, "question": "Is order 7 paid?", "response": "Yes: it is paid."},
        {"chat_history": EARLIER, "question": "Is it paid?", "response": "It is."},
        {"chat_history": EARLIER, "question": "And order 8?"},
        {"chat_log": EARLIER, "question": "And order 8?", "response": "Order 8 is open."},
    ],
)
def test_a_history_may_be_the_whole_run(tmp_path: Path, record: JsonObject) -> None:
    (run,) = trajectories(written(tmp_path, record))
    assert len(run.turns) == 1

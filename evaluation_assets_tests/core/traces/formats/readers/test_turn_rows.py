"""Tables with a row for each turn of a conversation, and turns with the steps of the agent in them."""

from pathlib import Path

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import UnreadableDrop
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import JsonObject
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories

CALL = {"name": "look_up", "args": {"order": 17}, "result": "paid"}
ROWS: list[JsonObject] = [
    {"conversation_id": "a", "turn_id": 1, "input": "And 18?", "output": "It is open.", "tool_calls": "[]"},
    {
        "conversation_id": "a", "turn_id": 0, "input": "Is order 17 paid?", "output": "It is paid.",
        "tool_calls": orjson.dumps([CALL]).decode(),
    },
    {"conversation_id": "b", "turn_id": 0, "input": "Hello?", "output": "Hello.", "tool_calls": "[]"},
]  # fmt: skip
OTHER_NAMES = [
    {"conversation_id": "session_id", "turn_id": "turn", "input": "user_message", "output": "assistant_message"},
    {"conversation_id": "conversationId", "turn_id": "turnIndex", "input": "question", "output": "answer"},
    {"conversation_id": "run_id", "turn_id": "turn_number", "input": "prompt", "output": "completion"},
]


@pytest.mark.parametrize("names", [{}, *OTHER_NAMES])
def test_rows_are_turns_of_their_conversation_in_the_order_of_their_numbers(
    tmp_path: Path, names: dict[str, str]
) -> None:
    path = written(tmp_path, *({names.get(key, key): value for key, value in row.items()} for row in ROWS))
    first, second = trajectories(path)
    assert [turn.user_message for turn in first.turns] == ["Is order 17 paid?", "And 18?"]
    assert [turn.interactions[-1].response for turn in first.turns] == ["It is paid.", "It is open."]
    assert calls_of(first) == [("look_up", {"order": 17}, "paid")]
    assert (second.task, second.final_answer) == ("Hello?", "Hello.")
    assert summary_of(path).trust == "complete"


def test_a_turn_that_was_not_answered_is_one_and_the_name_of_a_user_is_not_what_was_asked(tmp_path: Path) -> None:
    rows = [{**row, "user": "u-42", "agent": "desk", "latency": number} for number, row in enumerate(ROWS[:2])]
    rows[0] |= {"output": None}
    unmapped = UnmappedFields()
    (run,) = trajectories(written(tmp_path, *rows), unmapped=unmapped)
    assert [turn.user_message for turn in run.turns] == ["Is order 17 paid?", "And 18?"]
    assert [bool(turn.interactions) for turn in run.turns] == [True, False]
    assert unmapped.counts["turns[].latency"] == 1


def test_requests_to_a_model_and_cases_of_an_evaluation_are_no_turns(tmp_path: Path) -> None:
    request = {"session_id": "a", "prompt": "You are a clerk. Is it paid?", "response": "Thought: I look."}
    with pytest.raises(UnreadableDrop):
        trajectories(written(tmp_path, request, request))
    case = {"run_id": "a", "output": "4", "expected": "4"}
    runs = trajectories(written(tmp_path, {**case, "input": "2 + 2"}, {**case, "input": "3 + 1"}))
    assert [(run.task, run.final_answer) for run in runs] == [("2 + 2", "4"), ("3 + 1", "4")]


def test_what_an_agent_did_in_a_turn_is_between_question_and_answer(tmp_path: Path) -> None:
    steps = [{"type": "tool", "tool": "look_up", "args": {"order": 17}, "result": "paid"}]
    turns = [
        {"turn": 1, "user": "Is order 17 paid?", "steps": steps, "assistant": "It is paid."},
        {"turn": 2, "user": "Thanks.", "steps": [], "assistant": "Bye."},
    ]
    path = written(tmp_path, {"session_id": "s", "turns": turns})
    (run,) = trajectories(path)
    assert calls_of(run) == [("look_up", {"order": 17}, "paid")]
    assert [turn.interactions[-1].response for turn in run.turns] == ["It is paid.", "Bye."]
    assert summary_of(path).trust == "complete"

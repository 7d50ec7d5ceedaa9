"""Messages that are each a line or a row of their own, with the run of each under many names."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories

ANSWERS = ("It is paid.", "It is open.")
TWO = [(answer, 1) for answer in ANSWERS]


def rows_of(name: str, ids: Sequence[Any]) -> list[dict[str, Any]]:
    """Rows of two conversations, each with a call."""
    function = {"name": "look_up", "arguments": "{}"}
    return [
        {name: one, **message}
        for one, answer in zip(ids, ANSWERS, strict=True)
        for message in (
            {"role": "user", "content": "How is it?"},
            {"role": "assistant", "tool_calls": [{"id": f"of {answer}", "function": function}]},
            {"role": "tool", "tool_call_id": f"of {answer}", "content": "found"},
            {"role": "assistant", "content": answer},
        )
    ]


def answers(path: Path) -> list[tuple[str | None, int]]:
    return [(run.final_answer, len(calls_of(run))) for run in trajectories(path)]


@pytest.mark.parametrize("name", ["ticket_id", "caseNumber", "CallSid", "room_id", "traj_id", "conv", "INTERACTION_ID"])
def test_the_run_of_a_row_is_named_by_the_words_for_one(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, *rows_of(name, ("a", "b")))
    assert answers(path) == TWO
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize("holder", ["metadata", "context"])
def test_the_conversation_of_a_row_may_stand_in_an_object(tmp_path: Path, holder: str) -> None:
    rows = [{holder: {"session_id": row.pop("id_")}, **row} for row in rows_of("id_", ("a", "b"))]
    assert answers(written(tmp_path, *rows)) == TWO
    assert answers(written(tmp_path, *({"message": row, holder: row.pop(holder)} for row in rows))) == TWO


def test_a_number_and_its_digits_name_two_runs(tmp_path: Path) -> None:
    assert answers(written(tmp_path, *rows_of("run_id", (1, "1")))) == TWO


@pytest.mark.parametrize("name", ["ticket_id", "session_id", "call_id"])
def test_an_id_that_no_other_row_has_is_that_of_the_message(tmp_path: Path, name: str) -> None:
    rows = [{**row, name: f"id {number}"} for number, row in enumerate(rows_of("n", (1, 2))[:4])]
    assert answers(written(tmp_path, *rows)) == TWO[:1]


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda rows: {"messages": rows},
        lambda rows: {"users": [{"id": 1}], "messages": rows},
        lambda rows: [{"json_agg": rows}],
        lambda rows: {"type": "table", "name": "messages", "data": rows},
    ],
)
def test_rows_of_several_conversations_in_one_list_are_several_runs(
    tmp_path: Path, wrapped: Callable[[Any], Any]
) -> None:
    path = tmp_path / "dump.json"
    path.write_text(json.dumps(wrapped(rows_of("conversation_id", ("a", "b")))))
    assert answers(path) == TWO


def test_rows_that_a_field_of_any_name_divides_into_conversations_are_doubted(tmp_path: Path) -> None:
    path = written(tmp_path, *rows_of("guid", ("a", "b")))
    assert len(answers(path)) == 1
    assert summary_of(path).trust == "doubtful"
    turns = [{**row, "turn_id": number // 4} for number, row in enumerate(rows_of("n", (1, 1)))]
    assert summary_of(written(tmp_path, *turns)).trust == "complete"
    named = [{"session_id": "a", **row} for row in rows_of("trace_id", ("a", "b"))]
    assert summary_of(written(tmp_path, *named)).trust == "complete"


def test_an_outcome_that_only_the_last_step_has_is_that_of_the_run(tmp_path: Path) -> None:
    step = {"task": "Is it paid?", "tool": "look_up", "args": {"order": 17}, "result": "paid"}
    rows = [
        {"run_id": run, "step": number, **step, "success": outcome if number == 2 else None}
        for run, outcome in (("a", True), ("b", False))
        for number in (1, 2)
    ]
    assert [run.success for run in trajectories(written(tmp_path, *rows))] == [True, False]
    rows = [{**row, "success": row["step"] == 1} for row in rows]
    assert [run.success for run in trajectories(written(tmp_path, *rows))] == [None, None]


def test_states_of_a_run_that_grows_are_one_run(tmp_path: Path) -> None:
    chats = [[{**row, "n": None} for row in rows_of("n", (1, 2))[at : at + 4]] for at in (0, 4)]
    states = [
        {"run_id": run, "messages": chat[:end]} for run, chat in zip("ab", chats, strict=True) for end in (1, 3, 4)
    ]
    path = written(tmp_path, *states)
    assert answers(path) == TWO
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize("about", [{"success": False}, {"trial": 0}, {"task_id": "x"}, {"run_id": "b"}])
def test_a_run_that_broke_off_is_no_state_of_a_longer_one(tmp_path: Path, about: dict[str, Any]) -> None:
    chat = rows_of("n", (1, 2))[:4]
    short, whole = {"run_id": "a", "messages": chat[:3], **about}, {"run_id": "a", "messages": chat}
    assert len(answers(written(tmp_path, short, whole))) == 2


@pytest.mark.parametrize("name", ["id", "message_id", "eventId"])
def test_a_row_that_was_delivered_twice_is_read_once(tmp_path: Path, name: str) -> None:
    rows = [{name: f"m{number}", **row} for number, row in enumerate(rows_of("session_id", ("a", "b")))]
    path = written(tmp_path, *(row for row in rows for _ in range(2)))
    assert answers(path) == TWO
    assert summary_of(path).trust == "complete"
    alike = [{**row, "session_id": run} for run in ("a", "b") for row in rows[:4]]
    assert answers(written(tmp_path, *alike)) == [TWO[0], TWO[0]]
    said = [{"role": "user", "content": "Again"}, {"role": "assistant", "content": "Again"}]
    (run,) = trajectories(written(tmp_path, *({"session_id": "a", **each} for each in (*said, *said))))
    assert len(run.turns) == 2


BLOCKS = [
    {"role": "user", "content": "How is it?"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "look_up", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "found"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "It is paid."}]},
]


def test_messages_of_blocks_are_divided_and_grow_as_others(tmp_path: Path) -> None:
    rows = [{"session_id": run, **message} for run in ("a", "b") for message in BLOCKS]
    assert answers(written(tmp_path, {"users": [{"id": 1}], "messages": rows})) == [TWO[0], TWO[0]]
    states = [{"session_id": "a", "messages": BLOCKS[:end]} for end in (2, 4)]
    assert answers(written(tmp_path, *states)) == TWO[:1]


@pytest.mark.parametrize("rows", [rows_of, lambda name, ids: [{name: one, **each} for one in ids for each in BLOCKS]])
def test_what_all_rows_or_the_last_say_of_a_run_is_known(
    tmp_path: Path, rows: Callable[[str, Sequence[Any]], list[dict[str, Any]]]
) -> None:
    one, two = ([*rows("session_id", ids)[at : at + 4]] for ids, at in ((("a", "b"), 0), (("a", "b"), 4)))
    everywhere = [{**row, "task_id": "t", "trial": 3, "resolved": True} for row in one]
    at_the_end = [*two[:-1], {**two[-1], "success": False}]
    path = written(tmp_path, *everywhere, *at_the_end)
    known, ended = trajectories(path)
    assert (known.task_id, known.trial, known.success, ended.success) == ("t", 3, True, False)
    in_between = [{**row, "success": False} if number == 2 else row for number, row in enumerate(one)]
    (run,) = trajectories(written(tmp_path, *in_between))
    assert run.success is None

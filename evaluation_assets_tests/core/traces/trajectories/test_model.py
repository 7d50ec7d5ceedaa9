"""The data model of trajectories, and JSON in texts."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.lake.tables import RAW_TRAJECTORIES
from evaluation_assets.core.traces.trajectories.model import (
    Agent,
    Trajectory,
    Turn,
    Usage,
    first_json_object,
    from_json,
    json_object,
    json_objects,
    to_json,
)
from evaluation_assets.core.traces.trajectories.trajectory_rows import header_of, trajectory_of, trajectory_row
from evaluation_assets_tests.core.making import trajectory
from evaluation_assets_tests.core.stored_rows import stored

TEXT = '<think>plan</think><microsandbox>{"code": "1"}</microsandbox><result>2</result><answer>4</answer>'


def test_steps_calls_and_pieces_are_those_of_the_text() -> None:
    run = trajectory(TEXT)
    (step,) = run.calls
    assert step in list(run.steps)
    assert step.call is not None and step.result is not None
    assert run.arguments(step.call) == {"code": "1"}
    assert (run.piece(step.result.content), run.piece(None)) == ("2", "")


def test_the_texts_of_a_trajectory_are_all_that_was_said() -> None:
    run = Trajectory(
        id="t",
        task_id="t",
        format="f",
        task="the task",
        text="the text",
        turns=(Turn(interactions=(), user_message="asked", knowledge="known"), Turn(interactions=())),
        agents=(Agent(id="a", role="helper", description="helps"),),
        final_answer="4",
        reference_answer="5",
    )
    assert list(run.texts) == ["the task", "the text", "4", "5", "asked", "known", "helper", "helps"]


def test_a_trajectory_is_read_back_from_its_row(tmp_path: Path) -> None:
    run = trajectory(TEXT)
    (row,) = stored(tmp_path, RAW_TRAJECTORIES, [trajectory_row("d", run)]).rows()
    assert trajectory_of(row) == run == from_json(to_json(run), run.text)
    assert (row["drop"], row["trajectory_id"], row["n_tool_calls"], row["final_answer"]) == ("d", run.id, 1, "4")
    assert "plan" not in row["trajectory"], "the text is stored once"


def test_a_row_names_each_tool_once_in_the_order_of_first_calls() -> None:
    call = "<shop><{0}>1</{0}></shop><result>1</result>"
    text = "".join(map(call.format, ("find", "buy", "find")))
    assert trajectory_row("d", trajectory(f"{text}<answer>4</answer>"))["tools_used"] == ["find", "buy"]


def test_the_header_is_read_without_the_steps() -> None:
    run = Trajectory(
        id="t",
        task_id="t",
        format="f",
        task="",
        text="",
        turns=(),
        agents=(Agent(id="a"),),
        usage=Usage(input_tokens=3),
    )
    header = header_of(trajectory_row("d", run))
    assert (header.agents, header.usage) == (run.agents, run.usage)


def test_only_an_object_is_an_object() -> None:
    assert json_object(' {"a": 1} ') == {"a": 1}
    for text in ("", "[1]", "5", '{"a": 1} and more', "{", '{"a": NaN}'):
        assert json_object(text) is None


@given(st.text("ab {}\"'\\,:1"), st.lists(st.dictionaries(st.text(), st.integers(), min_size=1), max_size=3))
def test_objects_are_found_one_after_the_other(around: str, given: list[dict[str, int]]) -> None:
    around = around.replace("{", "")
    text = around.join(["", *map(json.dumps, given), ""])
    assert list(json_objects(text)) == given
    assert first_json_object(text) == (given[0] if given else None)


def test_empty_objects_and_broken_ones_are_passed_over() -> None:
    assert list(json_objects('{} {x} {"a": {"b": 1}} {"c": ')) == [{"a": {"b": 1}}]
    assert list(json_objects("{" * 100_000)) == []

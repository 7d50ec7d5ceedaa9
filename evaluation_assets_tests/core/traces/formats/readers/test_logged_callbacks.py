"""Starts and ends of what an agent does, each an event on a line of its own, as callbacks log them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation_assets.core.traces.trajectories.model import JsonObject
from evaluation_assets_tests.core.traces.formats.readers.summaries import calls_and_errors, summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, recorded_usage, trajectories

GIVEN = {"order": 17}


def loop(run: str, shown: JsonObject) -> Iterator[JsonObject]:
    """What a loop of one's own logs: it has what the model was given each time, too."""
    asked = {"role": "user", "content": f"Is {run} paid?"}
    used, more = {"input_tokens": 9, "output_tokens": 1}, {"input_tokens": 12, "output_tokens": 2}
    call = {"id": "c1", "name": "look_up", "arguments": GIVEN}
    events: list[JsonObject] = [
        {"type": "run_start", "input": asked["content"]},
        {"type": "llm_start", "model": "model-a", "messages": [asked]},
        {"type": "llm_end", "output": {"content": "I look.", "tool_calls": [call]}, "usage": used},
        {"type": "tool_start", "tool": "look_up", "input": GIVEN},
        {"type": "tool_end", "tool": "look_up", **shown},
        {"type": "llm_start", "model": "model-a", "messages": [asked]},
        {"type": "llm_end", "output": {"content": f"{run}: yes."}, "usage": more},
        {"type": "run_end", "output": f"{run}: yes."},
    ]  # fmt: skip
    yield from ({"run_id": run, **event} for event in events)


def test_starts_and_ends_of_requests_and_calls_are_a_run(tmp_path: Path) -> None:
    path = written(tmp_path, *loop("a", {"output": "paid"}), *loop("b", {"error": "down"}))
    one, two = trajectories(path)
    assert (one.task, calls_of(one), one.final_answer) == (
        "Is a paid?", [("look_up", GIVEN, "paid")], "a: yes.",
    )  # fmt: skip
    assert (two.final_answer, [error for _, error in calls_and_errors(two)]) == ("b: yes.", ["down"])
    used = recorded_usage(one)
    assert used is not None and (used.input_tokens, used.output_tokens) == (21, 3)
    assert summary_of(path).trust == "complete"


def chain(run: str) -> list[JsonObject]:
    """What callbacks of LangChain log: each chain and tool is a run of its own, with its parent."""
    inner, tool = f"{run} inner", f"{run} tool"
    return [
        {"event": "on_chain_start", "run_id": run, "parent_run_id": None, "inputs": {"input": f"Is {run} paid?"}},
        {"event": "on_chain_start", "run_id": inner, "parent_run_id": run, "inputs": {"input": "x"}},
        {"event": "on_tool_start", "run_id": tool, "parent_run_id": inner, "name": "look_up", "input_str": "17"},
        {"event": "on_tool_end", "run_id": tool, "parent_run_id": inner, "output": "paid"},
        {"event": "on_chain_end", "run_id": inner, "parent_run_id": run, "outputs": {"output": "a step"}},
        {"event": "on_chain_end", "run_id": run, "parent_run_id": None, "outputs": {"output": "Yes."}},
    ]


def test_callbacks_of_what_a_run_began_belong_to_it(tmp_path: Path) -> None:
    in_turn = [event for pair in zip(chain("a"), chain("b"), strict=True) for event in pair]
    path = written(tmp_path, *in_turn)
    assert [(run.task, calls_of(run), run.final_answer) for run in trajectories(path)] == [
        (f"Is {name} paid?", [("look_up", {"arguments": "17"}, "paid")], "Yes.") for name in ("a", "b")
    ]
    assert summary_of(path).trust == "complete"


@pytest.mark.parametrize("ends", ["on_llm_end", "llm.call.finished", "ModelCallEnd", "model_response"])
def test_what_was_asked_and_answered_may_stand_in_an_object(tmp_path: Path, ends: str) -> None:
    events = [{**event, "type": ends} if event["type"] == "llm_end" else event for event in loop("a", {"output": "x"})]
    names = ("run_id", "type")
    wrapped = [
        {**{name: event[name] for name in names}, "data": {key: event[key] for key in event if key not in names}}
        for event in events
    ]
    path = written(tmp_path, *wrapped)
    (run,) = trajectories(path)
    assert (run.task, run.final_answer, "I look." in run.text) == ("Is a paid?", "a: yes.", True)
    used = recorded_usage(run)
    assert used is not None and (used.input_tokens, used.output_tokens) == (21, 3)
    assert summary_of(path).trust == "complete"

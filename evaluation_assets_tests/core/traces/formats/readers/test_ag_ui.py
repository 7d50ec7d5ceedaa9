"""Event streams of AG-UI, by the events of `@ag-ui/core`."""

from pathlib import Path
from typing import Any

import orjson

from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.test_import_report import summary_of
from evaluation_assets_tests.images import png

FIXTURE = FIXTURES / "ag_ui" / "thread.jsonl"
EVENTS: list[dict[str, Any]] = [orjson.loads(line) for line in FIXTURE.read_bytes().splitlines()]
STARTED, FINISHED = EVENTS[0], next(event for event in EVENTS if event["type"] == "RUN_FINISHED")
(SNAPSHOT,) = (event for event in EVENTS if event["type"] == "MESSAGES_SNAPSHOT")


def read(folder: Path, *events: dict[str, Any]) -> Trajectory:
    (folder / "t.jsonl").write_bytes(b"".join(orjson.dumps(event) + b"\n" for event in events))
    (run,) = trajectories(folder / "t.jsonl")
    check(run)
    return run


def test_the_runs_of_a_thread_are_one_conversation_with_results_by_their_ids() -> None:
    (run,) = trajectories(FIXTURE)
    check(run)
    assert [turn.user_message for turn in run.turns] == ["Is room A free at noon?", "And rooms B and C?"]
    assert calls_of(run) == [
        ("room_slots", {"room": "A"}, "noon is free"),
        ("room_slots", {"room": "B"}, "Error: no such room"),
        ("room_slots", {"room": "C"}, "nothing is free"),
    ]
    assert [step.result.error for step in run.calls if step.result] == [None, "Error: no such room", None]
    first = run.calls[0]
    assert (run.piece(first.thought), run.piece(first.message)) == ("The slots tell.", "I look.")
    assert summary_of(FIXTURE).sentence == "complete"


def test_prompt_tools_and_the_error_of_the_last_run_are_read() -> None:
    (run,) = trajectories(FIXTURE)
    (agent,) = run.agents
    assert (run.id, agent.description) == ("t-1", "You are a desk.")
    assert [tool.name for tool in agent.tools or ()] == ["room_slots"]
    assert (run.flags, run.extra["error"]) == (("failed",), "The model is overloaded.")


def test_what_the_user_said_is_taken_from_a_snapshot(tmp_path: Path) -> None:
    streamed = EVENTS[1 : EVENTS.index(FINISHED)]
    run = read(tmp_path, {"type": "RUN_STARTED", "threadId": "t-1", "runId": "r-1"}, *streamed, FINISHED)
    assert (run.task, run.final_answer, len(run.calls)) == ("Is room A free at noon?", "Yes, it is.", 1)


def test_a_snapshot_alone_has_the_whole_run(tmp_path: Path) -> None:
    run = read(tmp_path, {"type": "RUN_STARTED", "threadId": "t-1", "runId": "r-1"}, SNAPSHOT, FINISHED)
    assert (run.task, run.final_answer) == ("Is room A free at noon?", "Yes, it is.")
    assert calls_of(run) == [("room_slots", {"room": "A"}, "noon is free")]
    assert run.agents[0].description == "You are a desk."


def test_images_and_reasoning_of_a_snapshot_are_read(tmp_path: Path) -> None:
    data = png()
    image = {"type": "image", "source": {"type": "data", "value": data, "mimeType": "image/png"}}
    binary = {"type": "binary", "mimeType": "image/png", "data": data}
    user = {"id": "m1", "role": "user", "content": [{"type": "text", "text": "What is it?"}, image, binary]}
    thought = {"id": "m2", "role": "reasoning", "content": "I look."}
    said = {"id": "m3", "role": "assistant", "content": "A dot."}
    snapshot = {"type": "MESSAGES_SNAPSHOT", "messages": [user, thought, said]}
    run = read(tmp_path, {"type": "RUN_STARTED", "threadId": "t-1", "runId": "r-1"}, snapshot, FINISHED)
    assert run.task.count("[image: image/png") == 2
    assert [run.piece(step.thought) for step in run.steps if step.thought] == ["I look."]


def test_a_snapshot_after_an_error_repeats_what_was_said_before_it(tmp_path: Path) -> None:
    started = {"type": "RUN_STARTED", "threadId": "t-1", "runId": "r-1"}
    run = read(tmp_path, started, {"type": "RUN_ERROR", "message": "overloaded"}, SNAPSHOT, FINISHED)
    assert (run.extra["error"], len(run.calls)) == ("overloaded", 1)


def test_threads_of_one_file_are_trajectories_of_their_own(tmp_path: Path) -> None:
    other = {**STARTED, "threadId": "t-2"}
    said = {"type": "TEXT_MESSAGE_CHUNK", "messageId": "n1", "delta": "Yes."}
    (tmp_path / "t.jsonl").write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in (*EVENTS, other, said)))
    assert [run.id for run in trajectories(tmp_path / "t.jsonl")] == ["t-1", "t-2"]

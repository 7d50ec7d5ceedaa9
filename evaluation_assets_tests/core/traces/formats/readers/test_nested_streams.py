"""Logs of coding agents inside records of an own form."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.trajectories.model import JsonObject
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories

RAN = {"id": "i1", "type": "command_execution", "command": "grep 17 orders.txt", "aggregated_output": "17 paid"}
CODEX: list[JsonObject] = [
    {"type": "thread.started", "thread_id": "thread-1"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {**RAN, "exit_code": 0, "status": "completed"}},
    {"type": "item.completed", "item": {"id": "i2", "type": "agent_message", "text": "Order 17 is paid."}},
    {"type": "turn.completed", "usage": {"input_tokens": 50, "cached_input_tokens": 0, "output_tokens": 9}},
]
_CALL = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "grep 17 orders.txt"}}
_TOLD = {"type": "tool_result", "tool_use_id": "c1", "content": "17 paid"}


def _said(name: str, *content: JsonObject) -> JsonObject:
    used = {"input_tokens": 25, "output_tokens": 4}
    message = {"id": name, "type": "message", "role": "assistant", "model": "model-a", "content": list(content)}
    return {"type": "assistant", "message": {**message, "usage": used}, "session_id": "thread-1"}


CLAUDE: list[JsonObject] = [
    {"type": "system", "subtype": "init", "session_id": "thread-1", "tools": ["Bash"], "model": "model-a", "cwd": "/"},
    _said("m1", _CALL),
    {"type": "user", "message": {"role": "user", "content": [_TOLD]}, "session_id": "thread-1"},
    _said("m2", {"type": "text", "text": "Order 17 is paid."}),
]
LOGS = pytest.mark.parametrize(("kind", "events"), [("codex", CODEX), ("claude_code", CLAUDE)])


def as_text(events: list[JsonObject]) -> str:
    return "".join(orjson.dumps(event).decode() + "\n" for event in events)


@LOGS
@pytest.mark.parametrize("name", ["events", "log", "stdout"])
def test_a_record_has_a_log_and_what_is_known_of_its_run(
    tmp_path: Path, kind: str, events: list[JsonObject], name: str
) -> None:
    given: Any = as_text(events) if name == "stdout" else events
    path = written(tmp_path, {"task_id": "order-17", "prompt": "Is order 17 paid?", "passed": True, name: given})
    (run,) = trajectories(path)
    assert (run.format, run.id, run.task_id) == (kind, "thread-1", "order-17")
    assert (run.task, run.final_answer, run.success) == ("Is order 17 paid?", "Order 17 is paid.", True)
    assert [result for _, _, result in calls_of(run)] == ["17 paid"]
    assert (run.usage and run.usage.input_tokens, summary_of(path).trust) == (50, "complete")


@LOGS
def test_each_event_may_stand_in_a_record(tmp_path: Path, kind: str, events: list[JsonObject]) -> None:
    wrapped = [{"at": number, "source": "agent", "event": event} for number, event in enumerate(events)]
    texts = [{"Stdout": orjson.dumps(event).decode()} for event in events]
    for path in (written(tmp_path, *wrapped), written(tmp_path, {"runs": [{"events": wrapped}]})):
        (run,) = trajectories(path)
        assert (run.format, [result for _, _, result in calls_of(run)]) == (kind, ["17 paid"])
        assert summary_of(path).trust == "complete"
    (run,) = trajectories(written(tmp_path, *texts, {"SessionId": "x"}))
    assert [result for _, _, result in calls_of(run)] == ["17 paid"]


def test_logs_of_several_tasks_are_runs_of_their_own(tmp_path: Path) -> None:
    results = [
        {
            "task_id": f"order-{number}",
            "success": number == 17,
            "events": [{**CODEX[0], "thread_id": number}, *CODEX[1:]],
        }
        for number in ("17", "18")
    ]
    results = [{**each, "success": each["task_id"] == "order-17"} for each in results]
    runs = trajectories(written(tmp_path, {"model": "model-a", "results": results}))
    assert [(run.task_id, run.success, len(run.calls)) for run in runs] == [
        ("order-17", True, 1), ("order-18", False, 1),
    ]  # fmt: skip


def test_lines_among_which_few_are_events_are_no_log(tmp_path: Path) -> None:
    text = as_text(CODEX[:2]) + "building\n" * 5
    path = written(tmp_path, {"task_id": "order-17", "stdout": text, "answer": "paid"})
    with pytest.raises(Exception, match="in no supported format"):
        trajectories(path)

"""Sessions of Kiro CLI 2, and the conversations that `/chat save` writes."""

from pathlib import Path
from typing import Any

import orjson

from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.test_import_report import summary_of

FIXTURE = FIXTURES / "kiro"


def test_calls_have_their_results_and_exit_codes() -> None:
    (run,) = trajectories(FIXTURE)
    check(run)
    assert calls_of(run) == [
        ("fs_read", {"path": "totals.py", "__tool_use_purpose": "Look"}, "total = price"),
        ("shell", {"command": "pytest -q", "__tool_use_purpose": "Look"}, "1 failed"),
    ]
    assert [step.result.error for step in run.calls if step.result] == [None, "exit code 1"]
    assert run.piece(run.calls[0].thought) == "I have to see the file first."
    assert summary_of(FIXTURE).trust == "complete"


def test_a_session_has_the_id_folder_and_model_that_stand_beside_it() -> None:
    (run,) = trajectories(FIXTURE)
    assert (run.id, run.extra["cwd"], [agent.model for agent in run.agents]) == ("s1", "/shop", ["model-a"])
    assert (run.started_at, run.duration_s) == ("2026-06-04T22:38:37+00:00", 60.0)
    assert [turn.user_message for turn in run.turns] == ["The totals are wrong. Fix them.", "Thanks, now the docs."]


def entry(content: dict[str, Any], **assistant: Any) -> dict[str, Any]:
    return {"user": {"additional_context": "", "content": content, "timestamp": None}, "assistant": assistant}


def test_a_saved_conversation_is_read_request_by_request(tmp_path: Path) -> None:
    use = {"id": "t1", "name": "execute_bash", "orig_name": "execute_bash", "args": {"command": "pytest -q"}}
    output = {"Json": {"exit_status": "exit status: 1", "stdout": "1 failed", "stderr": ""}}
    results = [{"tool_use_id": "t1", "content": [output], "status": "Success"}]
    history = [
        entry({"Prompt": {"prompt": "Fix it."}}, ToolUse={"message_id": "m", "content": "", "tool_uses": [use]}),
        entry({"ToolUseResults": {"tool_use_results": results}}, Response={"message_id": "n", "content": "Fixed."}),
    ]
    (tmp_path / "saved.json").write_bytes(orjson.dumps({"conversation_id": "c1", "history": history, "tools": {}}))
    (run,) = trajectories(tmp_path / "saved.json")
    assert (run.id, run.task, run.final_answer) == ("c1", "Fix it.", "Fixed.")
    assert calls_of(run) == [("execute_bash", {"command": "pytest -q"}, "1 failed")]
    assert [step.result.error for step in run.calls if step.result] == ["exit code 1"]

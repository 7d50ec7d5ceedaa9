"""What the client and hooks say in `claude -p --output-format stream-json`, which has no line for the prompt."""

from pathlib import Path
from typing import Any

import orjson

from evaluation_assets_tests.core.traces.formats.reading import trajectories
from evaluation_assets_tests.core.traces.formats.test_import_report import summary_of


def replied(text: str, number: int) -> dict[str, Any]:
    used = {"input_tokens": 10, "output_tokens": 2}
    message = {"id": f"m-{number}", "role": "assistant", "model": "m", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "uuid": f"a-{number}", "session_id": "s", "message": {**message, "usage": used}}


def hinted(text: str) -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return {"type": "user", "uuid": text, "session_id": "s", "message": message, "isSynthetic": True}


def stream(path: Path, *lines: dict[str, Any], turns: int) -> Path:
    init = {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": ["Bash"]}
    ended = {"type": "result", "subtype": "success", "session_id": "s", "num_turns": turns, "result": "Tests pass."}
    path.write_bytes(b"\n".join(map(orjson.dumps, (init, *lines, ended))))
    return path


def test_a_hint_of_a_hook_is_no_turn_of_the_user(tmp_path: Path) -> None:
    lines = (replied("Done.", 1), hinted("Stop hook feedback:\nRun the tests"), replied("Tests pass.", 2))
    path = stream(tmp_path / "stream.jsonl", *lines, turns=2)
    (run,) = trajectories(path)
    assert [turn.user_message for turn in run.turns] == [None]
    assert (run.task, run.final_answer) == ("", "Tests pass.")
    assert summary_of(path).trust == "complete"


def test_the_first_line_of_a_stream_may_be_a_hint(tmp_path: Path) -> None:
    path = stream(tmp_path / "stream.jsonl", hinted("This session is being continued."), replied("Done.", 1), turns=1)
    (run,) = trajectories(path)
    assert run.task == ""


def test_turns_that_a_stream_counts_with_hints_are_complete(tmp_path: Path) -> None:
    hints = (hinted("One"), hinted("Two"))
    assert summary_of(stream(tmp_path / "s.jsonl", *hints, replied("Done.", 1), turns=3)).trust == "complete"
    assert summary_of(stream(tmp_path / "t.jsonl", *hints, replied("Done.", 1), turns=4)).trust == "partial"

"""Chat messages that another program wrote among the lines of a session."""

from pathlib import Path

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, read

SESSIONS = (
    "antigravity/transcript_full", "copilot_cli/events", "cursor/stream", "droid/session", "gemini_cli/stream",
    "gemini_cli/session-2026-03-01T10-00-s1", "grok/chat_history", "kimi_code/wire", "kimi_code/cli_wire", "kiro/s1",
    "managed_agents/events", "pi/session",
)  # fmt: skip


def with_line(folder: Path, name: str, line: object) -> Path:
    lines = (FIXTURES / f"{name}.jsonl").read_bytes().splitlines()
    path = folder / "session.jsonl"
    path.write_bytes(b"\n".join([*lines[:2], orjson.dumps(line), *lines[2:]]))
    return path


@pytest.mark.parametrize("name", SESSIONS)
def test_what_a_foreign_message_says_is_rejected(tmp_path: Path, name: str) -> None:
    path = with_line(tmp_path, name, {"role": "user", "content": "And book a flight."})
    (rejection,) = [item for item in read(path) if isinstance(item, Rejection)]
    assert (rejection.line, rejection.reason) == (3, "wrong_type")
    assert summary_of(path).trust != "complete"


@pytest.mark.parametrize("name", SESSIONS)
def test_the_call_of_a_foreign_message_is_a_run_of_its_own(tmp_path: Path, name: str) -> None:
    call = {"id": "1", "function": {"name": "book_flight", "arguments": "{}"}}
    path = with_line(tmp_path, name, {"role": "assistant", "content": None, "tool_calls": [call]})
    assert [item.format for item in read(path) if not isinstance(item, Rejection)] == [
        name.partition("/")[0],
        "openai_messages",
    ]


def test_messages_are_no_foreign_ones_where_the_log_has_its_own(tmp_path: Path) -> None:
    path = with_line(tmp_path, "kimi_code/context", {"role": "user", "content": "And book a flight."})
    items = read(path)
    assert not any(isinstance(item, Rejection) for item in items)

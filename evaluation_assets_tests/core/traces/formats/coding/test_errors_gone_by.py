"""An error of a provider ends a run only if the agent did not go on: after a retry, or when the user asked again."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets_tests.core.traces.formats.reading import trajectories

Line = dict[str, Any]


def _copilot(kind: str, second: int, **data: Any) -> Line:
    about = {"id": f"e{second}", "parentId": None, "timestamp": f"2026-01-02T10:00:{second:02}Z"}
    return {"type": kind, **about, "data": data}


def _managed(kind: str, second: int, **more: Any) -> Line:
    return {"type": kind, "id": f"e{second}", "processed_at": f"2026-01-02T10:00:{second:02}Z", **more}


def _openhands(kind: str, second: int, **more: Any) -> Line:
    return {"kind": kind, "id": f"e{second}", "timestamp": f"2026-01-02T10:00:{second:02}", **more}


def _spoken(role: str, text: str) -> Line:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def _codex(text: str) -> Line:
    return {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": text}}


def _rollout(second: int, kind: str, **payload: Any) -> Line:
    return {"timestamp": f"2026-01-02T10:00:{second:02}Z", "type": kind, "payload": payload}


def _rollout_message(second: int, text: str) -> Line:
    content = [{"type": "output_text", "text": text}]
    return _rollout(second, "response_item", type="message", role="assistant", content=content)


TEXT = [{"type": "text", "text": "Fixed."}]
RUNS: dict[str, tuple[list[Line], Line, Line]] = {
    "copilot_cli": (
        [
            _copilot("session.start", 0, sessionId="s", version=1, producer="copilot-agent", copilotVersion="1"),
            _copilot("user.message", 1, content="Fix it."),
            _copilot("assistant.message", 2, messageId="m1", content="I look.", toolRequests=[]),
        ],
        _copilot("session.error", 3, errorType="rate_limit", message="overloaded"),
        _copilot("assistant.message", 4, messageId="m2", content="Fixed.", toolRequests=[]),
    ),
    "managed_agents": (
        [
            _managed("user.message", 0, content=[{"type": "text", "text": "Fix it."}]),
            _managed("agent.message", 1, content=[{"type": "text", "text": "I look."}]),
        ],
        _managed("session.error", 2, error={"message": "overloaded", "retry_status": {"type": "retrying"}}),
        _managed("agent.message", 3, content=TEXT),
    ),
    "openhands_sdk": (
        [
            _openhands(
                "SystemPromptEvent", 0, source="agent", system_prompt={"type": "text", "text": "You."}, tools=[]
            ),
            _openhands("MessageEvent", 1, source="user", llm_message=_spoken("user", "Fix it.")),
            _openhands("MessageEvent", 2, source="agent", llm_message=_spoken("assistant", "I look.")),
        ],
        _openhands("ConversationErrorEvent", 3, source="environment", code="LLMError", detail="overloaded"),
        _openhands("MessageEvent", 4, source="agent", llm_message=_spoken("assistant", "Fixed.")),
    ),
    "droid": (
        [
            {"type": "message", "role": "user", "text": "Fix it.", "session_id": "s", "timestamp": 1767348000000},
            {"type": "tool_call", "toolName": "Read", "parameters": {"path": "a.py"}, "id": "c1", "session_id": "s"},
            {"type": "tool_result", "toolId": "Read", "value": "x = 1", "id": "c1", "session_id": "s"},
        ],
        {"type": "error", "message": "overloaded", "session_id": "s", "timestamp": 1767348002000},
        {"type": "message", "role": "assistant", "text": "Fixed.", "session_id": "s", "timestamp": 1767348003000},
    ),
    "droid without a call": (
        [
            {
                "type": "message",
                "role": "user",
                "id": "m1",
                "text": "Fix it.",
                "session_id": "s",
                "timestamp": 1767348000000,
            },
            {
                "type": "message",
                "role": "assistant",
                "id": "m2",
                "text": "I look.",
                "session_id": "s",
                "timestamp": 1767348001000,
            },
        ],
        {"type": "error", "source": "agent_loop", "message": "overloaded", "session_id": "s"},
        {"type": "tool_call", "toolName": "Read", "parameters": {"path": "a.py"}, "id": "c1", "session_id": "s"},
    ),
    "goose": (
        [
            {"type": "message", "message": _spoken("user", "Fix it.")},
            {
                "type": "message",
                "message": {
                    "role": "assistant",
                    "content": [{"type": "toolRequest", "id": "c1", "toolCall": {"value": {"name": "look"}}}],
                },
            },
        ],
        {"type": "error", "error": "overloaded"},
        {"type": "message", "message": _spoken("assistant", "Fixed.")},
    ),
    "codex stream": (
        [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}, _codex("I look.")],
        {"type": "error", "message": "overloaded"},
        _codex("Fixed."),
    ),
    "codex turn": (
        [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}, _codex("Fixed.")],
        {"type": "error", "message": "overloaded"},
        {"type": "turn.completed", "usage": {"input_tokens": 9, "cached_input_tokens": 0, "output_tokens": 2}},
    ),
    "codex rollout": (
        [
            _rollout(0, "session_meta", id="t", cwd="/app", originator="codex_exec", cli_version="0.99.0"),
            _rollout_message(1, "I look."),
        ],
        _rollout(2, "event_msg", type="error", message="overloaded"),
        _rollout_message(3, "Fixed."),
    ),
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("goes_on", [True, False])
def test_an_error_is_the_end_only_if_the_agent_did_not_go_on(tmp_path: Path, name: str, goes_on: bool) -> None:
    before, error, after = RUNS[name]
    lines = [*before, error, *([after] if goes_on else [])]
    (tmp_path / "run.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    (run,) = trajectories(tmp_path / "run.jsonl")
    assert run.format == name.split()[0]
    assert (run.extra.get("error"), "failed" in run.flags) == ((None, False) if goes_on else ("overloaded", True))

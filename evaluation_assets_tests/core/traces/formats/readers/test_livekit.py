"""Chat contexts of LiveKit agents, by `ChatContext.to_dict`."""

from pathlib import Path
from typing import Any

from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, check, trajectories

ITEMS: list[dict[str, Any]] = [
    {"id": "i1", "type": "message", "role": "user", "content": ["Is order 17 paid?"], "interrupted": False},
    {"id": "i2", "type": "agent_config_update", "instructions": "Be kind."},
    {"id": "i3", "type": "function_call", "call_id": "c1", "name": "look_up", "arguments": '{"order": 17}'},
    {"id": "i4", "type": "function_call_output", "call_id": "c1", "output": "It is down.", "is_error": True},
    {"id": "i5", "type": "agent_handoff", "old_agent_id": "desk", "new_agent_id": "clerk"},
    {"id": "i6", "type": "message", "role": "assistant", "content": ["I do not know."], "interrupted": True},
]


def test_a_chat_context_alone_has_its_hand_offs(tmp_path: Path) -> None:
    path = written(tmp_path, {"items": ITEMS})
    (run,) = trajectories(path)
    check(run)
    assert (run.format, run.final_answer) == ("livekit", "I do not know.")
    assert calls_of(run) == [("look_up", {"order": 17}, "It is down.")]
    assert [step.result and step.result.error for step in run.calls] == ["It is down."]
    assert [one.agent_id for turn in run.turns for one in turn.interactions] == ["agent", "clerk"]
    assert summary_of(path).trust == "complete"

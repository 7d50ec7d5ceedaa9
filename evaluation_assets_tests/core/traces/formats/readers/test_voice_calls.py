"""Calls of voice agents: Vapi, Retell AI, ElevenLabs."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.trajectories.model import Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, recorded_usage, trajectories


def test_the_models_of_a_squad_are_in_the_list_of_costs(tmp_path: Path) -> None:
    report = orjson.loads((FIXTURES / "vapi" / "report.json").read_bytes())
    del report["message"]["costBreakdown"]

    def cost(kind: str, amount: float, **more: Any) -> dict[str, Any]:
        return {"type": kind, "cost": amount, **more}

    report["message"]["costs"] = [
        cost("voice", 0.05, characters=100),
        cost("model", 0.25, promptTokens=900, completionTokens=40, cachedPromptTokens=100),
        cost("model", 0.5, promptTokens=300, completionTokens=10),
        cost("analysis", 0.005, promptTokens=500, completionTokens=30),
    ]
    (run,) = trajectories(written(tmp_path, report))
    assert run.usage == Usage(input_tokens=1200, cached_tokens=100, output_tokens=50, cost_usd=0.75)


@pytest.mark.parametrize("name", ["retell/call.json", "elevenlabs/conversation.json"])
def test_calls_of_voice_agents_have_their_tool_calls(name: str) -> None:
    (run,) = trajectories(FIXTURES / name)
    assert calls_of(run) == [("book", {"nights": 2}, "no berth left")]
    assert [step.result.error for step in run.calls if step.result] == ["no berth left"]
    assert [turn.user_message for turn in run.turns] == [None, "A berth for two nights."]
    assert run.turns[-1].interactions[-1].response == "We are full."
    assert [agent.id for agent in run.agents] == ["Ann"]
    assert summary_of(FIXTURES / name).trust == "complete"


def test_a_conversation_of_elevenlabs_has_tokens_and_what_broke_it(tmp_path: Path) -> None:
    conversation = orjson.loads((FIXTURES / "elevenlabs" / "conversation.json").read_bytes())["data"]
    conversation["metadata"]["error"] = {"code": 1011, "reason": "no LLM answered"}
    (run,) = trajectories(written(tmp_path, conversation))
    assert recorded_usage(run) == Usage(input_tokens=260, cached_tokens=40, output_tokens=14)
    assert (run.flags, run.extra["error"], run.duration_s) == (("failed",), "no LLM answered", 20)

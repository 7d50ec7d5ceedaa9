"""Events of PostHog's LLM analytics: a trace with two generations and the tool between them."""

from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, trajectories

ASKED = {"role": "user", "content": "Is order 17 paid?"}
CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"order": 17}'}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "paid"}
SAID = {"role": "assistant", "content": "It is paid."}


def event(kind: str, second: int, **properties: Any) -> JsonObject:
    about = {f"$ai_{name}": value for name, value in properties.items()}
    return {
        "uuid": f"e{second}", "event": f"$ai_{kind}", "timestamp": f"2026-05-01T10:00:0{second}Z",
        "properties": {"$ai_trace_id": "t1", "$ai_latency": 1.0, **about},
    }  # fmt: skip


def generation(second: int, given: list[Any], said: Any, tokens: tuple[int, int]) -> JsonObject:
    counted = {"input_tokens": tokens[0], "output_tokens": tokens[1], "total_cost_usd": 0.01}
    return event("generation", second, model="model-a", input=given, output_choices=[said], **counted)


EVENTS = [
    generation(1, [ASKED], CALLED, (100, 20)),
    event("span", 2, span_id="s2", parent_id="t1", span_name="look_up", input_state={"order": 17}, output_state="paid"),
    generation(3, [ASKED, CALLED, RESULT], {"message": SAID}, (130, 10)),
]
TRACE = event("trace", 4, span_name="desk", input_state="Is order 17 paid?", output_state="It is paid.")


@pytest.mark.parametrize("events", [EVENTS, [*EVENTS, TRACE], [TRACE, *reversed(EVENTS)]])
def test_the_events_of_a_trace_are_one_run(tmp_path: Path, events: list[Any]) -> None:
    path = written(tmp_path, *events)
    (run,) = trajectories(path)
    assert (run.task, run.final_answer, run.agents[0].model) == ("Is order 17 paid?", "It is paid.", "model-a")
    assert calls_of(run) == [("look_up", {"order": 17}, "paid")]
    assert run.usage == Usage(input_tokens=230, output_tokens=30, cost_usd=0.02)
    assert summary_of(path).trust == "complete"

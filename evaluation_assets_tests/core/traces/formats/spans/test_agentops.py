"""Traces of AgentOps, as its API returns them."""

from pathlib import Path
from typing import Any

import pytest

from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import calls_of, check, trajectories

CALL = {"id": "c1", "name": "look_up", "arguments": '{"order": 17}', "type": "function"}
ASKED = [{"role": "system", "content": "You are desk."}, {"role": "user", "content": "Is order 17 paid?"}]
CALLED = {"role": "assistant", "content": "", "tool_calls": [CALL]}
SAID = {"role": "assistant", "content": "It is paid."}
HISTORY = [*ASKED, CALLED, {"role": "tool", "tool_call_id": "c1", "content": "paid"}]


def span(number: int, parent: int | None, kind: str, **more: Any) -> JsonObject:
    entity = more.pop("entity", {})
    return {
        "span_id": f"s{number}",
        "parent_span_id": "" if parent is None else f"s{parent}",
        "span_name": f"{kind} {number}",
        "span_kind": "Client",
        "span_type": "request",
        "service_name": "agentops",
        "start_time": f"2026-06-25T07:02:0{number}.408809+00:00",
        "end_time": f"2026-06-25T07:02:0{number}.908809+00:00",
        "status_code": "OK",
        "status_message": "",
        "attributes": {},
        "span_attributes": {"agentops": {"entity": entity, "span": {"kind": kind}}, **more},
        "event_names": [],
        "metrics": None,
    }


def model(number: int, prompt: list[JsonObject], said: JsonObject) -> JsonObject:
    counts = {"prompt_tokens": "30", "completion_tokens": "5", "total_tokens": "35"}
    return span(
        number,
        2,
        "llm",
        gen_ai={"prompt": prompt, "completion": [said], "request": {"model": "model-a"}, "usage": counts},
    )


@pytest.mark.parametrize(
    "tool",
    [
        {"tool": {"name": "look_up", "parameters": '{"order": 17}', "result": "paid"}},
        {"entity": {"name": "look_up", "input": '{"order": 17}', "output": "paid"}},
    ],
)
def test_a_trace_of_agentops_is_a_run(tmp_path: Path, tool: JsonObject) -> None:
    sums = {"usage": {"prompt_tokens": "60", "completion_tokens": "10"}}
    spans = [
        span(1, None, "workflow", gen_ai=sums),
        span(2, 1, "agent", agent={"id": "a-1", "role": "Desk"}, entity={"input": "Know all orders.", "name": "Agent"}),
        model(3, ASKED, CALLED),
        span(4, 2, "tool", **tool),
        model(5, HISTORY, SAID),
    ]
    path = written(tmp_path, {"trace": {"trace_id": "t-1", "root_service_name": "agentops"}, "spans": spans})
    (run,) = trajectories(path)
    check(run)
    assert (run.id, run.task, run.final_answer) == ("t-1", "Is order 17 paid?", "It is paid.")
    assert calls_of(run) == [("look_up", {"order": 17}, "paid")]
    assert [(agent.id, agent.model) for agent in run.agents] == [("Desk", "model-a")]
    assert (run.usage, summary_of(path).trust) == (Usage(input_tokens=60, output_tokens=10), "complete")

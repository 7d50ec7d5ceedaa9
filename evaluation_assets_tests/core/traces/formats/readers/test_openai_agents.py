"""Traces of the OpenAI Agents SDK's own exporter, in the shape of openai-agents 0.24.0."""

from pathlib import Path
from typing import Any

import orjson

from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.spans.test_conversations import summary_of

TRACES = FIXTURES / "openai_agents" / "traces.jsonl"
ITEMS: list[Any] = [orjson.loads(line) for line in TRACES.read_bytes().splitlines()]


def write(path: Path, items: list[Any]) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, items)))
    return path


def test_generations_functions_and_hand_offs_are_one_trajectory() -> None:
    (run,) = trajectories(TRACES)
    check(run)
    assert (run.task, run.final_answer) == ("Where is parcel 5?", "It is in Oslo.")
    assert calls_of(run) == [("track", {"parcel": 5}, "lost"), ("transfer_to_depot", {}, "depot")]
    assert [step.result.error for step in run.calls if step.result] == ["Error running tool: no scan", None]
    assert run.usage is not None and (run.usage.input_tokens, run.usage.output_tokens) == (60, 6)
    (turn,) = run.turns
    assert [one.agent_id for one in turn.interactions] == ["desk", "depot"]
    assert [(agent.id, agent.model, agent.description) for agent in run.agents] == [
        ("desk", "m", "You are desk."),
        ("depot", "m", "You are depot."),
    ]
    assert summary_of(TRACES).trust == "complete"


def test_responses_without_words_are_told_and_their_tools_and_tokens_read(tmp_path: Path) -> None:
    items = orjson.loads(orjson.dumps(ITEMS))
    for item in items:
        data = item.get("span_data", {})
        if data.get("type") == "generation":
            item["span_data"] = {"type": "response", "response_id": "resp_1", "usage": data["usage"]}
    path = write(tmp_path / "spans.jsonl", items)
    (run,) = trajectories(path)
    assert calls_of(run) == [("track", {"parcel": 5}, "lost"), ("transfer_to_depot", {}, "depot")]
    assert run.usage is not None and (run.usage.input_tokens, run.usage.output_tokens) == (60, 6)
    summary = summary_of(path)
    assert (summary.trust, summary.spans_without_content, summary.calls_in_source) == ("partial", 3, 1)


def test_traces_of_one_group_are_one_conversation(tmp_path: Path) -> None:
    second = orjson.loads(orjson.dumps(ITEMS).replace(b"trace_1", b"trace_2").replace(b"T09:00", b"T09:10"))
    items = [{**item, "group_id": "chat"} if item["object"] == "trace" else item for item in (*ITEMS, *second)]
    (run,) = trajectories(write(tmp_path / "spans.jsonl", items))
    assert run.extra["trace_ids"] == ["trace_1", "trace_2"]


def test_a_batch_as_it_is_uploaded_is_read(tmp_path: Path) -> None:
    (run,) = trajectories(write(tmp_path / "batch.json", [{"data": ITEMS}]))
    assert run == trajectories(TRACES)[0]


def test_the_agent_of_a_guardrail_is_no_agent_of_the_run(tmp_path: Path) -> None:
    def kept(own: str, parent: str | None, start: int, **data: Any) -> dict[str, Any]:
        times = {"started_at": f"2026-03-01T08:00:0{start}Z", "ended_at": f"2026-03-01T08:00:0{start + 1}Z"}
        ids = {"object": "trace.span", "id": own, "trace_id": "t", "parent_id": parent}
        return {**ids, **times, "span_data": data}

    def model(name: str, parent: str, start: int, asked: str, said: str) -> dict[str, Any]:
        messages = {"input": [{"role": "user", "content": asked}], "output": [{"role": "assistant", "content": said}]}
        return kept(name, parent, start, type="generation", **messages)

    lines = [
        {"object": "trace", "id": "t", "workflow_name": "desk"},
        kept("desk", None, 0, type="agent", name="desk"),
        model("m1", "desk", 1, "Refund order 17.", "Refunded."),
        kept("look", "desk", 3, type="guardrail", name="polite", triggered=False),
        kept("guard", "look", 4, type="agent", name="guard"),
        model("m2", "guard", 5, "Is it polite? Refunded.", "yes"),
    ]
    (run,) = trajectories(write(tmp_path / "traces.jsonl", lines))
    assert (run.final_answer, [agent.id for agent in run.agents]) == ("Refunded.", ["desk"])

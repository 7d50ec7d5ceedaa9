"""Spans of programs of one's own: lists, lines and trees, with names of their own."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.trajectories.model import JsonObject, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, read, trajectories

TRACE = FIXTURES / "own_spans" / "trace.json"
RECORD: JsonObject = orjson.loads(TRACE.read_bytes())
SPANS: list[JsonObject] = RECORD["spans"]
CALLS = [("look_up", {"order": "17"}, "17 is no number"), ("look_up", {"order": 17}, '{\n  "state": "paid"\n}')]


def tree(parent: str | None = None) -> list[JsonObject]:
    """The spans inside each other, without their IDs."""
    left_out = ("span_id", "parent_span_id")
    return [
        {**{key: value for key, value in span.items() if key not in left_out}, "children": tree(span["span_id"])}
        for span in SPANS
        if span["parent_span_id"] == parent
    ]


def renamed(span: JsonObject) -> JsonObject:
    names = {"span_id": "id", "parent_span_id": "parentId", "span_type": "type", "input": "inputs", "output": "result"}
    return {names.get(key, key): value for key, value in span.items()}


@pytest.mark.parametrize(
    "record",
    [
        RECORD,
        {**RECORD, "spans": [renamed(span) for span in SPANS]},
        {"trace_id": "order-17", "success": True, "root": tree()[0]},
        {**tree()[0], "trace_id": "order-17", "success": True},
    ],
)
def test_spans_are_a_run_with_its_agent_calls_tokens_and_outcome(tmp_path: Path, record: JsonObject) -> None:
    path = written(tmp_path, record)
    (run,) = trajectories(path)
    check(run)
    assert (run.id, run.task, run.final_answer) == ("order-17", "Is order 17 paid?", "Order 17 is paid.")
    assert calls_of(run) == CALLS
    assert [step.result and step.result.error for step in run.calls] == ["17 is no number", None]
    assert [(agent.id, agent.model) for agent in run.agents] == [("desk", "model-a")]
    assert run.usage == Usage(input_tokens=60, output_tokens=11)
    assert (run.duration_s, summary_of(path).trust) == (9, "complete")
    assert run.success is (None if "children" in record else True)


def named(span: JsonObject) -> JsonObject:
    """A span whose name alone says its kind."""
    return {
        **{key: value for key, value in span.items() if key != "span_type"},
        "name": f"{span['span_type']}.{span['name']}",
    }


def with_attributes(span: JsonObject) -> JsonObject:
    """A span that says in its attributes what it did, as JSON texts."""
    inside = {key: span[key] for key in ("span_type", "input", "output") if key in span}
    texts = {key: orjson.dumps(value).decode() if key != "span_type" else value for key, value in inside.items()}
    return {**{key: value for key, value in span.items() if key not in inside}, "attributes": texts}


@pytest.mark.parametrize("write", [named, with_attributes, lambda span: {"event": "span", "payload": span}])
def test_a_kind_may_be_in_the_name_in_attributes_and_a_span_in_an_event(tmp_path: Path, write: Any) -> None:
    lines = [{key: value for key, value in span.items() if key != "attributes"} for span in SPANS]
    (run,) = trajectories(written(tmp_path, *map(write, lines)))
    (plain,) = trajectories(written(tmp_path, *lines))
    assert calls_of(run) == calls_of(plain) == CALLS
    assert (run.task, run.final_answer, run.usage) == (plain.task, plain.final_answer, plain.usage)


def test_events_of_honeyhive_name_their_kind_and_their_session(tmp_path: Path) -> None:
    def event(number: int, kind: str, name: str, given: Any, said: Any, **more: Any) -> JsonObject:
        place = {"event_id": str(number), "session_id": "s-1", "parent_id": "1" if number > 1 else None}
        times = {"start_time": 1772359200000 + number, "end_time": 1772359200000 + number + 1}
        return {**place, **times, "event_type": kind, "event_name": name, "inputs": given, "outputs": said, **more}

    asked = {"role": "user", "content": "Is order 17 paid?"}
    call = {"id": "c1", "function": {"name": "look_up", "arguments": '{"order": 17}'}}
    said = [{"role": "assistant", "content": "", "tool_calls": [call]}, {"role": "assistant", "content": "It is paid."}]
    about = {"config": {"model": "model-a"}, "metadata": {"prompt_tokens": 30, "completion_tokens": 5}}
    history = [asked, said[0], {"role": "tool", "tool_call_id": "c1", "content": "paid"}]
    events = [
        event(1, "session", "desk", {"query": "Is order 17 paid?"}, {"result": "It is paid."}),
        event(2, "model", "chat", {"chat_history": [asked]}, said[0], **about),
        event(3, "tool", "look_up", {"order": 17}, "paid"),
        event(4, "model", "chat", {"chat_history": history}, said[1], **about),
    ]
    (run,) = trajectories(written(tmp_path, *events))
    assert (run.task, run.final_answer, calls_of(run)) == (
        asked["content"],
        "It is paid.",
        [("look_up", {"order": 17}, "paid")],
    )
    assert (run.usage, run.agents[0].model) == (Usage(input_tokens=60, output_tokens=10), "model-a")


def test_a_trace_of_galileo_has_spans_and_their_metrics(tmp_path: Path) -> None:
    asked = {"role": "user", "content": "Is order 17 paid?"}
    call = {"id": "c1", "function": {"name": "look_up", "arguments": '{"order": 17}'}}
    answers = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "assistant", "content": "It is paid."},
    ]
    metrics = {"num_input_tokens": 30, "num_output_tokens": 5}
    models = [
        {"type": "llm", "input": [asked], "output": said, "model": "model-a", "metrics": metrics} for said in answers
    ]
    tool = {"type": "tool", "name": "look_up", "input": '{"order": 17}', "output": "paid"}
    spans = [{**span, "id": str(n)} for n, span in enumerate((models[0], tool, models[1]))]
    trace = {"id": "t", "type": "trace", "input": asked["content"], "output": "It is paid.", "spans": spans}
    (run,) = trajectories(written(tmp_path, trace))
    assert (run.task, run.final_answer, calls_of(run)) == (
        asked["content"],
        "It is paid.",
        [("look_up", {"order": 17}, "paid")],
    )
    assert run.usage == Usage(input_tokens=60, output_tokens=10)


def test_spans_on_lines_are_one_run_if_they_name_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, SPANS)))
    (run,) = trajectories(path)
    assert calls_of(run) == CALLS and run.final_answer == "Order 17 is paid."
    path.write_bytes(b"\n".join(orjson.dumps({**span, "trace_id": name}) for name in ("a", "b") for span in SPANS))
    assert [run.id for run in trajectories(path)] == ["a", "b"]


@pytest.mark.parametrize(
    "record",
    [
        {"id": "1", "parent_id": None, "type": "comment", "text": "I agree."},
        {"type": "folder", "children": [{"type": "file", "name": "a"}]},
        {"spans": [{"id": "1", "parent_id": None, "type": "text", "output": "x"}]},
    ],
)
def test_other_trees_are_no_runs(tmp_path: Path, record: Any) -> None:
    with pytest.raises(Exception, match="no supported format"):
        read(written(tmp_path, record))

"""Spans of LangGraph, by one instrumentation or two.

The shapes are those of langgraph 1.x with openinference-instrumentation-langchain and
opentelemetry-instrumentation-langchain (OpenLLMetry), as `benchmarks/frameworks/langgraph_otel` makes them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation_assets_tests.core.traces.formats.reading import calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.spans.making import asked_for, chat, otlp, returned, said, span
from evaluation_assets_tests.core.traces.formats.spans.test_conversations import summary_of

FAILED = {"content": "no stock", "name": "check", "tool_call_id": "c1", "status": "error"}
CONSTRUCTED = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "ToolMessage"]}
DUMPS: tuple[Any, ...] = (
    {"type": "tool", "data": {**FAILED, "type": "tool"}},
    {"output": {**CONSTRUCTED, "kwargs": FAILED}, "kwargs": {"tags": []}},
    {"output": FAILED},
    {"update": {"messages": [{**CONSTRUCTED, "kwargs": FAILED}]}, "goto": "billing"},
)


@pytest.mark.parametrize("dump", DUMPS, ids=range(len(DUMPS)))
def test_the_result_in_a_dumped_message_is_its_content_and_its_status_the_error(tmp_path: Path, dump: Any) -> None:
    tool = {
        "openinference.span.kind": "TOOL",
        "tool.name": "check",
        "input.value": "5",
        "output.value": json.dumps(dump),
    }
    spans = [
        span("m1", chat([said("user", "Is 5 there?")], [asked_for("c1", "check", item=5)])),
        span("t", tool, start=2),
    ]
    (run,) = trajectories(otlp(tmp_path / "spans.jsonl", *spans))
    check(run)
    assert calls_of(run) == [("check", {"item": 5}, "no stock")]
    assert [step.result.error for step in run.calls if step.result] == ["no stock"]


def test_results_of_parallel_calls_go_to_the_calls_with_their_arguments(tmp_path: Path) -> None:
    calls = [*asked_for("c1", "check", item="a")["parts"], *asked_for("c2", "check", item="b")["parts"]]

    def tool(item: str, start: int) -> dict[str, Any]:
        kind = {"openinference.span.kind": "TOOL", "tool.name": "check"}
        return span(f"t{item}", {**kind, "input.value": item, "output.value": f"{item} is there"}, start=start)

    model = span("m1", chat([said("user", "a and b?")], [{"role": "assistant", "parts": calls}]))
    (run,) = trajectories(otlp(tmp_path / "spans.jsonl", model, tool("b", 2), tool("a", 3)))
    assert calls_of(run) == [("check", {"item": "a"}, "a is there"), ("check", {"item": "b"}, "b is there")]


@pytest.mark.parametrize(
    ("metadata", "agent"),
    [
        ({"lc_agent_name": "desk", "langgraph_checkpoint_ns": "model:1"}, "desk"),
        ({"langgraph_checkpoint_ns": "billing:1|agent:2"}, "billing"),
        ({"langgraph_checkpoint_ns": "agent:1"}, "agent"),
    ],
)
def test_an_agent_has_the_name_in_the_metadata(tmp_path: Path, metadata: dict[str, str], agent: str) -> None:
    attributes = chat([said("user", "Hi")], [said("assistant", "Hello")], metadata=json.dumps(metadata))
    (run,) = trajectories(otlp(tmp_path / "spans.jsonl", span("m1", attributes)))
    assert [one.id for one in run.agents] == [agent]


def test_a_step_around_an_agent_asks_and_answers_nothing(tmp_path: Path) -> None:
    state = json.dumps({"messages": [{"type": "human", "data": {"content": "Hi", "type": "human"}}]})
    step = {"openinference.span.kind": "AGENT", "input.value": state, "output.value": "null"}
    spans = [
        span("graph", {"openinference.span.kind": "CHAIN"}, end=9),
        span("logging.before_agent", step, start=1, parent="graph"),
        span("m1", chat([said("user", "Hi")], [said("assistant", "Hello")]), start=2, parent="graph"),
        span("logging.after_agent", step, start=4, parent="graph"),
    ]
    (run,) = trajectories(otlp(tmp_path / "spans.jsonl", *spans))
    assert [turn.user_message for turn in run.turns] == ["Hi"]
    assert run.final_answer == "Hello"


USED = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 2}
QUESTION = [said("user", "Is 5 there?")]
CALL = [asked_for("c1", "check", item=5)]
ANSWER = [said("assistant", "Yes.")]


def recorded(scope: str, prefix: str, **place: Any) -> list[dict[str, Any]]:
    """A run as one library records it."""
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "check", "gen_ai.tool.call.result": "yes"}
    history = [*QUESTION, *CALL, returned("c1", "yes")]
    return [
        span(f"{prefix}1", chat(QUESTION, CALL, **USED), start=1, scope=scope, **place),
        span(f"{prefix}2", tool, start=3, scope=scope, **place),
        span(f"{prefix}3", chat(history, ANSWER, **USED), start=5, scope=scope, **place),
    ]


def test_a_run_that_two_instrumentations_recorded_is_one_run(tmp_path: Path) -> None:
    path = otlp(tmp_path / "spans.jsonl", *recorded("one", "a"), *recorded("other", "b"))
    (run,) = trajectories(path)
    check(run)
    assert calls_of(run) == [("check", {"item": 5}, "yes")]
    assert run.usage is not None and (run.usage.input_tokens, run.usage.output_tokens) == (20, 4)
    assert run.text.count("Yes.") == 1
    assert summary_of(path).trust == "complete"


def test_traces_of_a_client_beside_those_of_a_framework_are_left_out(tmp_path: Path) -> None:
    client = [
        span(f"c{number}", one, start=start, trace=f"client{number}", scope="client")
        for number, (start, one) in enumerate(((1, chat(QUESTION, CALL, **USED)), (5, chat([], ANSWER, **USED))))
    ]
    path = otlp(tmp_path / "spans.jsonl", *client, *recorded("framework", "a"))
    (run,) = trajectories(path)
    assert run.id == "t1"
    assert summary_of(path).trust == "complete"


def test_the_same_answer_at_another_time_is_another_answer(tmp_path: Path) -> None:
    spans = [*recorded("one", "a"), span("b", chat(ANSWER, ANSWER, **USED), start=20, scope="other")]
    (run,) = trajectories(otlp(tmp_path / "spans.jsonl", *spans))
    assert run.usage is not None and run.usage.input_tokens == 30


def test_parallel_calls_of_a_tool_by_one_library_stay_two(tmp_path: Path) -> None:
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "check", "gen_ai.tool.call.result": "yes"}
    spans = [span(f"{scope}{number}", tool, start=3, scope=scope) for number in (1, 2) for scope in ("one", "other")]
    (run,) = trajectories(otlp(tmp_path / "spans.jsonl", span("m1", chat(QUESTION, ANSWER)), *spans))
    assert len(run.calls) == 2


@pytest.mark.parametrize(
    ("status", "events"),
    [
        ("GraphInterrupt((Interrupt(value='Sure?', id='x'),))", ()),
        ("", (("exception", {"exception.message": "(Interrupt(value='Sure?', id='x'),)"}),)),
        ("langgraph.errors.NodeInterrupt: [Interrupt(value='Sure?')]", ()),
    ],
)
def test_an_interrupt_is_no_error_of_its_tool_nor_of_the_run(tmp_path: Path, status: str, events: Any) -> None:
    """Tracers record what LangGraph raises to wait for a human as an error."""
    tool = {
        "openinference.span.kind": "TOOL",
        "tool.name": "delete",
        "input.value": "5",
        "error.type": "GraphInterrupt",
    }
    spans = [
        span("g", {"openinference.span.kind": "AGENT"}, end=9, error=status, events=events),
        span("m1", chat([said("user", "Delete 5.")], [asked_for("c1", "delete", item=5)]), start=1, parent="g"),
        span("t", tool, start=2, parent="g", error=status, events=events),
    ]
    (run,) = trajectories(otlp(tmp_path / "spans.jsonl", *spans))
    assert (calls_of(run), run.flags) == ([("delete", {"item": 5}, None)], ("no_answer",))

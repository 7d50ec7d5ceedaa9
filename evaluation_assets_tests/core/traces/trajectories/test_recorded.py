"""What a source recorded: verdicts of other judges, and spans of calls."""

from typing import Any

from evaluation_assets.core.traces.trajectories.model import Interaction, Step, ToolCall, Trajectory, Turn
from evaluation_assets.core.traces.trajectories.recorded import RecordedVerdict, labelled, recorded_verdicts
from evaluation_assets.core.traces.trajectories.recorded_spans import (
    RecordedSpan,
    last_trace_of,
    spans_of_clips,
    trace_of,
)


def run(calls: tuple[bool, ...] = (), labels: Any = None, **extra: Any) -> Trajectory:
    steps = tuple(Step(start=0, end=0, call=ToolCall(name="t", raw=(0, 0)) if has_call else None) for has_call in calls)
    turn = Turn(interactions=(Interaction(agent_id="a", steps=steps),))
    return Trajectory(
        id="t", task_id="t", format="f", task="", text="", turns=(turn,), labels=labels or {}, extra=extra
    )


def test_recorded_verdicts_are_read_back() -> None:
    given = [
        RecordedVerdict(level="trajectory", subject="trajectory", judge="person", scores={"a": 0.5, "b": None}),
        RecordedVerdict(level="clip", subject="0", probabilities={"a": 0.9}, verdict="pass"),
    ]
    assert recorded_verdicts(run(labels=labelled(given))) == given
    assert labelled([]) == {} and recorded_verdicts(run()) == []


def test_what_is_no_verdict_is_left_out() -> None:
    good = {"level": "clip", "subject": "1"}
    entries = [good, {"level": "clip"}, "pass", {**good, "scores": {"a": "high"}}, None, {**good, "scores": [1]}]
    assert recorded_verdicts(run(labels={"verdicts": entries})) == [RecordedVerdict(level="clip", subject="1")]
    for strange in ({}, "x", 5):
        assert recorded_verdicts(run(labels={"verdicts": strange})) == []


def test_a_clip_is_named_by_its_index_as_a_number_too() -> None:
    assert recorded_verdicts(run(labels={"verdicts": [{"level": "clip", "subject": 0}]})) == [
        RecordedVerdict(level="clip", subject="0")
    ]


def test_a_clip_has_the_span_of_its_tool_else_of_the_model_call() -> None:
    given = run((False, True, True), trace_id="T", spans={"m0": 0, "m1": 1, "t1": 1, "m2": 2}, tool_spans=["t1", "?"])
    assert spans_of_clips(given) == {0: RecordedSpan("T", "t1"), 1: RecordedSpan("T", "m2")}


def test_a_conversation_of_several_traces_has_the_trace_of_each_span() -> None:
    spans = {"a": 0, "b": 1}
    given = run((True, True), trace_id="T", spans=spans, traces_of_spans={"b": "U"}, trace_ids=["T", "U"])
    assert spans_of_clips(given) == {0: RecordedSpan("T", "a"), 1: RecordedSpan("U", "b")}
    assert (trace_of(given), last_trace_of(given)) == ("T", "U")


def test_without_traces_there_is_nothing() -> None:
    assert spans_of_clips(run((True,))) == {}
    assert trace_of(run()) is None and last_trace_of(run()) is None
    assert spans_of_clips(run((True,), spans="x", tool_spans="y", traces_of_spans=3)) == {}
    assert trace_of(run(trace_id=5)) is None and last_trace_of(run(trace_id="T", trace_ids=[5])) == "T"

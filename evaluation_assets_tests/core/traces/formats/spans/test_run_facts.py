"""Task, trial, outcome, agent and version of a run in the attributes of its span."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import TWO_OUTCOMES, Trajectory
from evaluation_assets_tests.core.traces.formats.reading import trajectories

Attributes = dict[str, Any]
KINDS = {str: "stringValue", bool: "boolValue", int: "intValue", float: "doubleValue"}
AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"}
SAID = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "model-a",
    "gen_ai.input.messages": '[{"role": "user", "content": "Where is it?"}]',
    "gen_ai.output.messages": '[{"role": "assistant", "content": "On its way."}]',
}


def written(attributes: Attributes) -> list[Any]:
    return [{"key": key, "value": {KINDS[type(value)]: value}} for key, value in attributes.items()]


def trace(
    letter: str,
    root: Attributes | None,
    *inner: Attributes,
    program: Attributes | None = None,
    events: tuple[Attributes, ...] = (),
    start: int = 0,
    **span: Any,
) -> Any:
    """A trace of a root with spans below it; without a root, what is left of it."""
    spans: list[Any] = [
        {"spanId": f"{place}" * 16, "parentSpanId": "f" * 16, "name": "step", "attributes": written(each)}
        for place, each in enumerate(inner or (SAID,))
    ]
    if root is not None:
        about = [{"name": "gen_ai.evaluation.result", "attributes": written(each)} for each in events]
        spans.append({"spanId": "f" * 16, "name": "run", "attributes": written(root), "events": about, **span})
    times = {"startTimeUnixNano": f"{start + 1}000000000", "endTimeUnixNano": f"{start + 2}000000000"}
    scopes = [{"spans": [{"traceId": letter * 32, **times, **each} for each in spans]}]
    return {"resourceSpans": [{"resource": {"attributes": written(program or {})}, "scopeSpans": scopes}]}


def runs_of(tmp_path: Path, *traces: Any, unmapped: UnmappedFields | None = None) -> list[Trajectory]:
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, traces)))
    return trajectories(path, unmapped=unmapped)


def agents_of(runs: list[Trajectory]) -> list[list[tuple[str, str | None, str | None]]]:
    return [[(agent.id, agent.name, agent.version) for agent in run.agents] for run in runs]


@pytest.mark.parametrize(
    "stated",
    [
        {"task_id": "t-1", "success": True},
        {"task.id": "t-1", "task.success": "true"},
        {"task_id": "t-1", "outcome": "pass"},
        {"test_case.id": "t-1", "reward": 1.0},
        {"evaluation.task_id": "t-1", "evaluation.success": "yes"},
        {"metadata": '{"task_id": "t-1", "success": true}'},
        {"metadata.task_id": "t-1", "metadata.passed": True},
        {"langfuse.trace.metadata.task_id": "t-1", "langfuse.trace.metadata.success": "true"},
        {"langfuse.trace.metadata": '{"taskId": "t-1", "resolved": 1}'},
        {"langsmith.metadata.task_id": "t-1", "langsmith.metadata.success": "True"},
        {"traceloop.association.properties.task_id": "t-1", "traceloop.association.properties.success": True},
        {"ai.telemetry.metadata.taskId": "t-1", "ai.telemetry.metadata.isCorrect": True},
        {"task_id": "t-1", "gen_ai.evaluation.name": "Task success", "gen_ai.evaluation.score.label": "pass"},
        {"task_id": "t-1", "gen_ai.evaluation.result": "passed"},
    ],
)
@pytest.mark.parametrize("root", [AGENT, {"openinference.span.kind": "CHAIN"}])
def test_task_and_outcome_of_a_run_are_read(tmp_path: Path, stated: Attributes, root: Attributes) -> None:
    unmapped = UnmappedFields()
    (run,) = runs_of(tmp_path, trace("a", {**root, **stated, "trial": 2}), unmapped=unmapped)
    assert (run.task_id, run.trial, run.success) == ("t-1", 2, True)
    assert [path for path in unmapped.counts if "(chain)" not in path] == []


def test_the_span_of_the_agent_may_be_below_that_of_a_server(tmp_path: Path) -> None:
    inner = ({**AGENT, "task_id": "t-1", "success": False}, SAID)
    (run,) = runs_of(tmp_path, trace("a", {"http.method": "POST"}, *inner))
    assert (run.task_id, run.success) == ("t-1", False)


def test_an_evaluation_of_success_is_the_outcome(tmp_path: Path) -> None:
    events = (
        {"gen_ai.evaluation.name": "politeness", "gen_ai.evaluation.score.label": "pass"},
        {"gen_ai.evaluation.name": "success", "gen_ai.evaluation.score.value": 0.0},
    )
    (run,) = runs_of(tmp_path, trace("a", AGENT, events=events))
    assert run.success is False and len(run.labels["verdicts"]) == 2


@pytest.mark.parametrize(
    "stated", [{"gen_ai.task.id": "t-1"}, {"session.id": "t-1"}, {"run.id": "t-1"}, {"success": "maybe"}, {"note": "x"}]
)
def test_what_is_no_fact_of_a_run_is_not_taken_for_one(tmp_path: Path, stated: Attributes) -> None:
    unmapped = UnmappedFields()
    (run,) = runs_of(tmp_path, trace("a", {**AGENT, **stated}), unmapped=unmapped)
    assert run.task_id.startswith("task-") and run.success is None
    assert list(unmapped.counts) == [f"spans[].{key}" for key in stated if key != "session.id"]


def test_what_remains_of_an_object_is_counted(tmp_path: Path) -> None:
    unmapped = UnmappedFields()
    runs_of(tmp_path, trace("a", {**AGENT, "metadata": '{"task_id": "t-1", "x": 1}'}), unmapped=unmapped)
    assert dict(unmapped.counts) == {"spans[].metadata": 1}


def test_the_success_of_a_tool_is_not_that_of_the_run(tmp_path: Path) -> None:
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find", "success": True, "task_id": "t-1"}
    whole, rest = runs_of(tmp_path, trace("a", AGENT, tool, SAID), trace("b", None, tool, SAID))
    assert (whole.success, rest.success) == (None, None)
    assert whole.task_id.startswith("task-") and rest.task_id.startswith("task-")


def test_an_error_of_the_root_is_no_outcome(tmp_path: Path) -> None:
    status = {"code": 2, "message": "worker killed"}
    roots = {"a": AGENT, "b": {**AGENT, "success": True}}
    runs = runs_of(tmp_path, *(trace(letter, root, status=status) for letter, root in roots.items()))
    assert [(run.success, "failed" in run.flags, run.extra["error"]) for run in runs] == [
        (None, True, "worker killed"),
        (True, False, "worker killed"),
    ]


def test_success_and_failure_of_one_run_are_a_contradiction(tmp_path: Path) -> None:
    unmapped = UnmappedFields()
    (run,) = runs_of(tmp_path, trace("a", {**AGENT, "success": True, "passed": False}), unmapped=unmapped)
    assert TWO_OUTCOMES in run.flags and unmapped.stated.contradictions.total() == 1


def test_traces_of_a_session_with_different_tasks_are_different_runs(tmp_path: Path) -> None:
    def session(*tasks: str) -> Iterator[Any]:
        for place, task in enumerate(tasks):
            yield trace("abc"[place], {**AGENT, "session.id": "s", "task_id": task}, start=10 * place)

    assert [run.task_id for run in runs_of(tmp_path, *session("t-1", "t-2"))] == ["t-1", "t-2"]
    (run,) = runs_of(tmp_path, *session("t-1", "t-1"))
    assert run.task_id == "t-1" and len(run.extra["trace_ids"]) == 2


PROGRAM = {"service.name": "shop", "service.version": "7"}


def test_an_agent_has_the_name_and_version_of_its_span(tmp_path: Path) -> None:
    (run,) = runs_of(tmp_path, trace("a", {**AGENT, "gen_ai.agent.version": "2.3"}, program=PROGRAM))
    assert agents_of([run]) == [[("desk", "desk", "2.3")]]


@pytest.mark.parametrize(
    "root",
    [
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.id": "desk"},
        {"openinference.span.kind": "AGENT", "agent.name": "invoke_agent desk"},
        {"openinference.span.kind": "CHAIN", "metadata": '{"agent_name": "desk"}'},
        {"openinference.span.kind": "CHAIN", "gen_ai.agent.name": "desk"},
        {"traceloop.span.kind": "agent", "traceloop.entity.name": "desk"},
        {"traceloop.span.kind": "workflow", "traceloop.association.properties.agent_name": "desk"},
        {"langfuse.observation.type": "span", "langfuse.trace.metadata.agent": "desk"},
    ],
)
def test_each_convention_names_the_agent(tmp_path: Path, root: Attributes) -> None:
    (run,) = runs_of(tmp_path, trace("a", root, program=PROGRAM, name="invoke_agent" if len(root) > 2 else ""))
    assert [(agent.name, agent.version) for agent in run.agents] == [("desk", "7")]


def test_an_agent_that_another_one_runs_does_not_name_the_run(tmp_path: Path) -> None:
    expert = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "expert"}
    spans = trace("a", AGENT, SAID, expert, {**SAID, "gen_ai.output.messages": '["Ask the carrier."]'})
    inner = spans["resourceSpans"][0]["scopeSpans"][0]["spans"]
    inner[2]["parentSpanId"] = inner[1]["spanId"]
    (run,) = runs_of(tmp_path, spans)
    assert agents_of([run]) == [[("desk", "desk", None), ("expert", None, None)]]


def test_a_trace_without_its_root_is_of_the_agent_of_its_service(tmp_path: Path) -> None:
    root = {**AGENT, "gen_ai.agent.version": "7"}
    runs = runs_of(tmp_path, trace("a", None, program=PROGRAM), trace("b", root, program=PROGRAM))
    assert agents_of(runs) == [[("desk", "desk", "7")]] * 2
    other = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "till"}
    runs = runs_of(tmp_path, *(trace(*each, program=PROGRAM) for each in (("a", None), ("b", root), ("c", other))))
    assert [("agent", None, "7")] in agents_of(runs), "it may be either"


@pytest.mark.parametrize("name", ["shop", "unknown_service:python", "c09a5098c122", ""])
def test_a_service_is_the_agent_if_nothing_else_names_one(tmp_path: Path, name: str) -> None:
    (run,) = runs_of(tmp_path, trace("a", None, program={"service.name": name, "service.version": "7"}))
    assert [(agent.id, agent.name) for agent in run.agents] == [("agent", "shop" if name == "shop" else None)]

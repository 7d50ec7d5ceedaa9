"""Traces of three wires as trajectories."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_assets.core.traces.formats.base import Rejection, Sample
from evaluation_assets.core.traces.formats.readers import jaeger, openinference, otlp
from evaluation_assets.core.traces.formats.spans.tree import Span, trace_of
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, read, trajectories
from evaluation_assets_tests.third_party import data

OTEL, JAEGER = FIXTURES / "otel", FIXTURES / "jaeger"
LINES = [orjson.loads(line) for line in (OTEL / "traces.jsonl").read_bytes().splitlines()]


def otel_runs() -> tuple[Trajectory, Trajectory]:
    manager, shop = trajectories(OTEL)
    return manager, shop


# The tree


@given(st.permutations(range(6)), st.lists(st.integers(-1, 6), min_size=6, max_size=6))
def test_every_span_has_one_place_in_the_forest(order: list[int], parents: list[int]) -> None:
    spans = [Span(id=str(index), trace_id="t", parent_id=str(parents[index]), start_s=index) for index in order]
    trace = trace_of("t", spans)
    assert sorted(span.id for span in trace.walk()) == [str(index) for index in range(6)]


def test_a_span_that_was_exported_twice_counts_once() -> None:
    trace = trace_of("t", [Span(id="1", trace_id="t"), Span(id="1", trace_id="t"), Span(id="2", trace_id="t")])
    assert (len(list(trace.walk())), trace.repeated) == (2, 1)


def test_children_stand_in_the_order_they_began() -> None:
    late, early = (Span(id=str(start), trace_id="t", parent_id="0", start_s=start) for start in (9, 3))
    trace = trace_of("t", [late, early, Span(id="0", trace_id="t", start_s=1)])
    assert [span.id for span in trace.walk()] == ["0", "3", "9"]


# OTLP


def test_spans_of_a_trace_are_gathered_from_all_lines() -> None:
    manager, shop = otel_runs()
    check(manager)
    check(shop)
    assert (manager.id, manager.task, manager.final_answer) == ("a" * 32, "How warm is Oslo?", "Oslo has 4 degrees.")
    assert (shop.task, shop.final_answer) == ("Price of tea?", "Tea costs 3 euros.")
    assert (manager.started_at, manager.duration_s) == ("2026-01-05T08:00:00+00:00", 10.0)
    assert manager.extra["session_id"] == "conv-1"


def test_a_trace_without_agents_is_rejected(tmp_path: Path) -> None:
    span = {"traceId": "c", "spanId": "1", "name": "GET /health"}
    lines = [*LINES, next(batches(iter([span])))]
    (tmp_path / "traces.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    (rejection,) = (item for item in read(tmp_path) if isinstance(item, Rejection))
    assert (rejection.reason, rejection.line) == ("no_trajectory_text", len(lines))
    assert "GET /health" in rejection.raw


@pytest.mark.parametrize("value", [{"doubleValue": 10**30}, {"boolValue": 10**400}, {"stringValue": "\ud83d"}])
@pytest.mark.parametrize("name", ["traces.jsonl", "traces.json"])
def test_a_value_that_json_does_not_hold_stops_no_other_trace(tmp_path: Path, name: str, value: Any) -> None:
    attributes = [{"key": "n", "value": value}]
    batch = next(batches(iter([{"traceId": "c", "spanId": "1", "name": "GET /x", "attributes": attributes}])))
    content = [json.dumps(line) for line in (LINES[0], batch, *LINES[1:])]
    (tmp_path / name).write_text("\n".join(content) if name == "traces.jsonl" else f"[{','.join(content)}]")
    items = read(tmp_path)
    (rejection,) = (item for item in items if isinstance(item, Rejection))
    assert rejection.reason in ("bad_json", "no_trajectory_text") and "GET /x" in rejection.raw
    assert [item for item in items if isinstance(item, Trajectory)] == list(otel_runs())


NO_SPANS = (
    [1, 2],
    None,
    42,
    "hello",
    {},
    [LINES[0]],
    {"resourceSpans": [[1], None, 5]},
    {"resourceSpans": [{"scopeSpans": [{"spans": {"a": 1}}]}]},
    {"resourceSpans": [{"scopeSpans": [{"spans": [[1]]}]}]},
    {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": None, "spanId": "1", "name": "x"}]}]}]},
)


@pytest.mark.parametrize("line", NO_SPANS, ids=range(len(NO_SPANS)))
def test_a_line_that_holds_no_spans_is_a_rejection_with_its_line(tmp_path: Path, line: Any) -> None:
    (tmp_path / "traces.jsonl").write_bytes(b"\n".join(map(orjson.dumps, [LINES[0], line, *LINES[1:]])))
    items = read(tmp_path)
    (rejection,) = (item for item in items if isinstance(item, Rejection))
    assert (rejection.line, orjson.loads(rejection.raw)) == (2, line)
    assert [item for item in items if isinstance(item, Trajectory)] == list(otel_runs())


def test_lines_of_logs_and_metrics_beside_traces_are_no_rejections(tmp_path: Path) -> None:
    others = [{"resourceLogs": []}, {"resourceMetrics": [{"scopeMetrics": []}]}, {"resourceSpans": []}]
    (tmp_path / "traces.jsonl").write_bytes(b"\n".join(map(orjson.dumps, [*LINES, *others])))
    assert trajectories(tmp_path) == list(otel_runs())


def test_a_time_that_is_none_is_counted_and_unknown(tmp_path: Path) -> None:
    lines = json.loads(json.dumps(LINES).replace('"startTimeUnixNano": "', '"startTimeUnixNano": "999999999999'))
    (tmp_path / "traces.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    unmapped = UnmappedFields()
    runs = trajectories(tmp_path, unmapped=unmapped)
    assert [(run.started_at, run.duration_s) for run in runs] == [(None, None)] * len(runs)
    assert unmapped.counts["spans[].startTimeUnixNano (no point in time)"]


def test_a_manager_and_its_sub_agent_are_two_agents() -> None:
    manager, _ = otel_runs()
    assert [agent.id for agent in manager.agents] == ["manager", "expert"]
    assert [agent.model for agent in manager.agents] == ["model-a", "model-s"]
    assert manager.agents[0].description == "You manage others."
    (turn,) = manager.turns
    assert [interaction.agent_id for interaction in turn.interactions] == ["manager", "expert", "manager"]


def test_history_in_the_input_of_a_model_is_not_said_again() -> None:
    manager, shop = otel_runs()
    assert manager.text.count("How warm is Oslo?") == 1
    assert manager.text.count("The expert knows.") == 1
    assert shop.text.count("3 euros\n") == 1
    assert shop.text.count("You sell.") == 0


def test_results_in_the_history_answer_the_calls_they_name() -> None:
    _, shop = otel_runs()
    assert calls_of(shop) == [("price", {"item": "tea"}, "3 euros"), ("price", {"item": "mint"}, "Error: no mint")]


def test_tokens_count_once_over_the_models_and_not_again_for_agents() -> None:
    manager, shop = otel_runs()
    assert manager.usage is not None and shop.usage is not None
    assert (manager.usage.input_tokens, manager.usage.cached_tokens, manager.usage.output_tokens) == (300, 20, 30)
    assert (shop.usage.input_tokens, shop.usage.output_tokens) == (120, 11)


def test_plumbing_is_counted_by_the_library_that_wrote_it() -> None:
    unmapped = UnmappedFields()
    trajectories(OTEL, unmapped=unmapped)
    assert unmapped.table() == [("spans[] (http.server)", 2), ("spans[] (chain)", 1)]


def batches(spans: Iterator[Any]) -> Iterator[Any]:
    for index, span in enumerate(spans):
        yield {
            "resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": f"s{index % 2}"}, "spans": [span]}]}]
        }


def all_spans() -> Iterator[Any]:
    for line in LINES:
        for resource in line["resourceSpans"]:
            for group in resource["scopeSpans"]:
                yield from group["spans"]


@given(st.permutations(list(all_spans())))
def test_the_order_of_spans_in_a_file_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, spans: list[Any]
) -> None:
    path = tmp_path_factory.mktemp("otel") / "traces.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps(batch) for batch in batches(iter(spans))))
    texts = {item.id: item.text for item in read(path) if isinstance(item, Trajectory)}
    assert texts == {run.id: run.text for run in otel_runs()}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("as_list", [True, False])
def test_one_large_document_gives_what_lines_give(tmp_path: Path, indent: int | None, as_list: bool) -> None:
    resources = [resource for line in LINES for resource in line["resourceSpans"]]
    document: Any = (
        [{"resourceSpans": [resource]} for resource in resources] if as_list else {"resourceSpans": resources}
    )
    (tmp_path / "traces.json").write_text(json.dumps(document, indent=indent))
    assert trajectories(tmp_path) == list(otel_runs())


def test_a_broken_line_is_rejected_and_the_rest_read(tmp_path: Path) -> None:
    lines = [orjson.dumps(line) for line in LINES]
    (tmp_path / "traces.jsonl").write_bytes(b"\n".join([*lines[:2], b'{"resourceSpans": [', *lines[2:]]))
    items = read(tmp_path)
    assert [item.reason for item in items if isinstance(item, Rejection)] == ["bad_json"]
    assert len(items) == 3


@pytest.mark.parametrize(
    ("attributes", "events"),
    [
        (
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}],
                "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "Hello"}]}],
            },
            [],
        ),
        (
            {"gen_ai.operation.name": "chat"},
            [("gen_ai.user.message", {"content": "Hi"}), ("gen_ai.choice", {"message": '{"content": "Hello"}'})],
        ),
        (
            {"gen_ai.operation.name": "chat"},
            [
                ("gen_ai.content.prompt", {"gen_ai.prompt": '[{"role": "user", "content": "Hi"}]'}),
                ("gen_ai.content.completion", {"gen_ai.completion": '[{"role": "assistant", "content": "Hello"}]'}),
            ],
        ),
        (
            {
                "openinference.span.kind": "LLM",
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.contents.0.message_content.type": "text",
                "llm.input_messages.0.message.contents.0.message_content.text": "Hi",
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": "Hello",
            },
            [],
        ),
        (
            {
                "openinference.span.kind": "LLM",
                "input.value": '{"messages": [{"role": "user", "content": "Hi"}]}',
                "output.value": '{"choices": [{"message": {"role": "assistant", "content": "Hello"}}]}',
            },
            [],
        ),
        (
            {
                "gen_ai.operation.name": "chat",
                "ai.prompt.messages": '[{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]',
                "ai.response.text": "Hello",
            },
            [],
        ),
    ],
)
def test_conventions_of_messages(tmp_path: Path, attributes: Any, events: Any) -> None:
    def pairs(values: dict[str, Any]) -> list[Any]:
        texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
        return [{"key": key, "value": {"stringValue": text}} for key, text in texts.items()]

    span = {
        "traceId": "t",
        "spanId": "s",
        "attributes": pairs(attributes),
        "events": [{"name": name, "attributes": pairs(values)} for name, values in events],
    }
    (tmp_path / "trace.jsonl").write_bytes(orjson.dumps(next(batches(iter([span])))))
    (run,) = trajectories(tmp_path)
    assert (run.task, run.final_answer) == ("Hi", "Hello")


# Jaeger


def test_a_clients_call_in_a_frameworks_call_is_one_call_of_a_model() -> None:
    unmapped = UnmappedFields()
    (run,) = trajectories(JAEGER, unmapped=unmapped)
    check(run)
    assert (run.task, run.final_answer) == ("List releases", "I may not list them.")
    assert calls_of(run) == [("list_releases", {"all": True}, "denied")]
    assert [step.result.error for step in run.calls if step.result] == ["denied"]
    assert run.usage is not None and (run.usage.input_tokens, run.usage.output_tokens) == (200, 16)
    assert run.success is None
    assert unmapped.table() == [("spans[] (fastapi)", 1), ("spans[] (httpx)", 1)]


# Detection and damage


@pytest.mark.parametrize(
    ("record", "ours"),
    [
        ({"resourceSpans": []}, "otel"),
        ({"trace_id": "t", "spans": [{"span_attributes": {}}]}, "openinference"),
        ({"context": {"trace_id": "t", "span_id": "s"}}, "openinference"),
        ({"traceID": "t", "spans": []}, "jaeger"),
        ({"trace_id": "t", "spans": []}, None),
        ({"data": [1]}, None),
        ([], None),
    ],
)
def test_traces_are_recognised(record: Any, ours: str | None) -> None:
    formats = [module.NAME for module in (otlp, openinference, jaeger) if module.detect(Sample((record,)))]
    assert formats == ([] if ours is None else [ours])


@given(st.text(max_size=20), st.text(max_size=20))
def test_names_of_any_text_are_read(tmp_path_factory: pytest.TempPathFactory, name: str, key: str) -> None:
    span = {"traceId": "t", "spanId": "s", "name": name, "attributes": [{"key": key, "value": {"stringValue": name}}]}
    path = tmp_path_factory.mktemp("otel") / "traces.jsonl"
    path.write_bytes(orjson.dumps(next(batches(iter([span])))))
    (item,) = read(path, format_name="otel")
    assert isinstance(item, Rejection) or item.text


# Recorded traces of others


def test_agentevals() -> None:
    unmapped = UnmappedFields()
    (helm,) = trajectories(data("otel-agentevals/helm.json"), unmapped=unmapped)
    (k8s,) = trajectories(data("otel-agentevals/k8s.json"), unmapped=unmapped)
    check(helm)
    check(k8s)
    assert helm.usage is not None and k8s.usage is not None
    assert (helm.usage.input_tokens, helm.usage.cached_tokens, helm.usage.output_tokens) == (3776, 1792, 130)
    assert len([step for step in helm.steps if step.usage is not None]) == 2
    assert [step.call.name for step in helm.calls if step.call] == ["helm_list_releases"]
    assert [step.result.error for step in helm.calls if step.result] == [None]
    assert helm.success is None and helm.final_answer is not None
    assert (len(k8s.calls), k8s.usage.input_tokens) == (0, 2203)
    plumbing = {path for path, _ in unmapped.table() if path.startswith("spans[] (")}
    assert plumbing == {
        "spans[] (a2a-python-sdk)",
        "spans[] (opentelemetry.instrumentation.httpx)",
        "spans[] (opentelemetry.instrumentation.fastapi)",
        "spans[] (gcp.vertex.agent)",
    }

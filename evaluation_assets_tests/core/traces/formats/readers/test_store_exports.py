"""Exports of Opik, Braintrust and W&B Weave: the trace of one order desk, as each of them has it."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.untyped import object_in
from evaluation_assets.core.traces.trajectories.model import JsonObject, Trajectory, Usage
from evaluation_assets_tests.core.traces.formats.readers.summaries import summary_of, written
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, calls_of, check, trajectories
from evaluation_assets_tests.core.traces.formats.reading import records_of as file_records

FILES = {"opik": "trace.json", "braintrust": "logs.jsonl", "weave": "calls.jsonl"}
STORES = sorted(FILES)


def path_of(store: str) -> Path:
    return FIXTURES / store / FILES[store]


def records_of(store: str) -> list[JsonObject]:
    return [orjson.loads(line) for line in path_of(store).read_bytes().splitlines()]


def run_of(store: str) -> Trajectory:
    (run,) = trajectories(path_of(store))
    check(run)
    return run


@pytest.mark.parametrize("store", STORES)
def test_models_tools_and_their_errors_are_read(store: str) -> None:
    run = run_of(store)
    assert (run.format, run.final_answer, run.extra["session_id"]) == (store, "It is paid.", "s-1")
    assert run.task == "Is order 17 paid, and is there more of it?"
    assert [(name, arguments) for name, arguments, _ in calls_of(run)] == [
        ("look_up_order", {"order_id": "17"}),
        ("check_stock", {"sku": "B-2"}),
    ]
    shown, errors = zip(
        *[(run.piece(step.result.content), step.result.error) for step in run.calls if step.result], strict=True
    )
    assert shown[0] == "paid" and shown[1].endswith("warehouse offline")
    assert errors[0] is None and errors[1] is not None and "warehouse offline" in errors[1]
    (agent,) = run.agents
    assert (agent.description, agent.model) == ("You are desk.", "model-a")
    assert [tool.name for tool in agent.tools or ()] == ["look_up_order", "check_stock"]
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.duration_s) == (220, 22, 9)
    assert summary_of(path_of(store)).trust == "complete"


def test_scores_and_expected_answers_are_labels() -> None:
    assert run_of("opik").labels == {"scores": [{"name": "helpful", "value": 1.0, "reason": "clear", "source": "ui"}]}
    run = run_of("braintrust")
    assert (run.labels, run.reference_answer) == ({"scores": [{"name": "helpful", "value": 1.0}]}, "paid")
    cost = None if (used := run_of("opik").usage) is None else used.cost_usd
    assert cost == pytest.approx(0.003)


def with_texts(data: Any, key: str = "") -> Any:
    """The data with its tokens and costs as texts."""
    if isinstance(data, dict):
        return {name: with_texts(value, name) for name, value in data.items()}
    if isinstance(data, list):
        return [with_texts(item, key) for item in data]
    is_count = "token" in key or "cost" in key
    return str(data) if is_count and isinstance(data, int | float) else data


@pytest.mark.parametrize("store", [*STORES, "deepeval", "langfuse"])
def test_numbers_may_be_given_as_texts(store: str, tmp_path: Path) -> None:
    paths = [path_of(store)] if store in FILES else sorted((FIXTURES / store).iterdir())
    for path in paths:
        records = [with_texts(record) for record in file_records(path)]
        usages = [[run.usage for run in trajectories(each)] for each in (path, written(tmp_path, *records))]
        assert usages[0] == usages[1] != []


@pytest.mark.parametrize(("store", "page"), [("braintrust", "data"), ("weave", "calls")])
def test_pages_of_an_api_are_read_like_their_spans(store: str, page: str, tmp_path: Path) -> None:
    (run,) = trajectories(written(tmp_path, {page: records_of(store)}))
    assert run.text == run_of(store).text


@pytest.mark.parametrize("store", ["braintrust", "weave"])
def test_a_span_without_its_parent_makes_a_reading_partial(store: str, tmp_path: Path) -> None:
    _, *rest = records_of(store)
    key = "parent_id" if store == "weave" else "span_parents"
    rest[-1][key] = None
    path = written(tmp_path, *rest)
    assert summary_of(path).trust == "partial"


@pytest.mark.parametrize("store", ["braintrust", "weave"])
def test_a_span_without_an_id_is_rejected(store: str, tmp_path: Path) -> None:
    key = "span_id" if store == "braintrust" else "id"
    record = {**records_of(store)[1], key: None}
    assert summary_of(written(tmp_path, record)).rejected == 1


@pytest.mark.parametrize("prompt_tokens", [280, 200])  # of newer and of older versions of the client
def test_opik_has_the_tokens_of_the_cache_in_the_counts_of_the_provider(tmp_path: Path, prompt_tokens: int) -> None:
    own = {"input_tokens": 200, "output_tokens": 100, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 50}
    counts = {"prompt_tokens": prompt_tokens, "completion_tokens": 100, "total_tokens": prompt_tokens + 100}
    span = {
        "id": "a",
        "trace_id": "t",
        "parent_span_id": None,
        "type": "llm",
        "name": "chat",
        "start_time": "2026-01-02T10:00:00Z",
        "input": {"messages": [{"role": "user", "content": "Is it paid?"}]},
        "output": {"choices": [{"message": {"role": "assistant", "content": "Yes."}}]},
        "usage": {**counts, **{f"original_usage.{name}": count for name, count in own.items()}},
    }
    (run,) = trajectories(written(tmp_path, {"trace": {"id": "t"}, "spans": [span]}))
    assert run.usage == Usage(input_tokens=280, cached_tokens=30, cache_write_tokens=50, output_tokens=100)


def test_weave_has_the_cost_of_a_call_where_it_was_exported_with_costs(tmp_path: Path) -> None:
    records = records_of("weave")
    models = [record for record in records if object_in(record.get("inputs")).get("model")]
    for record in models:
        costs = {"model-a": {"prompt_tokens_total_cost": 0.01, "completion_tokens_total_cost": 0.02}}
        record["summary"] = {**record["summary"], "weave": {"status": "success", "costs": costs}}
    (run,) = trajectories(written(tmp_path, *records))
    assert run.usage is not None and run.usage.recorded_cost_usd == pytest.approx(0.03 * len(models))


def test_results_of_hal_are_runs_by_their_tasks_with_the_outcome(tmp_path: Path) -> None:
    asked: list[JsonObject] = [{"role": "user", "content": "Is order 17 paid?"}]
    function = {"name": "look_up", "arguments": "{}"}
    called = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": function}]}
    again = [*asked, called, {"role": "tool", "tool_call_id": "c1", "content": "paid"}]
    answer = {"role": "assistant", "content": "It is paid."}
    calls = [
        {
            "id": f"{task}-{second}", "trace_id": f"trace-{task}-{second}", "parent_id": None,
            "op_name": "weave:///a/b/op/openai.chat.completions.create:1", "attributes": {"weave_task_id": task},
            "started_at": f"2026-03-01T10:00:0{second}Z", "ended_at": f"2026-03-01T10:00:0{second + 1}Z",
            "inputs": {"model": "model-a", "messages": given}, "output": {"choices": [{"message": said}]},
            "summary": {"usage": {"model-a": {"prompt_tokens": 10, "completion_tokens": 2}}},
        }
        for task in ("t-1", "t-2")
        for second, given, said in ((1, asked, called), (3, again, answer))
    ]  # fmt: skip
    results = {"accuracy": 0.5, "successful_tasks": ["t-2"], "failed_tasks": ["t-1"]}
    runs = trajectories(path := written(tmp_path, {"results": results, "raw_logging_results": calls}))
    assert [(run.id, run.success, len(run.calls), run.final_answer) for run in runs] == [
        ("t-1", False, 1, "It is paid."), ("t-2", True, 1, "It is paid."),
    ]  # fmt: skip
    assert [run.usage.input_tokens for run in runs if run.usage] == [20, 20]
    assert summary_of(path).trust == "complete"


def test_a_test_run_of_deepeval_has_the_trace_scores_and_outcome_of_its_case(tmp_path: Path) -> None:
    (run,) = trajectories(path := FIXTURES / "deepeval" / "test_run.json")
    assert (run.task, run.final_answer, run.success) == ("Is order 17 paid?", "It is paid.", True)
    assert calls_of(run) == [("look_up", {"order": 17}, "paid")]
    assert (run.reference_answer, run.extra["session_id"]) == ("paid", "s-1")
    assert run.labels["scores"] == [{"name": "Relevancy", "value": 0.9, "reason": "clear"}]
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.output_tokens, run.usage.cost_usd) == (50, 10, pytest.approx(0.015))
    assert (run.agents[0].id, run.agents[0].model) == ("desk", "model-a")
    assert summary_of(path).trust == "complete"
    trace = orjson.loads(path.read_bytes())["testCases"][0]["trace"]
    (alone,) = trajectories(written(tmp_path, trace))
    assert (alone.text, alone.usage, alone.success) == (run.text, run.usage, None)


@pytest.mark.parametrize("store", ["braintrust", "weave"])
def test_what_scores_a_run_is_no_part_of_it(store: str, tmp_path: Path) -> None:
    spans = records_of(store)
    first, model = (
        spans[0],
        next(span for span in spans if "It is paid." in str(span.get("output")) and span is not spans[0]),
    )
    if store == "braintrust":
        scorer = {**first, "span_id": "scorer", "span_parents": [first["span_id"]], "is_root": False}
        scorer |= {"span_attributes": {"name": "Judge", "type": "score"}, "metrics": {}, "scores": None}
        judged = {**model, "span_id": "judged", "span_parents": ["scorer"]}
    else:
        scorer = {**first, "id": "scorer", "parent_id": first["id"], "op_name": "weave:///e/p/op/Judge.score:1"}
        scorer |= {"summary": {}, "attributes": {}}
        judged = {**model, "id": "judged", "parent_id": "scorer"}
    late = orjson.loads(orjson.dumps(judged).replace(b"It is paid.", b"Five of five."))
    (run,) = trajectories(written(tmp_path, [*spans, scorer, late]))
    assert (run.final_answer, "Five of five." in run.text) == ("It is paid.", False)

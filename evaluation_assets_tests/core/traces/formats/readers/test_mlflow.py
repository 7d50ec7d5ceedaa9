"""Traces of MLflow.

The fixture has the shape that MLflow 3.17.2 writes (`benchmarks/frameworks/mlflow` makes such traces). The shape of
MLflow 2 is what `mlflow.entities.Span.from_dict_v2` of 3.17.2 accepts; the items of the Responses API are those that
autologging of the OpenAI Agents SDK 0.24.0 records.
"""

import json
import re
from base64 import b64encode
from copy import deepcopy
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evaluation_assets.core.traces.formats.base import Rejection
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets.core.traces.trajectories.recorded import RecordedVerdict, recorded_verdicts
from evaluation_assets.core.traces.trajectories.recorded_spans import spans_of_clips
from evaluation_assets_tests.core.traces.formats.readers.summaries import check_desk
from evaluation_assets_tests.core.traces.formats.reading import FIXTURES, check, read, trajectories
from evaluation_assets_tests.core.traces.formats.test_import_report import summary_of

FIXTURE = FIXTURES / "mlflow" / "traces.json"
(TRACE,) = orjson.loads(FIXTURE.read_bytes())


def row_of(trace: dict[str, Any]) -> dict[str, Any]:
    """The trace as a row of `mlflow.search_traces()`."""
    info = trace["info"]
    return {
        "trace_id": info["trace_id"],
        "trace": json.dumps(trace),
        "state": info["state"],
        "request": {"question": "?"},
        "spans": trace["data"]["spans"],
        "assessments": info["assessments"],
    }


def with_items(trace: dict[str, Any]) -> dict[str, Any]:
    """The trace with requests and replies of the Responses API."""
    changed = deepcopy(trace)
    first, *_, last = (span for span in changed["data"]["spans"] if span["name"] == "Completions")
    asked: list[Any] = [{"role": "user", "content": "Is order 17 paid, and is there more of it?"}]
    made = [
        {"type": "function_call", "call_id": "c1", "name": "look_up_order", "arguments": '{"order_id": "17"}'},
        {"type": "function_call", "call_id": "c2", "name": "check_stock", "arguments": '{"sku": "B-2"}'},
    ]
    returned = [
        {"type": "function_call_output", "call_id": "c1", "output": '{"status": "paid"}'},
        {"type": "function_call_output", "call_id": "c2", "output": "warehouse offline"},
    ]
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is paid."}]}
    for span, given, output in ((first, asked, made), (last, [*asked, *made, *returned], [said])):
        request = {"model": "model-a", "instructions": "You are desk.", "input": given}
        span["attributes"]["mlflow.spanInputs"] = json.dumps(request)
        span["attributes"]["mlflow.spanOutputs"] = json.dumps({"object": "response", "output": output})
    return changed


@pytest.fixture
def run() -> Trajectory:
    (run,) = trajectories(FIXTURE)
    check(run)
    return run


def test_a_trace_is_a_trajectory(run: Trajectory) -> None:
    check_desk(run)
    assert (run.id, run.started_at) == ("tr-1", "2026-02-02T02:40:00+00:00")


def test_assessments_are_verdicts_feedback_and_expectations(run: Trajectory) -> None:
    assert recorded_verdicts(run) == [
        RecordedVerdict(
            level="trajectory", subject="trajectory", judge="judge-model", verdict="yes", reasoning="It says so."
        ),
        RecordedVerdict(level="trajectory", subject="trajectory", judge="judge-model", scores={"safety": 0.75}),
    ]
    assert run.labels["feedback"] == [{"name": "helpful", "value": True, "source": "HUMAN"}]
    assert run.labels["expectations"] == {"expected_response": "Paid.", "expected_facts": ["paid"]}
    assert run.reference_answer == "Paid."
    assert "It says so" not in run.text


def test_the_import_report_counts_the_same_calls() -> None:
    summary = summary_of(FIXTURE)
    assert (summary.calls, summary.calls_in_source, summary.trust) == (2, 2, "complete")


@pytest.mark.parametrize("name", ["trace.json", "traces.jsonl"])
def test_one_trace_and_lines_of_traces_give_the_same(tmp_path: Path, run: Trajectory, name: str) -> None:
    (tmp_path / name).write_bytes(orjson.dumps(TRACE) + b"\n")
    assert trajectories(tmp_path / name) == [run]


def test_rows_of_search_traces_give_the_same(tmp_path: Path, run: Trajectory) -> None:
    row = row_of(TRACE)
    (tmp_path / "rows.jsonl").write_bytes(orjson.dumps(row) + b"\n")
    assert trajectories(tmp_path / "rows.jsonl") == [run]
    del row["assessments"]  # values of several types are no column of Parquet; the trace has them, too
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "rows.parquet")
    assert trajectories(tmp_path / "rows.parquet") == [run]


def test_rows_with_the_trace_as_an_object_or_without_it_give_the_same(tmp_path: Path, run: Trajectory) -> None:
    for trace in (TRACE, None):
        row = {**row_of(TRACE), "trace": trace}
        (tmp_path / "rows.json").write_bytes(orjson.dumps([row]))
        (read_run,) = trajectories(tmp_path / "rows.json")
        assert (read_run.text, read_run.labels) == (run.text, run.labels)


def test_responses_of_openai_give_the_same(tmp_path: Path, run: Trajectory) -> None:
    (tmp_path / "trace.json").write_bytes(orjson.dumps(with_items(TRACE)))
    (changed,) = trajectories(tmp_path / "trace.json")
    assert changed.text == run.text
    assert changed.agents[0].description == "You are desk."


def test_an_item_that_is_not_understood_is_reported(tmp_path: Path) -> None:
    trace = with_items(TRACE)
    span = trace["data"]["spans"][1]
    output = json.loads(span["attributes"]["mlflow.spanOutputs"])
    output["output"].append({"type": "file_search_call", "id": "f1", "queries": ["order 17"]})
    span["attributes"]["mlflow.spanOutputs"] = json.dumps(output)
    (tmp_path / "trace.json").write_bytes(orjson.dumps(trace))
    summary = summary_of(tmp_path / "trace.json")
    assert summary.trust == "doubtful"
    assert summary.unknown_parts == {"file_search_call": 1}


def test_traces_of_mlflow_2_are_read(tmp_path: Path, run: Trajectory) -> None:
    trace = deepcopy(TRACE)
    info = trace["info"]
    info |= {"request_id": info.pop("trace_id"), "request_metadata": info.pop("trace_metadata")}
    trace["data"]["spans"] = [
        {
            "name": span["name"],
            "context": {"span_id": span["span_id"], "trace_id": "0x1"},
            "parent_id": span["parent_span_id"],
            "start_time": span["start_time_unix_nano"],
            "end_time": span["end_time_unix_nano"],
            "status_code": span["status"]["code"].removeprefix("STATUS_CODE_"),
            "status_message": span["status"]["message"],
            "attributes": span["attributes"],
            "events": span["events"],
        }
        for span in trace["data"]["spans"]
    ]
    (tmp_path / "trace.json").write_bytes(orjson.dumps(trace))
    (old,) = trajectories(tmp_path / "trace.json")
    assert (old.text, old.turns, old.usage, old.extra) == (run.text, run.turns, run.usage, run.extra)


def test_a_trace_without_content_is_rejected(tmp_path: Path) -> None:
    trace = deepcopy(TRACE)
    trace["data"]["spans"] = trace["data"]["spans"][:1]
    trace["data"]["spans"][0]["attributes"] = {"mlflow.spanType": '"CHAIN"'}
    (tmp_path / "trace.json").write_bytes(orjson.dumps(trace))
    (rejection,) = read(tmp_path / "trace.json")
    assert isinstance(rejection, Rejection)
    assert rejection.reason == "no_trajectory_text"


def turn_of(session: str | None, trace_id: str, starts_s: float) -> dict[str, Any]:
    """The trace as another one, which starts later and has spans of its own."""
    trace = deepcopy(TRACE)
    trace["info"] |= {"trace_id": trace_id, "trace_metadata": {} if session is None else {SESSION: session}}
    first = min(int(span["start_time_unix_nano"]) for span in trace["data"]["spans"])
    for span in trace["data"]["spans"]:
        for key in ("start_time_unix_nano", "end_time_unix_nano"):
            span[key] = int(span[key]) - first + int(starts_s * 1e9)
        for key in ("span_id", "parent_span_id"):
            span[key] = span[key] and f"{trace_id}-{span[key]}"
    return trace


SESSION = "mlflow.trace.session"


def read_turns(folder: Path, *turns: dict[str, Any]) -> list[Trajectory]:
    (folder / "turns.jsonl").write_bytes(b"".join(orjson.dumps(turn) + b"\n" for turn in turns))
    return trajectories(folder / "turns.jsonl")


def test_traces_of_a_session_are_one_trajectory(tmp_path: Path) -> None:
    turns = (turn_of("s-1", "tr-1", 1000), turn_of("s-2", "tr-2", 1000), turn_of("s-1", "tr-3", 2000))
    both, other = read_turns(tmp_path, *turns)
    check(both)
    assert (both.extra["trace_ids"], len(both.turns), len(both.calls)) == (["tr-1", "tr-3"], 2, 4)
    assert (other.extra["trace_id"], len(other.turns)) == ("tr-2", 1)
    assert [span.trace_id for span in spans_of_clips(both).values()] == ["tr-1", "tr-1", "tr-3", "tr-3"]
    assert len(both.labels["feedback"]) == 2


@pytest.mark.parametrize(("session", "starts_s"), [(None, 2000), ("s-1", 1000.001)])
def test_traces_without_a_session_or_at_the_same_time_stay_apart(
    tmp_path: Path, session: str | None, starts_s: float
) -> None:
    runs = read_turns(tmp_path, turn_of(session, "tr-1", 1000), turn_of(session, "tr-3", starts_s))
    assert [run.id for run in runs] == ["tr-1", "tr-3"]


def test_the_ids_of_spans_are_those_that_mlflow_shows(tmp_path: Path) -> None:
    trace = deepcopy(TRACE)
    for span in trace["data"]["spans"]:
        for key in ("span_id", "parent_span_id"):
            span[key] = span[key] and b64encode(bytes.fromhex(f"{sum(span[key].encode()):016x}")).decode()
    (run,) = read_turns(tmp_path, trace)
    assert len(run.calls) == 2
    assert all(re.fullmatch("[0-9a-f]{16}", span.span_id) for span in spans_of_clips(run).values())
    assert len(spans_of_clips(run)) == 2


COUNTS = {"input_tokens": 10, "output_tokens": 50, "total_tokens": 60}
CACHED = {"cache_read_input_tokens": 900, "cache_creation_input_tokens": 30}


def check_cached(folder: Path, trace: dict[str, Any], answers: int) -> None:
    """Check that the tokens of the cache are a part of the input of each answer, and that nothing contradicts it."""
    (run,) = read_turns(folder, trace)
    used = run.usage
    assert used is not None
    assert (used.input_tokens, used.cached_tokens, used.cache_write_tokens, used.output_tokens) == tuple(
        count * answers for count in (940, 900, 30, 50)
    )
    assert summary_of(folder / "turns.jsonl").trust == "complete"


def test_a_total_may_leave_out_what_is_beside_the_input(tmp_path: Path) -> None:
    """Anthropic counts what is read from its cache beside the input, and MLflow adds input and output up."""
    trace = turn_of(None, "tr-1", 1000)
    models = [span for span in trace["data"]["spans"] if span["name"] == "Completions"]
    for span in models:
        span["attributes"]["mlflow.chat.tokenUsage"] = json.dumps({**COUNTS, **CACHED})
    whole = {key: value * len(models) for key, value in {**COUNTS, **CACHED}.items()}
    trace["info"]["trace_metadata"] = {"mlflow.trace.tokenUsage": json.dumps(whole)}
    check_cached(tmp_path, trace, len(models))


def test_cached_tokens_that_only_the_response_states_are_part_of_the_input(tmp_path: Path) -> None:
    """Anthropic counts them beside the input, and the autologging of MLflow long left them out."""
    trace = turn_of(None, "tr-1", 1000)
    models = [span for span in trace["data"]["spans"] if span["name"] == "Completions"]
    for span in models:
        said = json.loads(span["attributes"]["mlflow.spanOutputs"])
        own = {"input_tokens": 10, "output_tokens": 50, **CACHED}
        span["attributes"]["mlflow.spanOutputs"] = json.dumps({**said, "usage": own})
        span["attributes"]["mlflow.chat.tokenUsage"] = json.dumps(COUNTS)
    whole = {key: value * len(models) for key, value in COUNTS.items()}
    trace["info"]["trace_metadata"] = {"mlflow.trace.tokenUsage": json.dumps(whole)}
    check_cached(tmp_path, trace, len(models))

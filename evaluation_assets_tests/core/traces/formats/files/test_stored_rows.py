"""Runs as databases and log services keep them are read as the same runs from a file of their own."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from upath import UPath

from evaluation_assets.core.traces.formats.files.stored_rows import rows_in
from evaluation_assets_tests.core.traces.formats.files.stored import saved, trajectories

_TIME = "2026-03-01T08:00:00Z"


def _run(number: int) -> dict[str, Any]:
    calls = [{"id": "c", "function": {"name": "open_gate", "arguments": json.dumps({"berth": number})}}]
    return {
        "task_id": f"berth-{number}",
        "created_at": _TIME,
        "success": number == 1,
        "usage": {"prompt_tokens": 100 + number, "completion_tokens": 7},
        "cost": 0.25 * number,
        "messages": [
            {"role": "user", "content": f"Open gate {number}"},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c", "content": "open"},
            {"role": "assistant", "content": f"Gate {number} is open."},
        ],
    }


_RUNS = [_run(1), _run(2)]


def _mongo(value: Any, key: str = "") -> Any:
    """A value in canonical Extended JSON."""
    if isinstance(value, dict):
        return {name: _mongo(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_mongo(each) for each in value]
    if key == "created_at":
        return {"$date": {"$numberLong": "1772352000000"}}
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return {"$numberInt": str(value)} if isinstance(value, int) else {"$numberDouble": str(value)}


def _dynamo(value: Any) -> Any:
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": value}
        case list():
            return {"L": [_dynamo(each) for each in value]}
        case dict():
            return {"M": {name: _dynamo(each) for name, each in value.items()}}
    return {"N": str(value)}


def _firestore(value: Any) -> Any:
    match value:
        case None:
            return {"nullValue": None}
        case bool():
            return {"booleanValue": value}
        case str():
            return {"stringValue": value}
        case int():
            return {"integerValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_firestore(each) for each in value]} if value else {}}
    return {"mapValue": {"fields": {name: _firestore(each) for name, each in value.items()}}}


def _lines(rows: list[Any]) -> str:
    return "\n".join(map(json.dumps, rows))


_IN_MONGO = [{"_id": {"$oid": f"65f{number:021}"}, **_mongo(run)} for number, run in enumerate(_RUNS)]
_IN_DYNAMO = [_dynamo(run)["M"] for run in _RUNS]
_IN_FIRESTORE = [{"name": f"projects/p/runs/{run['task_id']}", **_firestore(run)["mapValue"]} for run in _RUNS]
_EVENTS = [{"timestamp": 1772352000000, "message": json.dumps(run), "eventId": "7"} for run in _RUNS]
_LOKI = [{"stream": {"app": "a"}, "values": [[f"{9 + number}00", json.dumps(run)]]} for number, run in enumerate(_RUNS)]
_STORED = {
    "kafka": _lines(
        [{"topic": "t", "partition": 0, "offset": n, "value": json.dumps(run)} for n, run in enumerate(_RUNS)]
    ),
    "dynamo_stream": _lines([{"eventName": "INSERT", "dynamodb": {"NewImage": item}} for item in _IN_DYNAMO]),
    "loki": json.dumps({"status": "success", "data": {"resultType": "streams", "result": _LOKI[::-1]}}, indent=1),
    "mongo_lines": _lines(_IN_MONGO),
    "mongo_array": json.dumps(_IN_MONGO),
    "dynamo_export": _lines([{"Item": item} for item in _IN_DYNAMO]),
    "dynamo_scan": json.dumps({"Items": _IN_DYNAMO, "Count": 2, "ScannedCount": 2}, indent=2),
    "firestore": json.dumps({"documents": _IN_FIRESTORE}),
    "cloudwatch": json.dumps({"events": _EVENTS, "searchedLogStreams": []}, indent=4),
    "snowflake": _lines([{name.upper(): value for name, value in run.items()} for run in _RUNS]),
    "columns_of_json": _lines([{**run, "usage": json.dumps(run["usage"])} for run in _RUNS]),
    "texts": _lines([json.dumps(run) for run in _RUNS]),
    "array_of_texts": json.dumps([json.dumps(run) for run in _RUNS]),
    "without_breaks": "".join(map(json.dumps, _RUNS)),
    "zeros_after_a_power_cut": "\n\0\0\0".join(map(json.dumps, _RUNS)),
}


@pytest.mark.parametrize("name", _STORED)
def test_a_run_in_a_store_is_read_as_from_a_file_of_its_own(name: str) -> None:
    plain = trajectories(saved(_lines(_RUNS).encode(), "plain.jsonl"))
    stored = trajectories(saved(_STORED[name].encode(), f"{name}.json"))
    read = [
        [(run.task_id, run.started_at and run.started_at[:16], run.success, run.usage, run.text) for run in runs]
        for runs in (plain, stored)
    ]
    assert read[1] == read[0]
    assert [run.task_id for run in stored] == ["berth-1", "berth-2"]


def test_columns_of_parquet_may_be_in_upper_case(tmp_path: Path) -> None:
    rows = [{"TASK_ID": run["task_id"], "MESSAGES": json.dumps(run["messages"]), "SUCCESS": True} for run in _RUNS]
    path = UPath(tmp_path / "drop.parquet")
    pq.write_table(pa.Table.from_pylist(rows), path)
    assert [(run.task_id, run.success, len(run.calls)) for run in trajectories(path)] == [
        ("berth-1", True, 1),
        ("berth-2", True, 1),
    ]


def test_what_is_known_of_a_run_may_be_a_column_of_json() -> None:
    rows = [{"messages": run["messages"], "metadata": json.dumps({"success": run["success"]})} for run in _RUNS]
    assert [run.success for run in trajectories(saved(_lines(rows).encode()))] == [True, False]


def test_a_table_by_its_columns_has_names_of_runs_that_repeat() -> None:
    assert rows_in({"run_id": ["a", "a"], "step": [1, 2], "tool": ["x", None]}) == [
        {"run_id": "a", "step": 1, "tool": "x"},
        {"run_id": "a", "step": 2, "tool": None},
    ]
    for run in (
        {"run_id": ["a", "b"], "actions": ["x", "y"], "results": [1, 2]},
        {"agent_id": ["a", "a"], "actions": ["x", "y"], "results": [1, 2]},
        {"id": ["a", "a"], "actions": [1, 2]},
    ):
        assert rows_in(run) == [run]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_utf_16_with_a_byte_order_mark_is_read(encoding: str) -> None:
    text = _lines([{**run, "note": "🚢 Hafen" * 20_000} for run in _RUNS])
    content = ("" if encoding == "utf-16" else "\ufeff").encode(encoding) + text.encode(encoding)
    assert [run.task_id for run in trajectories(saved(content))] == ["berth-1", "berth-2"]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
)
documents = st.dictionaries(st.text("abc", min_size=1, max_size=3), json_values, min_size=1, max_size=4)


@given(documents)
def test_typed_values_become_the_values_they_were_made_of(document: dict[str, Any]) -> None:
    assert rows_in({"Item": _dynamo(document)["M"]}) == [document]
    (row,) = rows_in({"name": "a/b/x", "fields": _firestore(document)["mapValue"]["fields"]})
    assert row == {"id": "x", "createTime": None, **document}
    assert rows_in({"_id": {"$oid": "7"}, **_mongo(document)}) == [{"_id": "7", **document}]


@given(json_values)
def test_other_values_are_rows_of_their_own(value: Any) -> None:
    (row, *more) = rows_in({"value": value, "other": 1})
    assert (row, more) == ({"value": value, "other": 1}, [])


def test_a_value_that_is_not_of_its_type_stays() -> None:
    odd = {"_id": {"$oid": "7"}, "n": {"$numberInt": "many"}, "when": {"$date": {"$numberLong": "soon"}}}
    assert rows_in(odd) == [{**odd, "_id": "7"}]
    assert rows_in({"Item": {"S": "a"}}) == [{"Item": {"S": "a"}}]
    assert rows_in({"events": [{"message": "hello"}]}) == [{"events": [{"message": "hello"}]}]


@pytest.mark.parametrize(
    "record",
    [
        {"tool": "find", "arguments": {"$oid": "abc"}, "result": "ok"},
        {"Item": {"size": {"L": "40"}, "colour": {"S": "red"}}},
        {"fields": {"name": {"stringValue": "x"}}},
        {"events": [{"timestamp": 1, "message": "started"}, {"timestamp": 2, "message": "done"}]},
    ],
)
def test_what_only_looks_stored_stays(record: dict[str, Any]) -> None:
    assert rows_in(record) == [record]


def test_an_instant_that_no_calendar_has_stays() -> None:
    document = {"_id": {"$oid": "a"}, "at": {"$date": 99999999999999999}}
    assert rows_in(document) == [{"_id": "a", "at": {"$date": 99999999999999999}}]


def test_an_answer_with_its_capacity_is_its_item() -> None:
    assert rows_in({"Item": {"id": {"S": "a"}}, "ConsumedCapacity": None}) == [{"id": "a"}]

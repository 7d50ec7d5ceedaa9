"""The store of LangSmith, with its real SDK against a local server.

The shapes are those of langsmith 0.15.0: `POST /api/v2/traces/query` (`langsmith.types.Trace`, cursor in
`next_cursor`), `GET /api/v2/traces/{id}/runs` (`langsmith.types.TraceListRunsResponse` and `langsmith.types.Run`: run
types in capitals, all ancestors in `parent_run_ids`, metadata beside `extra`), and `GET /sessions` for the ID of a
project, which answers a list (`langsmith.schemas.TracerSessionResult`). Inputs and outputs are as LangChain's tracer
writes them.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from pydantic import AnyHttpUrl
from upath import UPath

from evaluation_assets.core.intake.sources.opening import open_store
from evaluation_assets.core.intake.sources.settings import LangsmithSettings
from evaluation_assets.core.intake.sources.store import StoreError, Trace
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.formats.base import DropFile
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.intake.sources.stores.serving import Answer, Asked, Serving, serving

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECRET = "lsv2_pt_0123456789_secret"
PROJECT = "1c2c2f7e-0000-4000-8000-00000000abcd"
QUERY = "POST /api/v2/traces/query"


def iso(minutes: float) -> str:
    return (START + timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")


def run_id(trace: int, number: int) -> str:
    return f"{trace:08x}-0000-4000-8000-{number:012x}"


def run(trace: int, number: int, kind: str, end: float, above: list[int], **more: Any) -> dict[str, Any]:
    return {
        "id": run_id(trace, number),
        "trace_id": run_id(trace, 1),
        "name": kind.lower(),
        "run_type": kind,
        "status": "SUCCESS",
        "start_time": iso(end - (0.1 if above else 1)),
        "end_time": iso(end),
        "parent_run_ids": [run_id(trace, one) for one in above],
        "is_root": not above,
        "project_id": PROJECT,
        "dotted_order": ".".join(f"20260301T1200{one:02}Z{run_id(trace, one)}" for one in [*above, number]),
        "inputs": {},
        "outputs": {},
        "extra": {},
        **more,
    }


def agent_trace(trace: int, end: float) -> list[dict[str, Any]]:
    call = {"name": "find_order", "args": {"order": 7}, "id": "c1", "type": "tool_call"}
    asked = _message("ai", "", tool_calls=[call])
    result = _message("tool", "arrives Friday", tool_call_id="c1", name="find_order")
    human, told = _message("human", "Where is order 7?"), _message("ai", "It arrives on Friday.")
    metadata = {
        "metadata": {"ls_model_name": "gpt-5"},
        "prompt_tokens": 40,
        "completion_tokens": 8,
        "total_cost": 0.001,
    }
    return [
        run(
            trace, 1, "CHAIN", end, [], inputs={"messages": [human]}, outputs={"messages": [human, asked, result, told]}
        ),
        run(trace, 2, "CHAIN", end - 0.6, [1], name="agent"),
        run(trace, 3, "LLM", end - 0.7, [1, 2], inputs={"messages": [[human]]}, outputs=_generated(asked), **metadata),
        run(trace, 4, "TOOL", end - 0.5, [1], name="find_order", inputs={"order": 7}, outputs={"output": result}),
        run(
            trace,
            5,
            "LLM",
            end - 0.2,
            [1],
            inputs={"messages": [[human, asked, result]]},
            outputs=_generated(told),
            **metadata,
        ),
    ]


def _message(kind: str, content: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "content": content, **more}


def _generated(message: dict[str, Any]) -> dict[str, Any]:
    return {"generations": [[{"text": message["content"], "message": message}]]}


class LangSmith:
    """What the server has, in pages of two."""

    def __init__(self) -> None:
        self.runs: list[dict[str, Any]] = []
        self.limited = 0

    def answer(self, asked: Asked) -> Answer:
        if asked.what == "GET /info":
            return 200, {"version": "0.18.0"}
        if asked.headers.get("x-api-key") != SECRET:
            return 401, {"error": f"Unauthorized {SECRET}"}
        if asked.what == "GET /sessions":
            own = {"id": PROJECT, "tenant_id": PROJECT, "start_time": iso(0), "reference_dataset_id": None}
            known = [{"name": "shop", **own}]
            return 200, [one for one in known if [one["name"]] == asked.query["name"]]
        if self.limited:
            self.limited -= 1
            return 429, {"error": "Rate limit exceeded"}, {"Retry-After": "1"}
        if asked.what == QUERY:
            return self._traces(asked.body)
        trace = asked.what.removeprefix("GET /api/v2/traces/").removesuffix("/runs")
        lower, upper = (datetime.fromisoformat(asked.query[f"{end}_start_time"][0]) for end in ("min", "max"))
        of_trace = [one for one in self.runs if one["trace_id"] == trace]
        return 200, {"items": [one for one in of_trace if lower <= datetime.fromisoformat(one["start_time"]) <= upper]}

    def _traces(self, body: dict[str, Any]) -> Answer:
        if body.get("trace_filter") == "nonsense":
            return 422, {"error": "cannot parse filter"}
        assert body["project_id"] == PROJECT
        lower, upper = (datetime.fromisoformat(body[f"{end}_start_time"]) for end in ("min", "max"))
        roots = [
            one for one in self.runs if one["is_root"] and lower <= datetime.fromisoformat(one["start_time"]) < upper
        ]
        start = int(body.get("cursor", 0))
        page = [{"root_run": _selected(one, body["selects"])} for one in roots[start : start + 2]]
        return 200, {"items": page, "next_cursor": str(start + 2) if start + 2 < len(roots) else None}


def _selected(one: dict[str, Any], fields: list[str]) -> dict[str, Any]:
    return {key: value for key, value in one.items() if key.upper() in fields}


@pytest.fixture
def langsmith() -> LangSmith:
    return LangSmith()


@pytest.fixture
def server(langsmith: LangSmith, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    monkeypatch.setenv("LANGSMITH_API_KEY", SECRET)
    with serving(langsmith.answer) as started:
        yield started


def ended(server: Serving, after: float, until: float, **settings: Any) -> list[Trace]:
    chosen = LangsmithSettings(type="langsmith", url=AnyHttpUrl(server.url), **{"project": "shop", **settings})
    store = open_store(chosen, Installation.at("unused"))
    span = (START + timedelta(minutes=after), START + timedelta(minutes=until))
    found = list(store.ended(*span, lambda name: name != run_id(99, 1)))
    assert [store.id_of(trace.record or {}) for trace in found] == [trace.id for trace in found]
    return found


def test_traces_come_in_order_of_their_ends_over_pages(langsmith: LangSmith, server: Serving) -> None:
    ends = {1: 9, 2: 3, 3: 5, 99: 6, 4: 0, 5: 10.5, 6: 10}
    for trace, end in ends.items():
        langsmith.runs += agent_trace(trace, end)
    running = run(7, 1, "CHAIN", 8, []) | {"end_time": None, "status": "PENDING"}
    langsmith.runs.append(running)
    found = ended(server, 0, 10)
    assert [(trace.id, trace.ended_at) for trace in found] == [
        (run_id(trace, 1), START + timedelta(minutes=ends[trace])) for trace in (2, 3, 1, 6)
    ]
    assert len(server.of(QUERY)) == 4
    fetched = [each.what for each in server.asked if each.what.endswith("/runs")]
    assert fetched == [f"GET /api/v2/traces/{run_id(trace, 1)}/runs" for trace in (2, 3, 1, 6)]


def test_a_record_is_the_root_run_with_its_child_runs(langsmith: LangSmith, server: Serving) -> None:
    langsmith.runs = list(reversed(agent_trace(1, 5)))
    (trace,) = ended(server, 0, 10)
    assert trace.record is not None
    assert trace.record["id"] == run_id(1, 1)
    assert [(child["name"], len(child["child_runs"])) for child in reversed(trace.record["child_runs"])] == [
        ("agent", 1),
        ("find_order", 0),
        ("llm", 0),
    ]


def test_a_record_is_read_as_a_trajectory(langsmith: LangSmith, server: Serving, tmp_path: Path) -> None:
    langsmith.runs = agent_trace(1, 5)
    (trace,) = ended(server, 0, 10)
    file = tmp_path / "traces.jsonl"
    file.write_bytes(orjson.dumps(trace.record) + b"\n")
    files = [DropFile(UPath(file), "traces.jsonl")]
    chosen = format_of(files)
    (read,) = chosen.read(files, UnmappedFields())
    assert chosen.name == "langchain"
    assert isinstance(read, Trajectory)
    assert read.id == run_id(1, 1)
    assert [step.call.name for step in read.calls if step.call] == ["find_order"]
    assert read.text.count("arrives Friday") == 1
    assert read.text.count("It arrives on Friday.") == 1
    steps = [step for turn in read.turns for interaction in turn.interactions for step in interaction.steps]
    assert [step.usage.input_tokens for step in steps if step.usage] == [40, 40]


def test_the_filter_and_the_longest_trace_are_sent(langsmith: LangSmith, server: Serving) -> None:
    expression = 'and(eq(name, "agent"), has(tags, "beta"))'
    ended(server, 0, 10, filter=expression, longest="3h")
    (query,) = server.of(QUERY)
    assert query.body["trace_filter"] == expression
    assert datetime.fromisoformat(query.body["min_start_time"]) == START - timedelta(hours=3)
    with pytest.raises(StoreError, match="it refuses the query: check filter"):
        ended(server, 0, 10, filter="nonsense")


def test_what_is_on_two_pages_is_fetched_once(langsmith: LangSmith, server: Serving) -> None:
    own = agent_trace(1, 5)
    langsmith.runs = [own[0], *own, own[-1]]
    (trace,) = ended(server, 0, 10)
    names = [child["name"] for child in (trace.record or {})["child_runs"]]
    assert sorted(names) == ["agent", "find_order", "llm"]


def test_an_empty_project(server: Serving) -> None:
    assert ended(server, 0, 10) == []


def test_a_project_that_does_not_exist(server: Serving) -> None:
    with pytest.raises(StoreError, match="has no project 'stop': check project"):
        ended(server, 0, 10, project="stop")


def test_a_rate_limit_is_waited_for(langsmith: LangSmith, server: Serving) -> None:
    langsmith.runs = agent_trace(1, 5)
    langsmith.limited = 1
    assert len(ended(server, 0, 10)) == 1
    assert len(server.of(QUERY)) == 2


def test_a_wrong_key_is_reported_without_it(server: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGSMITH_API_KEY", "lsv2_pt_another")
    with pytest.raises(StoreError, match="refuses the key in LANGSMITH_API_KEY") as told:
        ended(server, 0, 10)
    assert "lsv2" not in str(told.value)
    monkeypatch.delenv("LANGSMITH_API_KEY")
    with pytest.raises(StoreError, match="the environment variable LANGSMITH_API_KEY is not set"):
        ended(server, 0, 10)

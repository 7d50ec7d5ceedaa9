"""The store of Langfuse, with its real SDK against a local server.

The shapes are those of the observations API v2 (`GET /api/public/v2/observations`) as langfuse 5.0.4 models them
(`langfuse.api.commons.types.ObservationV2`, `langfuse.api.observations.ObservationsV2Response`): inputs and outputs are
strings, and the cursor is in `meta`. The server filters and pages as that method documents.
"""

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from pydantic import AnyHttpUrl
from upath import UPath

from evaluation_assets.core.intake.sources.opening import open_store
from evaluation_assets.core.intake.sources.settings import LangfuseSettings
from evaluation_assets.core.intake.sources.store import StoreError, Trace
from evaluation_assets.core.system.installation import Installation
from evaluation_assets.core.traces.formats.base import DropFile
from evaluation_assets.core.traces.formats.registry import format_of
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Trajectory
from evaluation_assets_tests.core.intake.sources.stores.serving import Answer, Asked, Serving, serving

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECRET = "sk-lf-0123456789-secret"
PATH = "GET /api/public/v2/observations"


def iso(minutes: float) -> str:
    return (START + timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")


def observation(trace: str, name: str, end: float, *, root: bool = False, **more: Any) -> dict[str, Any]:
    return {
        "id": f"{trace}-{name}",
        "traceId": trace,
        "startTime": iso(end - 1),
        "endTime": iso(end),
        "projectId": "project",
        "parentObservationId": None if root else f"{trace}-root",
        "type": "AGENT",
        "name": name,
        "level": "DEFAULT",
        "isRootObservation": root,
        "environment": "production",
        "sessionId": "",
        "traceName": "support",
        "tags": ["beta"],
        **more,
    }


def agent_trace(trace: str, end: float) -> list[dict[str, Any]]:
    question = [{"role": "user", "content": "Where is order 7?"}]
    call = {"id": "c1", "type": "function", "function": {"name": "find_order", "arguments": '{"order": 7}'}}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    told = {"role": "assistant", "content": "It arrives on Friday."}
    result = {"role": "tool", "tool_call_id": "c1", "content": "arrives Friday"}
    usage = {"usageDetails": {"input": 40, "output": 8, "total": 48}, "costDetails": {"total": 0.001}, "model": "gpt-5"}
    return [
        observation(trace, "root", end, root=True, input="Where is order 7?", output="It arrives on Friday."),
        observation(
            trace, "first", end - 0.7, type="GENERATION", input=json.dumps(question), output=json.dumps(asked), **usage
        ),
        observation(trace, "find_order", end - 0.5, type="TOOL", input='{"order": 7}', output="arrives Friday"),
        observation(
            trace,
            "second",
            end - 0.2,
            type="GENERATION",
            input=json.dumps([*question, asked, result]),
            output=json.dumps(told),
            **usage,
        ),
    ]


class Langfuse:
    """What the server has, in pages of two."""

    def __init__(self) -> None:
        self.observations: list[dict[str, Any]] = []
        self.limited = 0

    def answer(self, asked: Asked) -> Answer:
        if asked.headers.get("authorization") != "Basic " + base64.b64encode(f"pk-lf-1:{SECRET}".encode()).decode():
            return 401, {"message": f"Invalid credentials {SECRET}", "error": "UnauthorizedError"}
        if self.limited:
            self.limited -= 1
            return 429, {"message": "Rate limit exceeded"}, {"Retry-After": "1"}
        if asked.what != PATH:
            return 404, {"message": "Not Found"}
        conditions = json.loads(asked.query["filter"][0]) if "filter" in asked.query else []
        found = [
            one
            for one in self.observations
            if one["traceId"] in asked.query.get("traceId", [one["traceId"]])
            and all(_holds(c, one) for c in conditions)
        ]
        start = int(base64.b64decode(asked.query["cursor"][0])) if "cursor" in asked.query else 0
        meta = {"cursor": base64.b64encode(str(start + 2).encode()).decode()} if start + 2 < len(found) else {}
        return 200, {"data": found[start : start + 2], "meta": meta}


def _holds(condition: dict[str, Any], one: dict[str, Any]) -> bool:
    value, known = condition["value"], one["tags" if condition["column"] == "traceTags" else condition["column"]]
    match condition["type"], condition["operator"]:
        case "datetime", ">=":
            return datetime.fromisoformat(known) >= datetime.fromisoformat(value)
        case "datetime", "<=":
            return datetime.fromisoformat(known) <= datetime.fromisoformat(value)
        case (("string" | "boolean"), "="):
            return known == value
        case "arrayOptions", "all of":
            return set(value) <= set(known)
    raise AssertionError(condition)


@pytest.fixture
def langfuse() -> Langfuse:
    return Langfuse()


@pytest.fixture
def server(langfuse: Langfuse, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk-lf-1")
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", SECRET)
    with serving(langfuse.answer) as started:
        yield started


def ended(server: Serving, after: float, until: float, **settings: Any) -> list[Trace]:
    chosen = LangfuseSettings(type="langfuse", url=AnyHttpUrl(server.url), **settings)
    store = open_store(chosen, Installation.at("unused"))
    span = (START + timedelta(minutes=after), START + timedelta(minutes=until))
    found = list(store.ended(*span, lambda name: name != "known"))
    assert [store.id_of(trace.record or {}) for trace in found] == [trace.id for trace in found]
    return found


def test_traces_come_in_order_of_their_ends_over_pages(langfuse: Langfuse, server: Serving) -> None:
    ends = {"a": 9, "b": 3, "c": 5, "known": 6, "early": 0, "late": 10.5, "last": 10}
    for trace, end in ends.items():
        langfuse.observations += agent_trace(trace, end)
    found = ended(server, 0, 10)
    assert [(trace.id, trace.ended_at) for trace in found] == [
        (name, START + timedelta(minutes=ends[name])) for name in ("b", "c", "a", "last")
    ]
    fetched = [each.query["traceId"] for each in server.asked if "traceId" in each.query]
    assert fetched == [[name] for name in ("b", "c", "a", "last") for _ in range(2)]  # two pages each, none of "known"
    assert all(len((trace.record or {})["observations"]) == 4 for trace in found)


def test_a_record_is_read_as_a_trajectory(langfuse: Langfuse, server: Serving, tmp_path: Path) -> None:
    langfuse.observations = agent_trace("a", 5)
    (trace,) = ended(server, 0, 10)
    file = tmp_path / "traces.jsonl"
    file.write_bytes(orjson.dumps(trace.record) + b"\n")
    files = [DropFile(UPath(file), "traces.jsonl")]
    chosen = format_of(files)
    (run,) = chosen.read(files, UnmappedFields())
    assert chosen.name == "langfuse"
    assert isinstance(run, Trajectory)
    assert [step.call.name for step in run.calls if step.call] == ["find_order"]
    assert run.text.count("arrives Friday") == 1
    assert "It arrives on Friday." in run.text
    assert (run.extra["trace_name"], run.extra["tags"]) == ("support", ["beta"])


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"environment": "staging"}, ["a"]),
        ({"trace_name": "billing"}, ["b"]),
        ({"tags": ["x", "y"]}, ["c"]),
        ({"tags": ["x"]}, ["c", "d"]),
    ],
)
def test_filters(langfuse: Langfuse, server: Serving, settings: dict[str, Any], expected: list[str]) -> None:
    langfuse.observations = [
        observation("a", "root", 1, root=True, environment="staging"),
        observation("b", "root", 2, root=True, traceName="billing"),
        observation("c", "root", 3, root=True, tags=["x", "y", "z"]),
        observation("d", "root", 4, root=True, tags=["x"]),
    ]
    assert [trace.id for trace in ended(server, 0, 10, **settings)] == expected


def test_an_observation_on_two_pages_is_in_the_record_once(langfuse: Langfuse, server: Serving) -> None:
    root, first, *others = agent_trace("a", 5)
    langfuse.observations = [root, first, first, *others]
    (trace,) = ended(server, 0, 10)
    assert [each["name"] for each in (trace.record or {})["observations"]] == ["root", "first", "find_order", "second"]


def test_a_server_that_gives_empty_pages_without_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk-lf-1")
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", SECRET)
    cursors = map(str, range(1000))
    empty = serving(lambda _asked: (200, {"data": [], "meta": {"cursor": next(cursors)}}))
    with empty as server, pytest.raises(StoreError, match="gave 100 empty pages"):
        ended(server, 0, 10)


def test_a_server_whose_cursor_does_not_move_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk-lf-1")
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", SECRET)
    page = {"data": [observation("a", "root", 1, root=True)], "meta": {"cursor": "c"}}
    with serving(lambda _asked: (200, page)) as server:
        with pytest.raises(StoreError, match="gives the same page again and again"):
            ended(server, 0, 10)
        assert len(server.asked) == 2


def test_an_empty_project(server: Serving) -> None:
    assert ended(server, 0, 10) == []


def test_a_rate_limit_is_waited_for(langfuse: Langfuse, server: Serving) -> None:
    langfuse.observations = [observation("a", "root", 1, root=True)]
    langfuse.limited = 1
    assert [trace.id for trace in ended(server, 0, 10)] == ["a"]
    assert len(server.asked) == 3


def test_wrong_keys_are_reported_without_them(server: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", "sk-lf-another-key")
    with pytest.raises(StoreError, match="refuses the keys in LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY") as told:
        ended(server, 0, 10)
    assert "sk-lf" not in str(told.value)
    monkeypatch.delenv("LANGFUSE_SECRET_KEY")
    with pytest.raises(StoreError, match="the environment variable LANGFUSE_SECRET_KEY is not set"):
        ended(server, 0, 10)


@pytest.mark.parametrize(
    ("status", "message"), [(404, "it has no observations API v2: update the server"), (418, "HTTP status 418")]
)
def test_other_servers(monkeypatch: pytest.MonkeyPatch, status: int, message: str) -> None:
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk-lf-1")
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", SECRET)
    failing = serving(lambda _asked: (status, {"message": "hostile \x1b[2J text"}))
    with failing as server, pytest.raises(StoreError, match=message) as told:
        ended(server, 0, 10)
    assert "hostile" not in str(told.value)


def test_a_server_that_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk-lf-1")
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", SECRET)
    with pytest.raises(StoreError, match=r"Langfuse at http://127\.0\.0\.1:9/ cannot be reached \(ConnectError\)"):
        ended(Serving("http://127.0.0.1:9"), 0, 10)

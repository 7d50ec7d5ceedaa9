"""Sessions of sub-agents join those that started them, whatever files they are in; each call is counted once."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from evaluation_assets.core.traces.formats.base import DropFile, Record, Rejection
from evaluation_assets.core.traces.formats.coding.linked_sessions import Link, LinkedFormat
from evaluation_assets.core.traces.formats.coding.session import CodingSession
from evaluation_assets.core.traces.formats.files.records import read_records
from evaluation_assets.core.traces.formats.import_report import ImportReport
from evaluation_assets.core.traces.formats.registry import FORMATS
from evaluation_assets.core.traces.formats.transcript import Said
from evaluation_assets.core.traces.formats.unmapped_fields import UnmappedFields
from evaluation_assets.core.traces.trajectories.model import Agent, JsonObject, Trajectory
from evaluation_assets_tests.core.traces.formats.reading import files_of

ROOTS, CHILDREN = 4, 3


def session(name: str, parent: str | None, starts: Sequence[str] = ()) -> JsonObject:
    """An opencode export with one call of its own, and one for each session that it starts."""
    calls = [(f"call-{name}", "read", {}), *((f"task-{child}", "task", {"sessionId": child}) for child in starts)]
    parts = [
        {"type": "tool", "tool": tool, "callID": call, "state": {
            "status": "completed", "input": {"what": call}, "output": "found", "metadata": metadata}}
        for call, tool, metadata in calls
    ]  # fmt: skip
    return {
        "info": {"id": name, "directory": "/repo", **({"parentID": parent} if parent else {})},
        "messages": [
            {"info": {"id": f"{name}-1", "role": "user"}, "parts": [{"type": "text", "text": f"Do {name}."}]},
            {"info": {"id": f"{name}-2", "role": "assistant"}, "parts": parts},
            {"info": {"id": f"{name}-3", "role": "assistant"}, "parts": [{"type": "text", "text": "Done."}]},
        ],
    }


def written(folder: Path, *, together: bool, children_first: bool) -> list[DropFile]:
    """A drop of several sessions with several sub-agents each, which have sub-agents of their own."""
    found: list[JsonObject] = []
    for root in (f"root-{number}" for number in range(ROOTS)):
        children = [f"{root}-{number}" for number in range(CHILDREN)]
        found.append(session(root, None, children))
        for child in children:
            found.append(session(child, root, [f"{child}-inner"]))
            found.append(session(f"{child}-inner", child))
    found.sort(key=lambda one: ("parentID" in one["info"]) != children_first)
    if together:
        (folder / "all.jsonl").write_bytes(b"\n".join(map(orjson.dumps, found)))
    else:
        for number, one in enumerate(found):
            (folder / f"{number:02}.json").write_bytes(orjson.dumps(one))
    return files_of(folder)


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("children_first", [True, False])
def test_calls_of_sub_agents_are_counted_once(tmp_path: Path, together: bool, children_first: bool) -> None:
    report = ImportReport()
    runs = list(report.read(FORMATS["opencode"], written(tmp_path, together=together, children_first=children_first)))
    calls = ROOTS * (1 + CHILDREN + CHILDREN * 3)
    assert sorted(run.id for run in runs if isinstance(run, Trajectory)) == [f"root-{n}" for n in range(ROOTS)]
    assert (report.summary.calls, report.summary.calls_in_source) == (calls, calls)
    assert report.summary.sentence == "complete"


@pytest.mark.parametrize("children_first", [True, False])
def test_calls_of_a_rejected_sub_agent_are_not_missing(tmp_path: Path, children_first: bool) -> None:
    parent, child = session("root", None, ["child"]), session("child", "root")
    child["messages"][1]["parts"][0]["state"]["output"] = deep(300)
    for number, one in enumerate((child, parent) if children_first else (parent, child)):
        (tmp_path / f"{number}.json").write_text(json.dumps(one))
    others = session("other", None), session("another", None)
    (tmp_path / "2.jsonl").write_bytes(b"\n".join(map(orjson.dumps, others)))
    report = ImportReport()
    list(report.read(FORMATS["opencode"], files_of(tmp_path)))
    assert (report.summary.trajectories, report.summary.rejected, report.summary.doubts) == (3, 1, ())


def deep(levels: int) -> Any:
    """A value that cannot be written as text."""
    value: Any = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def test_a_damaged_line_among_sub_agents_is_rejected_once(tmp_path: Path) -> None:
    lines = [session("root", None, ["a", "b"]), session("a", "root"), session("b", "root")]
    (tmp_path / "all.jsonl").write_bytes(b"\n".join([b"{damaged", *map(orjson.dumps, lines)]))
    items = list(ImportReport().read(FORMATS["opencode"], files_of(tmp_path)))
    assert [item.line for item in items if isinstance(item, Rejection)] == [1]


@pytest.mark.parametrize("sub_agents", [2, 40])
def test_a_file_is_read_as_often_for_many_sub_agents_as_for_few(tmp_path: Path, sub_agents: int) -> None:
    lines = [{"id": "root"}, *({"id": str(number), "parent": "root"} for number in range(sub_agents))]
    path = tmp_path / "all.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    handed: list[str] = []

    def units_of(file: DropFile) -> Iterator[list[Record] | Rejection]:
        for record in read_records(file):
            handed.append(record.source)
            yield record if isinstance(record, Rejection) else [record]

    def session_of(_: UnmappedFields, records: Sequence[Any], copied: int) -> CodingSession:
        one = CodingSession(Agent(id="agent"), id=records[0]["id"])
        one.said(Said(message=f"This is {one.id}."))
        return one

    def link_of(records: Sequence[Any]) -> Link:
        return Link(id=records[0]["id"], parent=records[0].get("parent"))

    lines_of_sessions = LinkedFormat(
        name="lines", is_own=lambda _: True, units_of=units_of, link_of=link_of, session_of=session_of
    )
    (run,) = lines_of_sessions.read(files_of(path), UnmappedFields())
    assert isinstance(run, Trajectory)
    assert len(run.agents) == 1 + sub_agents
    assert len(handed) == 3 * len(lines)
